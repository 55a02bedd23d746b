"""Whether a score falls where there is something that cannot be read.

    python -m namer_edge.evaluation.out_of_distribution PACK --hands SYMBOLS [--formulas 200] [--json OUT]

PACK holds formulas with ink, SYMBOLS signs that the vocabulary has no symbol for (`namer-edge data
symbols`). Of the formulas that are read right, the scores are reported; beside them those of the
same formulas with a stranger in place of one symbol, of strangers alone, of two formulas one above
the other, and of scribbles.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from namer_edge_runtime.command import exit_code
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.ink.strokes import Strokes, bounds, symbol_height

from ..data.formula import Formula
from ..data.label_sampling import kind
from ..data.symbols import OOV
from ..data.synthesis import fitted, ink_of
from .cli_options import chosen, options, spread, tell

if TYPE_CHECKING:
    from namer_edge_runtime.recognizer import Recognizer

PROGRAM = "python -m namer_edge.evaluation.out_of_distribution"
SCRIBBLES = 30


@dataclass
class OutOfDistribution:
    """Scores by what was looked at."""

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


def doubt(
    recognizer: "Recognizer",
    formulas: Sequence[Formula],
    strangers: Sequence[Formula],
    seed: int = 0,
) -> OutOfDistribution:
    """Reads all of them; what is put where follows from `seed`."""
    rng = np.random.default_rng(seed)
    found = OutOfDistribution()
    right: list[Formula] = []
    for formula in formulas:
        result = recognizer.strokes(formula.strokes)
        if result.canonical == " ".join(formula.tokens):
            right.append(formula)
            found.add("formulas read right", result.score)
    for formula in right:
        stranger = strangers[int(rng.integers(len(strangers)))]
        strange = with_stranger_in(formula, stranger.strokes, recognizer, rng)
        if strange is not None:
            found.add("with a stranger for a symbol", recognizer.strokes(strange).score)
    for stranger in spread(strangers, len(formulas)):
        found.add("strangers alone", recognizer.strokes(stranger.strokes).score)
    for upper, lower in zip(right[::2], right[1::2], strict=False):
        lines = one_above_the_other(upper.strokes, lower.strokes)
        found.add("two formulas, one above the other", recognizer.strokes(lines).score)
    for _ in range(SCRIBBLES):
        found.add("scribbles", recognizer.strokes(scribble(rng)).score)
    return found


def with_stranger_in(
    formula: Formula, stranger: Strokes, recognizer: "Recognizer", rng: np.random.Generator
) -> Strokes | None:
    """A letter or digit of `formula` exchanged for `stranger`, of its size; None where it has
    neither."""
    nodes = [n for n in to_nodes(formula.tokens, recognizer.vocabulary) if not n.ending]
    own = ink_of(formula)
    places = [n for n in own if kind(nodes[n].token) in ("letter", "digit")]
    if not places or symbol_height(stranger) <= 0:
        return None
    place = places[int(rng.integers(len(places)))]
    own[place] = fitted(stranger, own[place])
    return [stroke for strokes in own.values() for stroke in strokes]


def one_above_the_other(upper: Strokes, lower: Strokes) -> Strokes:
    """Both at the same symbol height, left sides flush, two symbol heights between them."""
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
    """A few strokes that wander at random: a pen put to paper by somebody who thinks."""
    strokes: Strokes = []
    for _ in range(int(rng.integers(1, 5))):
        turns = np.cumsum(rng.normal(0, 0.6, int(rng.integers(20, 80))))
        steps = np.stack([np.cos(turns), np.sin(turns)], 1) * rng.uniform(2, 8)
        strokes.append((rng.uniform(0, 150, 2) + np.cumsum(steps, 0)).astype(np.float32))
    return strokes


def _run(given: list[str]) -> None:
    from namer_edge_runtime.errors import DataError
    from namer_edge_runtime.recognizer import Recognizer

    from ..data.pack import load_pack

    parser = options(PROGRAM, __doc__.splitlines()[0])
    parser.add_argument("--hands", type=Path, required=True, help="by `namer-edge data symbols`")
    arguments = parser.parse_args(given)
    formulas = chosen(arguments)
    strangers = [f for f in load_pack(arguments.hands).formulas if f.tokens == (OOV,)]
    if not strangers:
        raise DataError(f"{arguments.hands} has no stranger: no sample whose token is {OOV}")
    recognizer = Recognizer.from_pretrained(arguments.model, threads=arguments.threads)
    found = doubt(recognizer, formulas, strangers)
    tell(found, arguments)


if __name__ == "__main__":
    sys.exit(exit_code(PROGRAM, _run))
