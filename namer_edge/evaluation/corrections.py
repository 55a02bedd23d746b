"""`namer-edge evaluate corrections`: how many corrections put misread ink right.

Formulas of a pack that are read wrong are drawn at random, and a writer who knows what they say
corrects one symbol after the other until the formula is right: a choice from the menu of a symbol,
strokes that are said to be one symbol or several, a script that is said to be one or none. Each
counts as one correction.
"""

import argparse
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import INKLESS
from namer_edge_runtime.recognition.pen_session import CanvasSymbol, PenSession

from ..data.formula import Formula
from .cli_options import add_options, report_findings
from .exprate import distance

if TYPE_CHECKING:
    from namer_edge_runtime.recognizer import Recognizer

SUMMARY = "measure how many corrections put misread ink right"
FEW = 2
"""Wrong tokens of the formulas of the first draw, and corrections that they may take."""
MOST = 12
"""Corrections after which the writer gives up."""


def configure(parser: argparse.ArgumentParser) -> None:
    add_options(parser)
    parser.set_defaults(formulas=60)
    parser.add_argument("--seed", type=int, default=0, help="of the draw (%(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Raises the typed errors of model and data."""
    from tqdm import tqdm

    from namer_edge_runtime.recognizer import Recognizer

    from ..data.pack import load_pack

    formulas = load_pack(arguments.pack).formulas
    recognizer = Recognizer.from_pretrained(arguments.model, threads=arguments.threads)
    with tqdm(total=len(formulas), unit="formula", disable=None) as bar:
        wrong = misread(recognizer, formulas, bar.update)
    few = [formula for formula, errors in wrong if errors <= FEW]
    draws = {
        f"at most {FEW} tokens wrong": few,
        "any wrong": [formula for formula, _ in wrong],
    }
    replays = {
        name: replay_all(recognizer, drawn(some, arguments.formulas, arguments.seed))
        for name, some in draws.items()
    }
    report_findings(Corrections(replays, {k: len(v) for k, v in draws.items()}), arguments)
    return 0


@dataclass(frozen=True)
class Replay:
    """Corrections that put one formula right."""

    name: str
    label: str
    read: str
    """Canonical tokens before the first correction."""
    corrections: tuple[str, ...]
    right: bool


@dataclass(frozen=True)
class Corrections:
    """Replays of each draw."""

    replays: Mapping[str, Sequence[Replay]]
    drawn_from: Mapping[str, int]
    """Formulas that each was drawn from."""

    def to_json(self) -> dict[str, Any]:
        return {
            name: {
                "from": self.drawn_from[name],
                "formulas": len(some),
                "right": sum(one.right for one in some),
                "right_by_corrections": dict(sorted(_counts(some).items())),
                "replays": [vars(one) for one in some],
            }
            for name, some in self.replays.items()
        }

    def text(self) -> str:
        lines = []
        for name, some in self.replays.items():
            lines.append(f"{len(some)} of {self.drawn_from[name]} formulas, {name}:")
            right = 0
            for number, count in sorted(_counts(some).items()):
                right += count
                share = 100 * right / max(1, len(some))
                lines.append(f"  {right:3d} right with at most {number}  {share:6.2f} %")
        return "\n".join(lines)


def _counts(replays: Sequence[Replay]) -> Counter[int]:
    return Counter(len(one.corrections) for one in replays if one.right)


def misread(
    recognizer: "Recognizer",
    formulas: Sequence[Formula],
    progress: Callable[[], object] = lambda: None,
) -> list[tuple[Formula, int]]:
    """The formulas of ink that are read wrong, with the token edit distance."""
    found = []
    for formula in formulas:
        if formula.strokes and formula.tokens:
            read = recognizer.strokes(formula.strokes).expression.tokens
            errors = distance(formula.tokens, read)
            if errors:
                found.append((formula, errors))
        progress()
    return found


def drawn(formulas: Sequence[Formula], count: int, seed: int) -> list[Formula]:
    """`count` formulas drawn at random, all where there are fewer."""
    return random.Random(seed).sample(formulas, min(count, len(formulas)))


def replay_all(recognizer: "Recognizer", formulas: Sequence[Formula]) -> list[Replay]:
    return [replay(recognizer, formula) for formula in formulas]


def replay(recognizer: "Recognizer", formula: Formula) -> Replay:
    """Corrects the reading of a formula until it is right, or nothing more can be done."""
    session = recognizer.session()
    for stroke in formula.strokes:
        session.add(stroke)
    label = " ".join(formula.tokens)
    nodes = to_nodes(formula.tokens, recognizer.vocabulary)
    truth = [node.token for node in nodes if not node.ending]
    read = session.result().canonical
    done: list[str] = []
    while session.result().canonical != label and len(done) < MOST:
        said = _correct(session, formula, truth)
        if said is None or said in done:
            break
        done.append(said)
    right = session.result().canonical == label
    return Replay(formula.name, label, read, tuple(done), right)


def _correct(session: PenSession, formula: Formula, truth: Sequence[str]) -> str | None:
    """Makes the next correction, and says which; None where there is none to make.

    First are symbols with other strokes than they were read from, then other classes, then
    scripts.
    """
    strokes = [
        tuple(place for place, owner in enumerate(formula.symbols.tolist()) if owner == number)
        for number in range(len(truth))
    ]
    symbols = session.symbols()
    by_strokes = {symbol.strokes: symbol for symbol in symbols if symbol.strokes}
    for own, token in zip(strokes, truth, strict=True):
        symbol = by_strokes.get(own)
        if symbol is not None and symbol.text != token:
            if token not in [one.text for one in symbol.alternatives]:
                continue  # not in the menu
            session.choose(symbol, token)
            return f"{symbol.text} at {own} is {token}"
    for own, token in zip(strokes, truth, strict=True):
        if own and own not in by_strokes:
            nearest = max(symbols, key=lambda s: len({*s.strokes} & {*own}), default=None)
            if nearest is None or nearest.text != token or not {*nearest.strokes} & {*own}:
                session.join(own)
                return f"{own} belong together"
    return _correct_script(session, symbols, truth, strokes)


def _correct_script(
    session: PenSession,
    symbols: Sequence[CanvasSymbol],
    truth: Sequence[str],
    strokes: Sequence[tuple[int, ...]],
) -> str | None:
    """Corrects the first token without ink that differs."""
    read = [symbol.text for symbol in symbols]
    matcher = SequenceMatcher(None, read, truth, autojunk=False)
    for _, start, stop, other, other_stop in matcher.get_opcodes():
        if read[start:stop] == truth[other:other_stop]:
            continue
        wrong = [symbol for symbol in symbols[start:stop] if symbol.text in INKLESS]
        wanted = [n for n in range(other, other_stop) if truth[n] in INKLESS]
        if wrong and wanted:
            session.choose(wrong[0], truth[wanted[0]])
            return f"{wrong[0].text} before place {start} is {truth[wanted[0]]}"
        if wrong:
            session.delete(wrong[0])
            return f"no {wrong[0].text} at place {start}"
        if wanted and wanted[0] + 1 < len(truth):
            own = {*strokes[wanted[0] + 1]}
            for symbol in symbols:
                if own & {*symbol.strokes}:
                    session.script(symbol, truth[wanted[0]])
                    return f"{truth[wanted[0]]} before {sorted(own)}"
    return None
