"""JSON of a reading, for programs and for the page."""

from typing import Any

from ..recognition.pen_session import CanvasSymbol
from ..result import Reading
from .worker import ReadResponse


def to_json(answer: ReadResponse) -> dict[str, Any]:
    """The result as `recognize --jsonl` writes it, each reading with its MathML, whose elements
    say in `data-token` which of the reading's `tokens` they are; and the height of a symbol in the
    input's unit."""
    result = answer.result
    value = {**result.to_json(), "mathml": _mathml(result)}
    value["alternatives"] = [
        {**reading.to_json(), "mathml": _mathml(reading)} for reading in result.alternatives
    ]
    if len(result.lines) > 1:
        value["lines"] = [{**line.to_json(), "mathml": _mathml(line)} for line in result.lines]
    return {**value, "symbol_height": round(answer.symbol_height, 2)}


def symbols_to_json(
    symbols: tuple[CanvasSymbol, ...], names: dict[int, int]
) -> list[dict[str, Any]]:
    """Returns the symbols of a canvas in the order of `tokens`; `names`: the page's stroke ids."""
    return [
        {"id": symbol.id, "strokes": [names[stroke] for stroke in symbol.strokes]}
        for symbol in symbols
    ]


def _mathml(reading: Reading) -> str:
    return reading.expression.mathml(marked=True) if reading.canonical else ""
