"""`namer-edge evaluate new-signs`: single signs beyond CROHME's, and formulas that hold some.

Samples of the signs are those that `namer-edge data symbols --hold-out` kept back; all other ink
of the formulas is that of a pack, by writers that training has not seen.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from namer_edge_runtime.formula.signs import drawn_alike
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.verbs.options import positive

from ..data.everyday import Everyday
from ..data.formula import Formula
from ..data.layout_statistics import measure
from ..data.layout_synthesis import Typesetter
from ..data.pack import load_pack
from ..data.symbols import OOV, load_symbols
from ..data.synthesis import ink_by_token
from .cli_options import add_options, report_findings, spread
from .exprate import Rate, wilson_interval

if TYPE_CHECKING:
    from namer_edge_runtime.recognizer import Recognizer
    from namer_edge_runtime.result import Result

SUMMARY = "read single signs beyond CROHME's, and formulas that hold some"
AMONG = 5
"""Readings among which a sign counts as found."""
OFFERED = 12
"""Alternatives asked for: the best of them may differ in more than the sign."""


@dataclass(frozen=True)
class SignFindings:
    """Counts of signs and formulas that were read; `misread` has each sign's wrong readings."""

    signs: int
    first: int
    among: int
    formulas: int
    right: int
    misread: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "signs": self.signs,
            "first": self.first,
            f"among_{AMONG}": self.among,
            "formulas": self.formulas,
            "formulas_right": self.right,
            "misread": [list(pair) for pair in self.misread],
        }

    def text(self) -> str:
        return "\n".join(
            (
                _share("single signs, first", self.first, self.signs),
                _share(f"single signs, among {AMONG}", self.among, self.signs),
                _share("formulas with a new sign", self.right, self.formulas),
            )
        )


def _share(what: str, right: int, total: int) -> str:
    rate = Rate(total, right, right, right)
    low, high = wilson_interval(rate)
    return f"{what:26s} {right:5d} of {total:5d}  {rate.exprate:5.1f} % ({low:.1f} to {high:.1f})"


def measure_new_signs(
    recognizer: "Recognizer",
    signs: Sequence[Formula],
    pack: Sequence[Formula],
    formulas: int,
    seed: int = 0,
) -> SignFindings:
    """Reads single `signs`, and as many `formulas` typeset from them and the ink of `pack`."""
    first = among = 0
    misread = []
    for sign, result in _read(recognizer, signs, OFFERED):
        token = sign.tokens[0]
        read = list(_single([result.canonical, *(r.canonical for r in result.alternatives)]))
        first += drawn_alike(token, result.canonical)
        among += any(drawn_alike(token, other) for other in read[:AMONG])
        if not drawn_alike(token, result.canonical):
            misread.append((token, result.canonical))
    written = list(compose(signs, pack, recognizer.vocabulary, formulas, seed))
    right = sum(
        result.canonical == " ".join(formula.tokens)
        for formula, result in _read(recognizer, written, 0)
    )
    return SignFindings(len(signs), first, among, len(written), right, tuple(misread))


def _read(
    recognizer: "Recognizer", formulas: Sequence[Formula], alternatives: int
) -> Iterator[tuple[Formula, "Result"]]:
    for start in range(0, len(formulas), 8):
        batch = formulas[start : start + 8]
        results = recognizer([f.strokes for f in batch], alternatives=alternatives)
        yield from zip(batch, results, strict=True)


def _single(readings: Sequence[str]) -> Iterator[str]:
    """The readings of one token, each shape once."""
    seen: list[str] = []
    for reading in readings:
        if " " not in reading and not any(drawn_alike(reading, other) for other in seen):
            seen.append(reading)
            yield reading


def compose(
    signs: Sequence[Formula],
    pack: Sequence[Formula],
    vocabulary: Vocabulary,
    count: int,
    seed: int,
) -> Iterator[Formula]:
    """`count` labels of the grammar with at least one new sign, typeset in this ink alone."""
    bank = ink_by_token((*pack, *signs), vocabulary)
    typesetter = Typesetter(measure(pack, vocabulary), bank, vocabulary)
    rng = np.random.default_rng(seed)
    draw = Everyday(rng, alone=0, listed=0, mixed=0)
    new = {sign.tokens[0] for sign in signs}
    while count:
        tokens = draw()
        if new & set(tokens) and len(tokens) > 1 and typesetter.knows(tokens):
            count -= 1
            yield typesetter(f"new-signs{count}", tokens, rng)


def held_out(table: Path, vocabulary: Vocabulary, one_of: int) -> list[Formula]:
    """Samples of signs beyond CROHME's that `hold_out=one_of` keeps from training."""
    crohme = Vocabulary.load("crohme")
    kept = load_symbols([table], vocabulary, one_of, oov=False, held_out=True).formulas
    return [f for f in kept if f.tokens[0] not in crohme and f.tokens[0] != OOV]


def configure(parser: argparse.ArgumentParser) -> None:
    add_options(parser)
    parser.add_argument("--signs", type=Path, required=True, metavar="TABLE", help="as Detexify's")
    parser.add_argument("--hold-out", type=positive, default=5, metavar="N", help="%(default)s")
    parser.add_argument("--single", type=int, default=1000, metavar="N", help="%(default)s signs")
    parser.add_argument("--seed", type=int, default=0)


def run(arguments: argparse.Namespace) -> int:
    """Raises what loading of model, pack and table raises."""
    from namer_edge_runtime.recognizer import Recognizer

    recognizer = Recognizer.from_pretrained(arguments.model, threads=arguments.threads)
    signs = held_out(arguments.signs, recognizer.vocabulary, arguments.hold_out)
    found = measure_new_signs(
        recognizer,
        spread(signs, arguments.single),
        load_pack(arguments.pack).formulas,
        arguments.formulas,
        arguments.seed,
    )
    report_findings(found, arguments)
    return 0
