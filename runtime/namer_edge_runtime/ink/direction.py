"""Direction of writing: whether ink seems upside down or mirrored, told from how it was written."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .strokes import Stroke

USUAL = 0.2
"""Share of the way, less that back, that hands go down and to the right at least; of 8,835 formulas
of CROHME's training set 6 % go less down, and 7 % less to the right."""


def mirroring(strokes: Sequence[Stroke]) -> tuple[float, float]:
    """Factors of x and y, 1 or -1, after which strokes run down and follow each other to the right,
    as they do in most hands; both 1 where they do so already."""
    ways = np.array([stroke[-1] - stroke[0] for stroke in strokes], np.float64)
    centers = np.array([stroke.min(0) + stroke.max(0) for stroke in strokes], np.float64)
    return _sign(np.diff(centers[:, 0])), _sign(ways[:, 1])


def _sign(steps: NDArray[np.float64]) -> float:
    length = float(np.abs(steps).sum())
    return -1.0 if length > 0 and steps.sum() < USUAL * length else 1.0
