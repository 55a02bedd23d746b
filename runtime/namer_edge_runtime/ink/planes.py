"""Stroke planes: how ink was written, painted beside its picture for models that read both."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..preprocessing import STROKE_PLANES
from .strokes import Stroke

STEP = 1.0
"""Distance in pixels at which strokes are resampled: how a device samples the pen plays no part."""
REACH = 2
"""A direction is that of the chord from so many resampled points before to as many after."""
STAMP = 2
"""Pixels round a resampled point, each way, that take its values."""
ORDER = 8
"""Strokes are numbered modulo this in the order of writing: neighbors in time differ by one."""
_OFFSETS = np.array(
    sorted(
        ((y, x) for y in range(-STAMP, STAMP + 1) for x in range(-STAMP, STAMP + 1)),
        key=lambda offset: -(offset[0] ** 2 + offset[1] ** 2),
    )
)
"""Offsets (row, column) of a stamp, the furthest first, so that the nearest point has a pixel."""


def stroke_planes(strokes: Sequence[Stroke], ink: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Strokes in pixels and their picture [H, W] → uint8 [STROKE_PLANES, H, W]: on ink 1 to 255, 0
    elsewhere.

    The planes are cosine and sine of the direction of writing (128 for 0; x to the right, y down),
    the place along the stroke from 1 at its start to 255 at its end, and the number of the stroke
    modulo `ORDER`. A pixel takes the values of the nearest point, and of the later of two.
    """
    height, width = ink.shape
    places, values = _points(strokes)
    columns, rows = np.floor(places).astype(np.intp).T
    across = width + 2 * STAMP
    cells = (np.clip(rows, 0, height - 1) + STAMP) * across + np.clip(columns, 0, width - 1) + STAMP
    stamps = cells + (_OFFSETS @ (across, 1))[:, None]
    nearest = np.full((height + 2 * STAMP) * across, len(values), np.int32)
    nearest[stamps] = np.arange(len(values), dtype=np.int32)
    inside = nearest.reshape(-1, across)[STAMP:-STAMP, STAMP:-STAMP]
    table = np.concatenate([values, np.zeros((1, STROKE_PLANES), np.uint8)])
    planes = np.zeros((STROKE_PLANES, height, width), np.uint8)
    drawn = ink > 0
    planes[:, drawn] = table[inside[drawn]].T
    return planes


def _points(strokes: Sequence[Stroke]) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """All strokes resampled evenly: places [P, 2] (x, y) and values [P, STROKE_PLANES]."""
    lengths = np.array([len(stroke) for stroke in strokes])
    points = np.concatenate(strokes).astype(np.float64)
    steps = np.hypot(*np.diff(points, axis=0, prepend=points[:1]).T)
    first = np.cumsum(lengths) - lengths
    steps[first] = 0.0  # the pen is lifted before each
    way = np.cumsum(steps)
    starts, extents = way[first], way[first + lengths - 1] - way[first]
    counts = np.ceil(extents / STEP).astype(np.intp) + 1
    owner = np.repeat(np.arange(len(strokes)), counts)
    begin = np.cumsum(counts) - counts
    number = np.arange(len(owner)) - begin[owner]
    share = number / np.maximum(counts - 1, 1)[owner]
    # A lift takes some way too, so that one interpolation serves all strokes.
    lift = 2 * np.arange(len(strokes))
    wanted = starts[owner] + share * extents[owner] + lift[owner]
    along = way + np.repeat(lift, lengths)
    places = np.column_stack([np.interp(wanted, along, points[:, axis]) for axis in (0, 1)])
    low, high = begin[owner], (begin + counts - 1)[owner]
    here = np.arange(len(owner))
    chord = places[np.minimum(here + REACH, high)] - places[np.maximum(here - REACH, low)]
    chord /= np.maximum(np.hypot(*chord.T), 1e-9)[:, None]
    share = np.where(counts[owner] > 1, share, 0.5)  # a dot has neither start nor end
    order = owner % ORDER / (ORDER - 1)
    values = np.column_stack([128 + 127 * chord, 1 + 254 * share, 1 + 254 * order])
    return places, np.round(values).astype(np.uint8)
