"""Bipartite matching: the cell at which VAT learns each label token ("Visual Aware Tokenizer").

The matching is one-to-one. Tokens that shared a cell would leave all but one of them without a
node, and a token with several cells would be read several times: one token, one node keeps VAT's
targets what PGD joins into a path. Positions from ink or a teacher are only estimates, so each
token may take any cell of a window round its own.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ..data.batches import UNKNOWN

OUTSIDE = 1e3
"""Cost of a cell outside a token's window, above any sum of costs inside."""


def match(
    probabilities: NDArray[np.float32],
    classes: NDArray[np.int64],
    estimates: NDArray[np.int64],
    window: int = 5,
) -> NDArray[np.int64]:
    """Assigns a cell to each visual label token, jointly the most probable ones.

    probabilities: [K + 1, h, w], VAT's prediction P (eq. 2); classes [V] of the label's visual
    tokens, `UNKNOWN` for out-of-vocabulary signs, which match any class; estimates [V, 2] (row,
    column) of their positions, T; window: k, cells.
    Returns cells [V, 2], no cell twice: the assignment that minimizes the sum of 1 - P over the
    k × k windows round T. Only cells inside windows enter the cost matrix. Windows that are too
    crowded for all tokens widen by 2. Raises `ValueError` for more tokens than cells.
    """
    _, height, width = probabilities.shape
    if len(classes) > height * width:
        raise ValueError(f"{len(classes)} tokens cannot share {height} x {width} cells")
    flat = probabilities.reshape(len(probabilities), -1)  # [K + 1, h·w]
    wanted = np.where((classes == UNKNOWN)[:, None], 1 - flat[-1], flat[classes])  # [V, h·w]
    while True:
        near = _windows(estimates, window, height, width)  # [V, h·w]
        cells = np.flatnonzero(near.any(0))
        if len(cells) >= len(classes):
            cost = 1.0 - wanted[:, cells]  # [V, cells]
            cost[~near[:, cells]] = OUTSIDE
            rows, columns = linear_sum_assignment(cost)
            if (cost[rows, columns] < OUTSIDE).all():
                chosen = cells[columns]
                return np.stack([chosen // width, chosen % width], 1)
        window += 2


def _windows(
    estimates: NDArray[np.int64], window: int, height: int, width: int
) -> NDArray[np.bool_]:
    """[V, h·w] whether a cell lies in the window round each estimate."""
    reach = window // 2
    rows = np.abs(np.arange(height) - estimates[:, :1]) <= reach
    columns = np.abs(np.arange(width) - estimates[:, 1:]) <= reach
    return (rows[:, :, None] & columns[:, None, :]).reshape(-1, height * width)
