"""`namer-edge evaluate unknown-signs`: scores of out-of-distribution ink.

Scores of formulas that are read right, and, for comparison, of the same formulas with an
out-of-vocabulary sign in place of one symbol, of such signs alone, of two formulas one above the
other, and of scribbles.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.ink.strokes import Strokes, bounds, symbol_height

from ..data.formula import Formula
from ..data.label_sampling import kind
from ..data.symbols import OOV
from ..data.synthesis import fitted, ink_of
from .cli_options import add_options, load_formulas, report_findings, spread

if TYPE_CHECKING:
    from namer_edge_runtime.recognizer import Recognizer

SUMMARY = "compare scores of formulas with those of unknown signs, stacked formulas and scribbles"
SCRIBBLES = 30


def configure(parser: argparse.ArgumentParser) -> None:
    add_options(parser)
    parser.add_argument(
        "--symbol-bank",
        "--hands",
        type=Path,
        required=True,
        metavar="SYMBOLS",
        help="pack with out-of-vocabulary signs, made by `namer-edge data symbols`",
    )


def run(arguments: argparse.Namespace) -> int:
    """Raises `DataError` for a symbol bank without out-of-vocabulary signs."""
    from namer_edge_runtime.errors import DataError
    from namer_edge_runtime.recognizer import Recognizer

    from ..data.pack import load_pack

    formulas = load_formulas(arguments)
    signs = [f for f in load_pack(arguments.symbol_bank).formulas if f.tokens == (OOV,)]
    if not signs:
        raise DataError(f"{arguments.symbol_bank} has no sample whose token is {OOV}")
    recognizer = Recognizer.from_pretrained(arguments.model, threads=arguments.threads)
    report_findings(measure_out_of_distribution(recognizer, formulas, signs), arguments)
    return 0


@dataclass
class OutOfDistribution:
    """Scores by kind of input."""

    scores: dict[str, list[float]] = field(default_factory=dict)

    def add(self, what: str, score: float) -> None:
        self.scores.setdefault(what, []).append(score)

    def to_json(self) -> dict[str, Any]:
        return {
            what: {
                "count": len(scores),
                "median": round(float(np.median(scores)), 3),
                "ninth_decile": round(float(np.quantile(scores, 0.9)), 3),
                "half_or_more": sum(score >= 0.5 for score in scores),
            }
            for what, scores in self.scores.items()
        }

    def text(self) -> str:
        lines = [f"{'':34s} count  median  9th decile  0.5 or more"]
        for what, of in self.to_json().items():
            count, median, decile, many = of.values()
            lines.append(f"{what:34s} {count:5d}  {median:6.3f}  {decile:10.3f}  {many:11d}")
        return "\n".join(lines)


def measure_out_of_distribution(
    recognizer: "Recognizer",
    formulas: Sequence[Formula],
    signs: Sequence[Formula],
    seed: int = 0,
) -> OutOfDistribution:
    """Scores of all kinds of input; `signs` are out of vocabulary, `seed` draws their places."""
    rng = np.random.default_rng(seed)
    found = OutOfDistribution()
    right: list[Formula] = []
    for formula in formulas:
        result = recognizer.strokes(formula.strokes)
        if result.canonical == " ".join(formula.tokens):
            right.append(formula)
            found.add("formulas read right", result.score)
    for formula in right:
        sign = signs[int(rng.integers(len(signs)))]
        changed = with_sign(formula, sign.strokes, recognizer, rng)
        if changed is not None:
            found.add("with a stranger for a symbol", recognizer.strokes(changed).score)
    for sign in spread(signs, len(formulas)):
        found.add("strangers alone", recognizer.strokes(sign.strokes).score)
    for upper, lower in zip(right[::2], right[1::2], strict=False):
        lines = stacked(upper.strokes, lower.strokes)
        found.add("two formulas, one above the other", recognizer.strokes(lines).score)
    for _ in range(SCRIBBLES):
        found.add("scribbles", recognizer.strokes(scribble(rng)).score)
    return found


def with_sign(
    formula: Formula, sign: Strokes, recognizer: "Recognizer", rng: np.random.Generator
) -> Strokes | None:
    """The ink of `formula` with a random letter or digit replaced by `sign` in its size; None if it
    has neither."""
    nodes = [n for n in to_nodes(formula.tokens, recognizer.vocabulary) if not n.ending]
    own = ink_of(formula)
    places = [n for n in own if kind(nodes[n].token) in ("letter", "digit")]
    if not places or symbol_height(sign) <= 0:
        return None
    place = places[int(rng.integers(len(places)))]
    own[place] = fitted(sign, own[place])
    return [stroke for strokes in own.values() for stroke in strokes]


def stacked(upper: Strokes, lower: Strokes) -> Strokes:
    """Both at the same symbol height, left-aligned, two symbol heights apart."""
    placed: Strokes = []
    top = 0.0
    for strokes in (upper, lower):
        x0, y0, _, y1 = bounds(strokes)
        unit = symbol_height(strokes) or 1.0
        corner = np.array([x0, y0], np.float32)
        placed += [
            np.asarray((stroke - corner) / unit + (0, top), np.float32) for stroke in strokes
        ]
        top += (y1 - y0) / unit + 2.0
    return placed


def scribble(rng: np.random.Generator) -> Strokes:
    """A few strokes of random walks."""
    strokes: Strokes = []
    for _ in range(int(rng.integers(1, 5))):
        turns = np.cumsum(rng.normal(0, 0.6, int(rng.integers(20, 80))))
        steps = np.stack([np.cos(turns), np.sin(turns)], 1) * rng.uniform(2, 8)
        strokes.append((rng.uniform(0, 150, 2) + np.cumsum(steps, 0)).astype(np.float32))
    return strokes
