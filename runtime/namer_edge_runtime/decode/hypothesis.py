"""One hypothesis of path selection: a formula and its probability."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Hypothesis:
    """One path through the nodes; it is well nested, so it serializes to balanced LaTeX."""

    nodes: NDArray[np.int64]
    """[n] indices into `Nodes` in reading order, without `<sos>` and `<eos>`."""
    classes: NDArray[np.int64]
    """[n] revised class of each: a visual class, or K for "}"."""
    score: float
    """In [0, 1]: product of P(class) over the nodes, of E / (sum of weights) over the edges from
    `<sos>` to `<eos>`, those that repair made included, and of P(delete) over the visual nodes that
    are left out (eq. 6, 10). An empty hypothesis has score 0."""
    node_scores: NDArray[np.float32]
    """[n] P(class) of each node by the self head."""
    repaired: bool
    """The path was not well nested and had to be changed (`repair.py`)."""
