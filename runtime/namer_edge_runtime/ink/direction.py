"""Direction of writing: whether ink seems upside down or mirrored, told from how it was written."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .strokes import Stroke

USUAL = 0.2
"""Share of the way, less that back, that hands go down and to the right at least; of 8,835 formulas
of CROHME's training set 6 % go less down, and 7 % less to the right."""
CLEAR, MANY = -0.3, 4
"""Share below which ink clearly runs up or to the left, and number of steps that are needed to
tell."""


class Mirroring(NamedTuple):
    """How ink is mirrored so that it runs down and to the right, as in most hands."""

    factors: tuple[float, float]
    """Factors of x and y, 1 or -1; both 1 for ink that already runs down and to the right."""
    clear: bool
    """Whether it clearly runs the other way; else it may be upright, as roots are, which end above
    where they begin."""


def mirroring(strokes: Sequence[Stroke]) -> Mirroring:
    """From how strokes that are no wider than high run down, and all follow each other."""
    sizes = np.array([np.ptp(stroke, axis=0) for stroke in strokes])
    upright = [stroke for stroke, (x, y) in zip(strokes, sizes, strict=True) if x <= y]
    centers = np.array([stroke.min(0) + stroke.max(0) for stroke in strokes], np.float64)
    steps = np.diff(centers[:, 0]), np.array([s[-1, 1] - s[0, 1] for s in upright], np.float64)
    shares = [_share(step) for step in steps]
    x, y = (-1.0 if share < USUAL else 1.0 for share in shares)
    turned = [pair for pair in zip(steps, shares, strict=True) if pair[1] < USUAL]
    return Mirroring((x, y), all(len(s) >= MANY and share < CLEAR for s, share in turned))


def _share(steps: NDArray[np.float64]) -> float:
    """Share of the way that is left after the way back is subtracted."""
    length = float(np.abs(steps).sum())
    return float(steps.sum()) / length if length > 0 else 1.0
