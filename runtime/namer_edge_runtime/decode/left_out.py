"""What a path leaves out: a second line, or signs that nothing connects to the formula.

PGD deletes nodes that stand for nothing. A node that it would keep, far from all that was read,
is something that the reading does not say.
"""

import numpy as np
from numpy.typing import NDArray

from .pick import Nodes
from .reading import Path

NEAR = 3
"""Cells (rows or columns, whichever is more) from a node that was read within which others are
taken for the same symbol, as one of them mostly spans several cells."""


def nothing_left(path: Path, nodes: Nodes, self_probs: NDArray[np.float32]) -> float:
    """Probability in [0, 1] that all nodes off `path` stand for nothing: the product of P(delete)
    (eq. 6) over the visual ones that lie further than `NEAR` from each that is on it; 1 for none.

    self_probs: [N, K + 2] or more rows, the self head.
    """
    visual = np.flatnonzero(nodes.parents < 0)[2:]
    off = np.setdiff1d(visual, path.nodes)
    if not len(off) or not len(path.nodes):
        return 1.0
    apart = np.abs(nodes.cells[off][:, None] - nodes.cells[path.nodes][None]).max(2).min(1)
    deleted = np.nan_to_num(self_probs[off[apart > NEAR], -1]).astype(np.float64)
    return float(np.clip(deleted.prod(), 0, 1))
