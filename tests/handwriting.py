"""Written formulas for tests, from the examples' own made-up handwriting: no data set is needed."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from namer_edge.data.crohme import Formula
from namer_edge.data.placement import INKLESS, place
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary

SCRIPT = Path(__file__).parents[1] / "examples" / "make_examples.py"
VOCABULARY = Vocabulary.load("crohme")


def _examples() -> Any:
    spec = importlib.util.spec_from_file_location("make_examples", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_examples"] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


EXAMPLES = _examples()
WRITTEN: list[tuple[str, Callable[[Any], Any]]] = [
    ("x ^ { 2 } + 1", lambda w: w.row(w.superscript(w.glyph("x"), w.glyph("2")), "+", "1")),
    ("\\frac { 1 } { 2 }", lambda w: w.fraction(w.glyph("1"), w.glyph("2"))),
    ("a + b = 3", lambda w: w.row("a", "+", "b", "=", "3")),
    ("\\sqrt { x }", lambda w: w.root(w.glyph("x"))),
    ("y = 2 x + 5", lambda w: w.row("y", "=", "2", "x", "+", "5")),
    ("( a - b ) ^ { 2 }", lambda w: w.superscript(w.row("(", "a", "-", "b", ")"), w.glyph("2"))),
    ("x = 1", lambda w: w.row("x", "=", "1")),
    ("\\frac { a } { b }", lambda w: w.fraction(w.glyph("a"), w.glyph("b"))),
    ("3 - y", lambda w: w.row("3", "-", "y")),
    ("\\sqrt { a + b }", lambda w: w.root(w.row("a", "+", "b"))),
    ("2 ^ { x }", lambda w: w.superscript(w.glyph("2"), w.glyph("x"))),
    ("5 = y", lambda w: w.row("5", "=", "y")),
    ("\\frac { x + 1 } { 5 }", lambda w: w.fraction(w.row("x", "+", "1"), w.glyph("5"))),
    ("( 3 )", lambda w: w.row("(", "3", ")")),
    ("a ^ { b } - 2", lambda w: w.row(w.superscript(w.glyph("a"), w.glyph("b")), "-", "2")),
    ("y", lambda w: w.glyph("y")),
]
"""Sixteen labels and how the examples' `Writer` writes them."""


def written(number: int, seed: int = 0) -> Formula:
    """Formula `number` of `WRITTEN` in one hand, with the position of every visual node."""
    label, write = WRITTEN[number]
    return inked(f"{number}-{seed}", label, write(EXAMPLES.Writer(100 * seed + number)))


def inked(name: str, label: str, box: Any) -> Formula:
    """What a `Writer` wrote for `label`."""
    tokens = tuple(label.split())
    nodes = to_nodes(tokens, VOCABULARY)
    left = list(box.symbols)
    strokes: list[Any] = []
    assign_strokes: list[int] = []
    groups: list[list[Any]] = []
    for visual, token in enumerate(node.token for node in nodes if not node.ending):
        own = []
        if token not in INKLESS:
            symbol = next(s for s in left if s.label == token)
            left.remove(symbol)
            own = [stroke.astype(np.float32) for stroke in symbol.strokes]
        strokes += own
        assign_strokes += [visual] * len(own)
        groups.append(own)
    placement = place(nodes, groups)
    return Formula(
        name,
        strokes,
        np.array(assign_strokes, np.int32),
        tokens,
        placement.positions,
        placement.boxes,
    )
