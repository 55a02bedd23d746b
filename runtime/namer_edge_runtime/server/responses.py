"""JSON of a reading, for programs and for the page."""

import re
from functools import lru_cache
from html import unescape
from typing import Any

from ..errors import LatexError
from ..formula.expression import Expression
from ..recognition.pen_session import Alternative, CanvasSymbol
from ..result import Reading
from .worker import ReadResponse

_RELATIONS = {"\\sqrt": "√", "\\frac": "a/b", "^": "xⁿ", "_": "xₙ", "\\limits": "lim ₙ"}


def to_json(answer: ReadResponse) -> dict[str, Any]:
    """The result as `recognize --jsonl` writes it, each reading with its MathML, whose elements
    say in `data-token` which of the reading's `tokens` they are; the height of a symbol in the
    input's unit; and of strokes each token's strokes and other classes."""
    result = answer.result
    value = {**result.to_json(), "mathml": _mathml(result)}
    value["alternatives"] = [
        {**reading.to_json(), "mathml": _mathml(reading)} for reading in result.alternatives
    ]
    if len(result.lines) > 1:
        value["lines"] = [{**line.to_json(), "mathml": _mathml(line)} for line in result.lines]
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
    return [
        {"text": other.text, "sign": sign(other.text), "score": round(other.score, 4)}
        for other in others
    ]


@lru_cache(maxsize=1024)
def sign(token: str) -> str:
    """How a token is shown in a menu: by its character, where it has one."""
    try:
        shown = re.sub("<[^>]*>", "", Expression((token,)).mathml())
    except LatexError:  # a relation
        return _RELATIONS.get(token, token)
    return unescape(shown)


def _mathml(reading: Reading) -> str:
    return reading.expression.mathml(marked=True) if reading.canonical else ""
