"""Pen strokes: the form they are passed around in, and how large their symbols are."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InkError
from .forms import WANTED, check_ends, check_points, point_lists

Stroke = NDArray[np.floating]
"""One stroke, [n, 2] (x, y), y growing downwards, n ≥ 1, any unit; float64 where float32 would
blur it (`to_strokes`)."""
Strokes = list[Stroke]

FURTHEST = 1e15
"""Coordinates further from 0 are none: their differences and squares would leave float32."""
FINE = 4096
"""Parts of its extent that a formula is drawn in: about the pixels of the largest."""
DOT = 0.2
"""Strokes smaller than this share of the largest typical one are dots, not symbols."""
BAR = 3.5
"""Strokes this much wider than high are bars (minus, fraction, equals), not heights of symbols."""


def as_strokes(value: Iterable[Any]) -> Strokes:
    """Anything like [[(x, y), …], …] → `Strokes`; further channels of a point are dropped. Other
    forms are read where they can be nothing else (`point_lists`).

    Raises `InkError` where that is no list of strokes, or a stroke is empty, not two-dimensional or
    holds what is no number, beyond `FURTHEST`, or a mark instead of a point.
    """
    strokes = []
    for number, points in enumerate(point_lists(value)):
        try:
            stroke = np.asarray(points, np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InkError(
                f"stroke {number} is no list of (x, y) points ({error}): {WANTED}"
            ) from None
        if stroke.ndim != 2 or stroke.shape[0] < 1 or stroke.shape[1] < 2:
            raise InkError(
                f"stroke {number} has shape {stroke.shape}; give one (x, y) for each of its points"
            )
        check_points(number, stroke)
        if not (np.abs(stroke[:, :2]) <= FURTHEST).all():
            raise InkError(
                f"stroke {number} holds a coordinate that is not a finite number, or beyond "
                f"{FURTHEST:g}"
            )
        strokes.append(stroke[:, :2])
    check_ends(strokes)
    return to_strokes(strokes)


def to_strokes(lines: Sequence[NDArray[np.float64]]) -> Strokes:
    """Lines [n, 2] as strokes: float32, or float64 where they lie so far from the origin that
    float32 would move them by a part in `FINE` of their extent."""
    if not lines:
        return []
    low = np.min([line.min(0) for line in lines], axis=0)
    high = np.max([line.max(0) for line in lines], axis=0)
    reach = float(np.abs([low, high]).max())
    blurred = reach * float(np.finfo(np.float32).eps) * FINE > float((high - low).max())
    kind = np.float64 if blurred else np.float32
    return [np.ascontiguousarray(line, kind) for line in lines]


def bounds(strokes: Sequence[Stroke]) -> tuple[float, float, float, float]:
    """Smallest box round all strokes: x0, y0, x1, y1 in their unit. At least one is needed."""
    # By coordinate, each contiguous: NumPy reduces rows of two many times as slowly.
    columns = np.concatenate(strokes).T.copy()  # [2, P]
    (x0, y0), (x1, y1) = columns.min(1), columns.max(1)
    return float(x0), float(y0), float(x1), float(y1)


def foot(points: NDArray[np.floating]) -> NDArray[np.float64]:
    """Position (x, y) of a root sign with these points [n, 2].

    x is that of the lowest point in the left half, y that of the center of the box.
    """
    x, y = (points.min(0).astype(np.float64) + points.max(0)) / 2
    left = points[points[:, 0] <= x]
    return np.array([left[left[:, 1].argmax(), 0], y], np.float64)


def typical_height(sizes: NDArray[np.floating]) -> float:
    """Height of a typical symbol from the sizes [n, 2] (width, height) of strokes or components.

    Dots and bars say nothing about the height of a symbol, so they are left out; of the rest the
    upper part counts, since scripts are small and a symbol may be drawn in pieces. Where only
    bars and dots are left, a bar counts for a symbol as high as it is wide. Same unit as `sizes`;
    0 where there is nothing with an extent.
    """
    if len(sizes) == 0:
        return 0.0
    width, height = sizes[:, 0], sizes[:, 1]
    upright = np.sort(height[(width <= BAR * height) & (height > 0)])
    if len(upright):
        return _quantile(upright[upright >= DOT * _quantile(upright, 0.75)], 0.65)
    return float(np.median(width)) if width.max() > 0 else 0.0


def _quantile(ordered: NDArray[np.floating], share: float) -> float:
    """As `np.quantile` of numbers in order, which takes 20 times as long for a few of them."""
    place = share * (len(ordered) - 1)
    low = int(place)
    first, second = float(ordered[low]), float(ordered[min(low + 1, len(ordered) - 1)])
    part, step = place - low, second - first
    return second - step * (1 - part) if part >= 0.5 else first + step * part


def symbol_height(strokes: Sequence[Stroke]) -> float:
    """Height of a typical symbol, in the strokes' unit; 0 for dots alone."""
    return typical_height(extents(strokes))


def extents(strokes: Sequence[Stroke]) -> NDArray[np.float64]:
    """Width and height of each stroke, [strokes, 2]."""
    sizes = np.array([stroke.max(0) - stroke.min(0) for stroke in strokes], np.float64)
    return sizes.reshape(-1, 2)
