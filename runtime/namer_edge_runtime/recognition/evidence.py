"""Outputs of the passes over one input, kept so that its path can be searched again."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..decode.pick import Nodes
from ..formula.vocabulary import INKLESS, Vocabulary
from ..ink.stroke_assignment import ROOT
from ..ink.strokes import Stroke, foot, symbol_height
from ..preprocessing import CELL, Prepared

REACH = 0.6
"""Distance, as a share of a typical symbol's height, within which nodes belong to a symbol."""
FLOOR = 1e-4
"""Added to the share of each class in VAT and in PGD, so that neither alone rules one out."""


@dataclass(frozen=True)
class Lock:
    """Strokes that are one symbol, or the place of a token without ink; with what it is."""

    text: str | None = None
    """Token of the symbol; None: any token; "": the strokes stand for nothing."""
    strokes: tuple[int, ...] = ()
    """Places in the ink; none for `^`, `_` and `\\limits`."""
    at: tuple[float, float] | None = None
    """Position of a token without strokes, in the strokes' unit."""


@dataclass(frozen=True)
class Evidence:
    """VAT's maps, the nodes and PGD's heads of one pass (N nodes, K classes)."""

    prepared: Prepared
    nodes: Nodes
    correction: NDArray[np.float32]
    """[N, K + 2]."""
    left: NDArray[np.float32]
    """[N, N], and `right` as in `PgdOutput`."""
    right: NDArray[np.float32]
    scores: NDArray[np.float32]
    """[C, h, w], and `classes` as in `VatOutput`."""
    classes: NDArray[np.integer]
    locks: tuple[Lock, ...] = ()
    """Locks that the pass was made with."""
    made_for: NDArray[np.int64] | None = None
    """[N] which of these each node stands for, -1 for none."""


class Places:
    """Positions in ink of the symbols of L locks, from which any pass finds nodes and cells."""

    def __init__(self, ink: Sequence[Stroke], locks: Sequence[Lock], vocabulary: Vocabulary):
        self.locks = locks
        self.vocabulary = vocabulary
        tokens = vocabulary.tokens
        self._is_root = np.array([token == ROOT for token in tokens])
        self._is_inkless = np.array([token in INKLESS for token in tokens])
        self._reach = REACH * symbol_height(ink) if ink else 0.0
        self._own = [[ink[place] for place in lock.strokes] for lock in locks]
        self._inked = [n for n, lock in enumerate(locks) if lock.strokes]
        self._inkless = [n for n, lock in enumerate(locks) if not lock.strokes]
        owner = {place: n for n in self._inked for place in locks[n].strokes}
        points = self.points(False)
        # A free stroke round a locked one, as a root, stands where what is inside it does.
        others = [
            stroke
            for place, stroke in enumerate(ink)
            if place not in owner and not _encloses(stroke, points[self._inked])
        ]
        self._anchors = [*(ink[place] for place in owner), *others]
        self._owners = np.array([*self._inked, *owner.values(), *(-1 for _ in others)], np.int64)

    def points(self, as_root: bool) -> NDArray[np.float64]:
        """[L, 2] (x, y) of each symbol in the strokes' unit, as if it were a root or were none."""
        where = foot if as_root else _center
        found = [
            where(np.concatenate(own)) if own else lock.at or (np.inf, np.inf)
            for own, lock in zip(self._own, self.locks, strict=True)
        ]
        return np.array(found, np.float64).reshape(-1, 2)

    def cells(self, prepared: Prepared, as_root: bool) -> NDArray[np.float64]:
        """[L, 2] (row, column) on the VAT map; whole numbers are the centers of cells."""
        return prepared.from_input(self.points(as_root))[:, ::-1] / CELL - 0.5

    def owners(self, nodes: Nodes, prepared: Prepared) -> NDArray[np.int64]:
        """[N] the lock whose symbol each visual node stands for, -1 for none and for endings."""
        found = np.full(len(nodes), -1)
        points = prepared.to_input((nodes.cells[:, ::-1] + 0.5) * CELL)
        visual = np.flatnonzero(nodes.parents < 0)[2:]
        label = nodes.classes[visual]
        inkless, root = self._is_inkless[label], self._is_root[label]
        reach = max(self._reach, 1.5 * CELL / prepared.scale)
        for own, owners, anchors in (
            (visual[inkless], np.array(self._inkless), self._inkless_points),
            (visual[root], self._owners, self._feet),
            (visual[~inkless & ~root], self._owners, self._centers),
        ):
            if len(own) and len(owners):
                away = np.linalg.norm(points[own, None] - anchors, axis=2)
                nearest = away.argmin(1)
                near = away[np.arange(len(own)), nearest] <= reach
                found[own[near]] = owners[nearest[near]]
        return found

    @cached_property
    def _inkless_points(self) -> NDArray[np.float64]:
        return self.points(False)[self._inkless]

    @cached_property
    def _centers(self) -> NDArray[np.float64]:
        strokes = np.array([_center(stroke) for stroke in self._anchors]).reshape(-1, 2)
        return np.concatenate([self.points(False)[self._inked], strokes])

    @cached_property
    def _feet(self) -> NDArray[np.float64]:
        strokes = np.array([foot(stroke) for stroke in self._anchors]).reshape(-1, 2)
        return np.concatenate([self.points(True)[self._inked], strokes])

    def distributions(
        self,
        prepared: Prepared,
        scores: NDArray[np.float32],
        classes: NDArray[np.integer],
        said: NDArray[np.floating] | None = None,
    ) -> NDArray[np.float64]:
        """[L, K] P(class) of each symbol: geometric mean of VAT round its place (`scores` and
        `classes`, [C, h, w]) and of what PGD `said` of its nodes ([L, K], zeros for nothing)."""
        count = len(self.locks)
        seen = np.zeros((count, self.vocabulary.size))
        for as_root in (False, True):
            corners = np.floor(self.cells(prepared, as_root)).astype(int)
            for corner in ((0, 0), (0, 1), (1, 0), (1, 1)):
                rows, columns = np.clip(corners + corner, 0, np.array(scores.shape[1:]) - 1).T
                labels = classes[:, rows, columns]  # [C, L]
                fits = self._is_root[labels] == as_root
                numbers = np.broadcast_to(np.arange(count), labels.shape)
                score = np.where(fits, scores[:, rows, columns], 0)
                np.maximum.at(seen, (numbers, labels), score)
        asked = np.array([bool(lock.strokes) for lock in self.locks])[:, None] != self._is_inkless
        if said is None:
            said = seen
        said = np.where(said.any(1, keepdims=True), said, seen)
        shares = [np.where(asked, part, 0) for part in (seen, said)]
        shares = [part / np.maximum(part.sum(1, keepdims=True), FLOOR) + FLOOR for part in shares]
        both = np.where(asked, np.sqrt(shares[0] * shares[1]), 0)
        return both / both.sum(1, keepdims=True)


