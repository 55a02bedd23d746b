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
    """`assign` by VAT's prediction P [K + 1, h, w] (eq. 2), for the classes [V] of the label's
    visual tokens, `UNKNOWN` for out-of-vocabulary signs, which match any class."""
    unknown = (classes == UNKNOWN)[:, None, None]
    return assign(
        np.where(unknown, 1 - probabilities[-1], probabilities[classes]), estimates, window
    )


def assign(
    wanted: NDArray[np.float32], estimates: NDArray[np.int64], window: int = 5
) -> NDArray[np.int64]:
    """Assigns a cell to each visual label token, jointly the most probable ones.

    wanted: [V, h, w], the probability of each token's class in every cell; estimates [V, 2] (row,
    column) of their positions, T; window: k, cells.
    Returns cells [V, 2], no cell twice: the assignment that minimizes the sum of 1 - P over the
    k × k windows round T. Only cells inside windows enter the cost matrix. Windows that are too
    crowded for all tokens widen by 2. Raises `ValueError` for more tokens than cells.
    """
    count, height, width = wanted.shape
    if count > height * width:
        raise ValueError(f"{count} tokens cannot share {height} x {width} cells")
    flat = wanted.reshape(count, height * width)  # [V, h·w]
    while True:
        near = _windows(estimates, window, height, width)  # [V, h·w]
        cells = np.flatnonzero(near.any(0))
        if len(cells) >= count:
            cost = 1.0 - flat[:, cells]  # [V, cells]
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
