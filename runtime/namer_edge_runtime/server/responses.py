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
    value = {**result.to_json(), **_written(result)}
    value["alternatives"] = [
        {**reading.to_json(), **_written(reading)} for reading in result.alternatives
    ]
    return {**value, "symbol_height": round(answer.symbol_height, 2)}


def symbols_to_json(
    symbols: tuple[CanvasSymbol, ...], names: dict[int, int]
) -> list[dict[str, Any]]:
    """Returns the symbols of a canvas in the order of `tokens`; `names`: the page's stroke ids."""
    return [
        {"id": symbol.id, "strokes": [names[stroke] for stroke in symbol.strokes]}
        for symbol in symbols
    ]


def _written(reading: Reading) -> dict[str, str]:
    """Forms for the page's Copy menu, beside LaTeX; of a blank page, nothing."""
    formula = reading.expression
    forms = {"mathml": formula.mathml(marked=True), "typst": formula.typst, "omml": formula.omml}
    return {
        name: text if reading.canonical else ""
        for name, text in {**forms, "sympy": formula.sympy}.items()
    }
