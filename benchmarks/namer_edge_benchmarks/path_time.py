"""Time of path selection by the number of nodes."""

from time import process_time

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.decode import Nodes, decode


def path_time(endings: NDArray[np.integer], count: int, k_best: int = 0) -> float:
    """Microseconds of processor time of a sure path through `count` nodes, the best of 30 runs of
    20; `endings` are those of a vocabulary's classes, `k_best` as in `DecodingOptions`."""
    random = np.random.default_rng(0)
    order = np.r_[0, 2 + random.permutation(count - 2), 1]
    left, right = np.full((2, count, count), 0.1 / count, np.float32)
    right[order[:-1], order[1:]] = left[order[1:], order[:-1]] = 0.9
    symbol = int(np.flatnonzero(endings == 0)[0])
    classes = np.full(count, symbol)
    probs = np.full((count, len(endings) + 2), 1e-3, np.float32)
    probs[:, symbol] = 0.9
    none = np.zeros(count, np.int64)
    nodes = Nodes(np.zeros((count, 2), np.int64), classes, none, none - 1, probs[:, symbol].copy())
    best = float("inf")
    for _ in range(30):
        started = process_time()
        for _ in range(20):
            decode(probs, left, right, nodes, endings, k_best=k_best)
        best = min(best, (process_time() - started) / 20)
    return best * 1e6
