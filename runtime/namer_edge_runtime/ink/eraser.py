"""Eraser strokes: what they leave of the strokes drawn before them."""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

SIDE = 2048
"""Pixels of the longer side of the picture in which strokes and erasers meet."""
MOST_SAMPLES = 2_000_000
"""Points at which strokes are looked at, one for each pixel of their way where there are fewer."""

Points = NDArray[np.float64]


def erased(drawn: Sequence[list[Points]], widths: Sequence[float | None]) -> list[list[Points]]:
    """What is left of strokes in the order of drawing, each as its lines [n, 2]; one that has a
    width is an eraser, of which nothing is left.

    Lines that no later eraser meets stay as they are.
    """
    lines = [line for lines in drawn for line in lines]
    low = np.min([line.min(0) for line in lines], axis=0)
    extent = float(np.max([line.max(0) - low for line in lines]))
    scale = SIDE / extent if extent > 0 else 1.0
    way = scale * sum(float(np.hypot(*np.diff(line, axis=0).T).sum()) for line in lines)
    step = max(1.0, way / MOST_SAMPLES)
    gone = np.zeros((SIDE + 1, SIDE + 1), np.uint8)
    left: list[list[Points]] = []
    for lines, width in zip(reversed(drawn), reversed(widths), strict=True):
        placed = [(line - low) * scale for line in lines]
        if width is None:
            pairs = zip(lines, placed, strict=True)
            left.append([piece for line, at in pairs for piece in _left(line, at, gone, step)])
            continue
        thickness = int(np.clip(round(width * scale), 1, SIDE))
        for at in placed:
            points = np.round(np.concatenate([at, at[-1:]])).astype(np.int32)
            cv2.polylines(gone, [points], False, 255, thickness)
        left.append([])
    return left[::-1]


def _left(line: Points, placed: Points, gone: NDArray[np.uint8], step: float) -> list[Points]:
    """The pieces of a line that are not `gone`, where its points are `placed` in the picture."""
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(placed, axis=0).T))])
    along = np.unique(np.concatenate([way, np.arange(0.0, way[-1], step)]))
    columns, rows = (np.round(np.interp(along, way, axis)).astype(int) for axis in placed.T)
    met = gone[rows, columns] > 0
    if not met.any():
        return [line]
    fine = np.column_stack([np.interp(along, way, axis) for axis in line.T])
    runs = np.split(np.arange(len(along)), np.flatnonzero(np.diff(met)) + 1)
    return [fine[run] for run in runs if not met[run[0]]]
