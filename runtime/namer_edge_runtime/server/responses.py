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
    value = {**result.to_json(), **_written(result)}
    value["alternatives"] = [
        {**reading.to_json(), **_written(reading)} for reading in result.alternatives
    ]
    value["symbol_height"] = round(answer.symbol_height, 2)
    if len(result.lines) > 1:
        value["lines"] = [{**line.to_json(), **_written(line)} for line in result.lines]
    if answer.symbol_alternatives is not None:
        locked = {place for place, _ in result.locked}
        strokes_of = result.token_strokes or ()
        owned = zip(strokes_of, answer.symbol_alternatives or [()] * len(strokes_of), strict=True)
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


def _written(reading: Reading) -> dict[str, str]:
    """Forms for the page's Copy menu, beside LaTeX; of a blank page, nothing."""
    formula = reading.expression
    forms = {"mathml": formula.mathml(marked=True), "typst": formula.typst, "omml": formula.omml}
    forms |= {"sympy": formula.sympy, "svg": formula.svg}
    return {name: text if reading.canonical else "" for name, text in forms.items()}