def said_of(
    owners: NDArray[np.int64], correction: NDArray[np.floating], count: int
) -> NDArray[np.float64]:
    """[L, K] sums of PGD's rows over the nodes of each of L symbols."""
    members = owners == np.arange(count)[:, None]
    return members.astype(np.float64) @ np.nan_to_num(correction[:, :-2])


def class_probabilities(
    passes: Sequence[Evidence],
    ink: Sequence[Stroke],
    symbols: Sequence[Lock],
    vocabulary: Vocabulary,
) -> list[list[tuple[str, float]]]:
    """The classes of each symbol and their probabilities, mean over all passes, falling."""
    places = Places(ink, symbols, vocabulary)
    sums = np.zeros((len(symbols), vocabulary.size))
    for one in passes:
        owners = places.owners(one.nodes, one.prepared)
        said = said_of(owners, one.correction, len(symbols))
        sums += places.distributions(one.prepared, one.scores, one.classes, said) / len(passes)
    order = np.argsort(-sums, axis=1, kind="stable")
    return [
        [(vocabulary.tokens[label], float(row[label])) for label in best.tolist()]
        for row, best in zip(sums, order, strict=True)
    ]


Box = tuple[float, float, float, float]


def meeting(base: Box, script: Box) -> tuple[float, float]:
    """Where a token without ink between two boxes stands: along each axis in the middle of the gap
    between them, or of their overlap."""
    x, y = ((sorted((*base[axis::2], *script[axis::2]))) for axis in (0, 1))
    return (x[1] + x[2]) / 2, (y[1] + y[2]) / 2


def _center(points: NDArray[np.floating]) -> NDArray[np.float64]:
    return (points.min(0).astype(np.float64) + points.max(0)) / 2


def _encloses(stroke: Stroke, points: NDArray[np.float64]) -> bool:
    """Whether the box of a stroke holds one of the points [n, 2]."""
    return bool(((stroke.min(0) < points) & (points < stroke.max(0))).all(1).any())
