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

FORMS = {
    "application/json": "",
    "application/x-latex": "latex",
    "application/mathml+xml": "mathml",
    "application/mathml-presentation+xml": "word_mathml",
    "application/omml+xml": "omml",
    "text/x-typst": "typst",
    "text/x-sympy": "sympy",
    "image/svg+xml": "svg",
}
"""Media type of an answer → the attribute of a reading that gives it; JSON has them all."""


def accepted(accept: str) -> str:
    """The media type out of `FORMS` that a header `Accept` asks for first; JSON where none is
    named, also for `*/*` (RFC 9110, 12.5.1)."""
    quality = {}
    for part in accept.split(","):
        kind, *parameters = (text.strip().lower() for text in part.split(";"))
        weight = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        quality[kind] = float(weight) if re.fullmatch(r"[01](\.\d{0,3})?", weight) else 0.0
    named = [kind for kind in quality if kind in FORMS and quality[kind] > 0]
    return max(named, key=lambda kind: quality[kind], default="application/json")


def to_text(answer: ReadResponse, kind: str) -> str:
    """The formula alone, in the form of a media type; of a blank page, nothing."""
    result = answer.result
    return str(getattr(result, FORMS[kind])) if result.canonical else ""


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
    value["symbol_height"] = round(answer.symbol_height, 2)
    if len(result.lines) > 1:
        value["lines"] = [{**line.to_json(), "mathml": _mathml(line)} for line in result.lines]
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


def _mathml(reading: Reading) -> str:
    return reading.expression.mathml(marked=True) if reading.canonical else ""
