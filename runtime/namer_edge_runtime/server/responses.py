"""JSON of a reading, for programs and for the page."""

from typing import Any

from ..recognition.pen_session import Alternative, CanvasSymbol
from ..result import Reading
from .worker import ReadResponse


def to_json(answer: ReadResponse) -> dict[str, Any]:
    """The result as `recognize --jsonl` writes it, each reading with its MathML, whose elements
    say in `data-token` which of the reading's `tokens` they are; the height of a symbol in the
    input's unit; and of strokes each token's strokes and other classes."""
    result = answer.result
    value = {**result.to_json(), "mathml": _mathml(result)}
    value["alternatives"] = [
        {**reading.to_json(), "mathml": _mathml(reading)} for reading in result.alternatives
    ]
    value["symbol_height"] = round(answer.symbol_height, 2)
    if answer.symbol_alternatives is not None:
        locked = {place for place, _ in result.locked}
        owned = zip(result.token_strokes or (), answer.symbol_alternatives, strict=True)
        value["symbols"] = [
            {
                "strokes": list(strokes),
                "locked": place in locked,
                "alternatives": _alternatives(others),
            }
            for place, (strokes, others) in enumerate(owned)
        ]
    return value


def symbols_to_json(
    symbols: tuple[CanvasSymbol, ...], names: dict[int, int]
) -> list[dict[str, Any]]:
    """Returns the symbols of a canvas in the order of `tokens`; `names`: the page's stroke ids."""
    return [
        {
            "id": symbol.id,
            "strokes": [names[stroke] for stroke in symbol.strokes],
            "locked": symbol.locked,
            "alternatives": _alternatives(symbol.alternatives),
        }
        for symbol in symbols
    ]


def _alternatives(others: tuple[Alternative, ...]) -> list[dict[str, Any]]:
    return [{"text": other.text, "score": round(other.score, 4)} for other in others]


def _mathml(reading: Reading) -> str:
    return reading.expression.mathml(marked=True) if reading.canonical else ""
