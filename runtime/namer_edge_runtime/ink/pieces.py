"""Strokes in pieces: segments, parts of a stream, or what a program's eraser left of strokes.

Whole strokes begin apart from where the one before ended: of those of 1,100 formulas of CROHME's
training set 2.4 % lie within a fifth of a symbol's height from there, pieces nearly always.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .strokes import BAR, Stroke, Strokes, bounds, extents, symbol_height

GAP = 0.2
"""Pieces lie this near, in heights of a typical symbol."""
STEP = 12.0
"""Points that are a stroke each lie this near, in median distances from one to the next."""
POINTS = 0.9
"""Share of strokes of a single point from which on the strokes are taken for points of some."""
SHARE, LEAST = 0.25, 4
"""Ink is in pieces where this share and number of its strokes, or more, go on from the last one."""
NEAR = 0.9
"""Largest ratio of the median gap to the median stroke size: 0 to 0.7 for pieces; 1.3 and more for
the whole strokes of a long page, which are near by the height of all."""
GROWTH = 1.25
"""Least ratio of a typical symbol's height after joining to that before."""


def whole(strokes: Sequence[Stroke]) -> Strokes:
    """The strokes, those in `groups` as one each, across the gaps between them."""
    return _joined(strokes, groups(strokes))


def groups(strokes: Sequence[Stroke]) -> list[range]:
    """The numbers of the strokes that are pieces of one stroke: ranges, in order."""
    alone = [range(n, n + 1) for n in range(len(strokes))]
    if len(strokes) <= LEAST:
        return alone
    gaps = _gaps(strokes)
    if np.mean([len(stroke) == 1 for stroke in strokes]) >= POINTS:
        moved = gaps[gaps > 0]
        return _linked(gaps <= STEP * np.median(moved)) if len(moved) else alone
    _, top, _, bottom = bounds(strokes)
    height = bottom - top
    while True:  # heights fall to the largest that fits its own gaps
        links = gaps <= GAP * height
        if links.sum() < max(LEAST, SHARE * len(strokes)):
            return alone
        found = _linked(links)
        before, height = height, symbol_height(_joined(strokes, found))
        if height >= 0.99 * before:
            grown = height >= GROWTH * symbol_height(strokes)
            near = np.median(gaps[links]) <= NEAR * np.median(extents(strokes).max(axis=1))
            return found if grown and near and _has_symbols(strokes, found) else alone


def _has_symbols(strokes: Sequence[Stroke], found: Sequence[range]) -> bool:
    """Whether any stroke, once joined, is no bar: rows of small writing become nothing but bars."""
    boxes = np.array([bounds(strokes[group.start : group.stop]) for group in found])
    width, height = (boxes[:, 2:] - boxes[:, :2]).T
    return bool((width <= BAR * height).any())


def _gaps(strokes: Sequence[Stroke]) -> NDArray[np.float64]:
    """From the end of each stroke but the last to the beginning of the next."""
    return np.array([np.hypot(*(b[0] - a[-1])) for a, b in pairwise(strokes)], np.float64)


def _linked(links: NDArray[np.bool_]) -> list[range]:
    """Ranges of neighbors that are linked, from whether each is to the next."""
    edges = [0, *(np.flatnonzero(~links) + 1).tolist(), len(links) + 1]
    return [range(*pair) for pair in pairwise(edges)]


def _joined(strokes: Sequence[Stroke], found: Sequence[range]) -> Strokes:
    return [np.concatenate(strokes[group.start : group.stop]) for group in found]
