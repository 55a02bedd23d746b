"""Content negotiation: the form of an answer by the header `Accept` (RFC 9110, 12.5.1)."""

import re

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
    named, also for `*/*`."""
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
