"""Constants of the package for the browser's module, as its JavaScript file `tables.js`."""

import json
import re
from collections.abc import Sequence
from typing import Any

from ..decode import filled, k_best, thresholds
from ..decode.options import STORED, DecodingOptions
from ..formula import mathml, spelling
from ..formula.latex import compact
from ..formula.vocabulary import END, GROUP, INDEX, INKLESS, LIMITS, SCRIPTS, Vocabulary
from ..ink import planes, render, stroke_assignment, strokes
from ..model_file import ModelFile
from ..picture import prepare, skew
from ..preprocessing import CELL, STRIDE, STROKE_PLANES, Preprocessing
from ..recognition import voting
from ..score_calibration import CLOSEST

TABLES: dict[str, Any] = {
    "END": END,
    "GROUP": GROUP,
    "INDEX": INDEX,
    "INKLESS": sorted(INKLESS),
    "LIMITS": LIMITS,
    "SCRIPTS": SCRIPTS,
    "OPERATORS": sorted(spelling.OPERATORS),
    "BARS": sorted(mathml._BARS),
    "CLOSING": sorted(mathml._CLOSING),
    "OPENING": sorted(mathml._OPENING),
    "BAR": strokes.BAR,
    "DOT": strokes.DOT,
    "FURTHEST": strokes.FURTHEST,
    "FRACTION_BITS": render.FRACTION_BITS,
    "OVERSAMPLING": render.OVERSAMPLING,
    "ORDER": planes.ORDER,
    "REACH": planes.REACH,
    "STAMP": planes.STAMP,
    "STEP": planes.STEP,
    "STROKE_PLANES": STROKE_PLANES,
    "ROOT": stroke_assignment.ROOT,
    "CELL": CELL,
    "STRIDE": STRIDE,
    "LOOK": vars(Preprocessing()),
    "DECODING": vars(DecodingOptions()),
    "STORED": STORED,
    "MAX_CLASSES": k_best.MAX_CLASSES,
    "MAX_K_BEST": thresholds.MAX_K_BEST,
    "MIN_CLASS": thresholds.MIN_CLASS,
    "MIN_DELETE": thresholds.MIN_DELETE,
    "MIN_EDGE": thresholds.MIN_EDGE,
    "MIN_PROBABILITY": thresholds.MIN_PROBABILITY,
    "STRETCHED": sorted(filled.STRETCHED),
    "FINEST": prepare.FINEST,
    "INK": prepare.INK,
    "RUNG": prepare.RUNG,
    "SPECK": prepare.SPECK,
    "THICKEST": prepare.THICKEST,
    "LONG": skew.LONG,
    "SKEW_LEAST": float(skew.LEAST),
    "SKEW_MOST": float(skew.MOST),
    "EXPECTED_SCORE": voting.EXPECTED_SCORE,
    "CLOSEST": CLOSEST,
}
"""Name in `tables.js` → value."""
_HOLES = {"<mi>a</mi>": "⟦0⟧", "<mi>b</mi>": "⟦1⟧"}
"""Placeholder of an argument in a template of MathML."""


def tables_js(model: ModelFile) -> str:
    """The text of `tables.js` for a model."""
    width = prepare.drawn_width(model.preprocessing.pen_width)
    tables = TABLES | {"DRAWN_WIDTH": width} | spellings(model.vocabulary)
    lines = [
        f"export const {name} = {json.dumps(value, ensure_ascii=False)};"
        for name, value in tables.items()
    ]
    return "\n".join(["// Constants of the Python package.", *lines, ""])


def spellings(vocabulary: Vocabulary) -> dict[str, Any]:
    """How the package writes each visual class: symbols in LaTeX and MathML, relations as templates
    of MathML (with all arguments, and without the index), and their LaTeX over a wide argument."""
    latex: dict[str, str] = {}
    elements: dict[str, str] = {}
    templates: dict[str, list[str]] = {}
    wide: dict[str, str] = {}
    for symbol in vocabulary.symbols:
        latex[symbol] = compact((symbol,), vocabulary)
        elements[symbol] = _element((symbol,), vocabulary).replace(' stretchy="false"', "")
    for relation, takes in vocabulary.relations.items():
        if {*takes} <= {GROUP, INDEX} and relation not in SCRIPTS:
            whole = _applied(relation, takes, "a", "b")
            bare = _applied(relation, takes[takes[0] == INDEX :], "b")
            templates[relation] = [_template(whole, vocabulary)]
            if takes[0] == INDEX:
                templates[relation].append(_template(bare, vocabulary))
            wide[relation] = relation
            if takes == (GROUP,):
                written = compact((relation, GROUP, "a", "a", END), vocabulary)
                wide[relation] = written.partition("{")[0]
    return {"LATEX": latex, "ELEMENTS": elements, "TEMPLATES": templates, "WIDE": wide}


def _applied(relation: str, takes: Sequence[str], *arguments: str) -> list[str]:
    tokens = [relation]
    for opening, argument in zip(takes, arguments, strict=False):
        tokens += [opening, argument, "]" if opening == INDEX else END]
    return tokens


def _template(tokens: Sequence[str], vocabulary: Vocabulary) -> str:
    text = _element(tokens, vocabulary)
    return re.sub("|".join(_HOLES), lambda hole: _HOLES[hole[0]], text)


def _element(tokens: Sequence[str], vocabulary: Vocabulary) -> str:
    """MathML without the `math` element round it."""
    return re.sub(r"^<math[^>]*>|</math>$", "", mathml.mathml(tokens, vocabulary))
