"""The OpenAPI description of the server, in one place for programs and for `/docs`."""

from typing import Any

from .. import __version__
from .forms import FORMS
from .request_body import FILE, MOST_ALTERNATIVES
from .settings import Settings

NUMBER = {"type": "number"}
TEXT = {"type": "string"}
STROKES = {
    "type": "array",
    "description": "Pen strokes in the order of writing, y growing downwards, any unit.",
    "items": {
        "type": "array",
        "description": "The points of a stroke.",
        "items": {"type": "array", "items": NUMBER, "minItems": 2},
        "minItems": 1,
    },
}
LOCKS = {
    "type": "array",
    "description": "What is known of strokes, and certain from then on: those of each lock are one "
    "symbol, and no other is.",
    "items": {
        "type": "object",
        "properties": {
            "strokes": {
                "type": "array",
                "items": {"type": "integer", "minimum": 0},
                "description": "Places in `strokes`, from 0.",
            },
            "at": {
                "type": "array",
                "items": NUMBER,
                "minItems": 2,
                "maxItems": 2,
                "description": "Where a token without strokes stands: `^`, `_`, `\\limits`.",
            },
            "text": {
                **TEXT,
                "description": "Its token; without it, whichever it is; empty, none.",
            },
        },
    },
}
CROSS = {"strokes": [[[0, 0], [20, 20]], [[20, 0], [0, 20]]]}
REFUSALS = {
    400: "The request is wrong: the message says what to change.",
    403: "A page of another server asked.",
    408: "The body came too slowly.",
    413: "The body is too large.",
    421: "The server does not go by this name.",
    422: "No picture or ink that can be read, or more of it than is read at a time.",
    429: "Too many requests from one address: come again after Retry-After seconds.",
    500: "The engine failed on this input.",
    503: "Too many inputs wait: come again after Retry-After seconds.",
}


def description(settings: Settings) -> dict[str, Any]:
    """OpenAPI 3.1, as one JSON object."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "namer-edge",
            "version": __version__,
            "description": "Handwritten mathematics to LaTeX. Nothing is stored or sent elsewhere. "
            f"Bodies up to {settings.body >> 20} MiB, ink up to {settings.strokes} strokes and "
            f"{settings.points} points; {settings.waiting} inputs may wait.",
            "license": {"name": "Apache-2.0"},
        },
        "paths": {
            "/recognize": {"post": _recognize()},
            "/healthz": {
                "get": {
                    "summary": "Are workers up?",
                    "responses": {"200": _said("At least one."), "503": _said("None yet.")},
                }
            },
            "/metrics": {
                "get": {
                    "summary": "Counts for Prometheus",
                    "responses": {
                        "200": {"description": "Text.", "content": {"text/plain": {"schema": TEXT}}}
                    },
                }
            },
        },
        "components": {"schemas": _schemas()},
    }


def _recognize() -> dict[str, Any]:
    binary = {"schema": {"type": "string", "format": "binary"}}
    form = {"type": "object", "required": [FILE], "properties": {FILE: binary["schema"]}}
    ink = {"strokes": STROKES, "locks": LOCKS}
    strokes = {"type": "object", "required": ["strokes"], "properties": ink}
    return {
        "summary": "Read a formula, or lines of them",
        "description": "A picture (PNG, JPEG, BMP, TIFF, WebP, GIF, PNM) or InkML as the raw body "
        "or as the file of a form, or pen strokes as JSON. To correct a symbol, send the strokes "
        "again with what it is.",
        "parameters": [
            {
                "name": "alternatives",
                "in": "query",
                "description": "How many other readings to give.",
                "schema": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": MOST_ALTERNATIVES,
                    "default": 0,
                },
            }
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": binary,
                "image/*": binary,
                "multipart/form-data": {"schema": form},
                "application/json": {"schema": strokes, "example": CROSS},
            },
        },
        "responses": {
            "200": _formula(),
            **{str(status): _said(why, "Error") for status, why in REFUSALS.items()},
        },
    }


def _formula() -> dict[str, Any]:
    said = _said("The formula; a blank page gives an empty one with score 0.", "Result")
    texts = {kind: {"schema": TEXT} for kind, form in FORMS.items() if form}
    return {**said, "content": {**said["content"], **texts}}


def _said(why: str, schema: str = "") -> dict[str, Any]:
    kind = {"$ref": f"#/components/schemas/{schema}"} if schema else {"type": "object"}
    return {"description": why, "content": {"application/json": {"schema": kind}}}


def _schemas() -> dict[str, Any]:
    token = _object(
        text=TEXT,
        score={**NUMBER, "description": "Probability of its class."},
        x={**NUMBER, "description": "In the input's coordinates."},
        y=NUMBER,
    )
    reading = {
        "latex": {**TEXT, "description": "Compact LaTeX, ready to be set."},
        "canonical": {**TEXT, "description": "Token by token, as the published labels."},
        "score": {**NUMBER, "description": "Probability of being right, 0 to 1."},
        "tokens": {"type": "array", "items": token},
        "mathml": {**TEXT, "description": "`data-token` counts in `tokens`."},
        "typst": {**TEXT, "description": "Mathematics of Typst."},
        "omml": {**TEXT, "description": "Office Math Markup, for Word's documents."},
        "sympy": {**TEXT, "description": "An expression for SymPy's `sympify`."},
        "svg": {**TEXT, "description": "The set formula as a picture."},
    }
    times = dict.fromkeys(("prepare", "vat", "pgd", "path", "total"), NUMBER)
    return {
        "Reading": _object(**reading),
        "Line": _object(
            **reading,
            box={
                "type": "array",
                "items": NUMBER,
                "minItems": 4,
                "maxItems": 4,
                "description": "Where its ink lies: x0, y0, x1, y1 in the input's coordinates.",
            },
            strokes={
                "type": "array",
                "items": {"type": "integer"},
                "description": "Of ink: the places of its strokes among those sent, from 0.",
            },
            alternatives={"type": "array", "items": {"$ref": "#/components/schemas/Reading"}},
        ),
        "Result": _object(
            **reading,
            alternatives={"type": "array", "items": {"$ref": "#/components/schemas/Reading"}},
            engine=TEXT,
            device=TEXT,
            precision=TEXT,
            milliseconds=_object(**times),
            symbol_height={**NUMBER, "description": "Of a typical symbol, in the input's unit."},
            symbols={
                "type": "array",
                "description": "Of pen strokes: what each of `tokens` was written with.",
                "items": _object(
                    strokes={"type": "array", "items": {"type": "integer"}},
                    locked={"type": "boolean", "description": "Whether a lock says what it is."},
                    alternatives={
                        "type": "array",
                        "description": "The likeliest other classes, over all passes.",
                        "items": _object(
                            text=TEXT,
                            sign={**TEXT, "description": "How it is shown to people."},
                            score=NUMBER,
                        ),
                    },
                ),
            },
            lines={
                "type": "array",
                "items": {"$ref": "#/components/schemas/Line"},
                "description": "There where several were found, from above to below; the result "
                "itself is then all of them, as `aligned`, and its score the product of theirs.",
            },
            truncated={"type": "boolean", "description": "There, and true, where it was too long."},
        ),
        "Error": _object(error=_object(type=TEXT, message=TEXT)),
    }


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}
