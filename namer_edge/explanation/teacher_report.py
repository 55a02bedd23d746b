"""Distances of a teacher's positions from the ink's, in cells of the H/8 grid, by token.

The paper calls them "attention shift" (section "Visual Aware Tokenizer"); matching tolerates them
within its window (table 5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import INKLESS, Vocabulary
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.preprocessing import CELL, Prepared, Preprocessing

from ..data.formula import Formula

WINDOWS = (3, 5, 7)
"""Windows of table 5."""
ALL, INKED, SCRIPTS, STRUCTURES = "all", "symbols", "^ _ \\limits", "other relations"
"""Groups of tokens: all, and by kind."""


@dataclass(frozen=True)
class PositionPair:
    """Positions of one formula by ink and by teacher."""

    formula: Formula
    prepared: Prepared
    """The formula prepared for the model to be trained."""
    tokens: tuple[str, ...]
    """[V] visual tokens."""
    ink: NDArray[np.int64]
    """[V, 2] cells (row, column) of the ink's positions."""
    taught: NDArray[np.int64]
    """[V, 2] cells of the teacher's."""

    @property
    def distances(self) -> NDArray[np.int64]:
        """[V] cells, the maximum of rows and columns: a window of k reaches ⌊k / 2⌋."""
        return np.abs(self.taught - self.ink).max(1)


@dataclass(frozen=True)
class Spread:
    """The distances of one class or group of tokens."""

    count: int
    mean: float
    median: float
    p90: float
    """Ninth decile."""
    right: float
    down: float
    """Mean shift of the teacher in cells."""
    within: Mapping[int, float]
    """Window → percentage of tokens whose teacher's cell is inside it."""

    @classmethod
    def of(cls, shifts: NDArray[np.int64]) -> "Spread":
        """`shifts` [n, 2] (rows, columns), n above 0."""
        distances = np.abs(shifts).max(1)
        return cls(
            len(shifts),
            float(distances.mean()),
            float(np.median(distances)),
            float(np.quantile(distances, 0.9)),
            float(shifts[:, 1].mean()),
            float(shifts[:, 0].mean()),
            {window: 100 * float((distances <= window // 2).mean()) for window in WINDOWS},
        )


@dataclass(frozen=True)
class TeacherReport:
    """Report on a teacher for a pack of segmented ink."""

    formulas: list[PositionPair]
    left_out: int
    """Formulas without positions by ink or teacher."""
    groups: dict[str, Spread]
    classes: dict[str, Spread]
    """Distances by token, most frequent first."""

    def lines(self, most: int = 20) -> list[str]:
        """A table for people: the groups, then the `most` frequent tokens."""
        windows = "".join(f"{f'in {w}x{w}':>9}" for w in WINDOWS)
        head = f"{'token':16}{'count':>7}{'median':>8}{'90 %':>7}{'right':>7}{'down':>7}{windows}"
        rows = [*self.groups.items(), *list(self.classes.items())[:most]]
        return [
            f"{len(self.formulas)} formulas ({self.left_out} without positions left out); cells",
            head,
            *(
                f"{name:16}{s.count:7}{s.median:8.1f}{s.p90:7.1f}{s.right:7.2f}{s.down:7.2f}"
                + "".join(f"{share:8.1f}%" for share in s.within.values())
                for name, s in rows
            ),
        ]


def teacher_report(
    formulas: Sequence[Formula],
    taught: Sequence[NDArray[np.float32]],
    preprocessing: Preprocessing,
    vocabulary: Vocabulary,
) -> TeacherReport:
    """Compares the positions of `formulas` with those `taught` by a teacher ([0, 2] for none), in
    cells at the `preprocessing` of the model to be trained."""
    found = [
        _pair(formula, positions, preprocessing, vocabulary)
        for formula, positions in zip(formulas, taught, strict=True)
        if formula.placed and len(positions)
    ]
    shifts: dict[str, list[NDArray[np.int64]]] = {}
    for pair in found:
        for token, shift in zip(pair.tokens, pair.taught - pair.ink, strict=True):
            shifts.setdefault(token, []).append(shift)
    frequent = sorted(shifts, key=lambda token: (-len(shifts[token]), token))
    groups: dict[str, list[NDArray[np.int64]]] = {}
    for token in frequent:
        for group in (ALL, _group(token, vocabulary)):
            groups.setdefault(group, []).extend(shifts[token])
    return TeacherReport(
        found,
        len(formulas) - len(found),
        {name: Spread.of(np.array(group)) for name, group in groups.items()},
        {token: Spread.of(np.array(shifts[token])) for token in frequent},
    )


def _group(token: str, vocabulary: Vocabulary) -> str:
    if token in INKLESS:
        return SCRIPTS
    return STRUCTURES if token in vocabulary.relations else INKED


def _pair(
    formula: Formula,
    taught: NDArray[np.float32],
    preprocessing: Preprocessing,
    vocabulary: Vocabulary,
) -> PositionPair:
    prepared = prepare_input(formula.source, preprocessing)
    limits = np.array(prepared.image.shape) // CELL - 1
    ink, other = (
        np.clip(np.floor(prepared.from_input(p)[:, ::-1] / CELL), 0, limits)
        for p in (formula.positions, taught)
    )
    visual = tuple(n.token for n in to_nodes(formula.tokens, vocabulary) if not n.ending)
    return PositionPair(formula, prepared, visual, ink.astype(np.int64), other.astype(np.int64))
