"""A reading of a formula, and how likely it is."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .pick import EOS, SOS, Nodes
from .repair import repair
from .thresholds import LEAST_DELETED


@dataclass(frozen=True)
class Hypothesis:
    """One reading of a formula; its nodes are well nested, so it serializes to balanced LaTeX."""

    nodes: NDArray[np.int64]
    """[n] indices into the `Nodes` it was decoded from, in reading order, `<sos>`, `<eos>` not."""
    classes: NDArray[np.int64]
    """[n] revised class of each: a visual class, or K for "}"."""
    score: float
    """In [0, 1]: product of P(class) over the nodes, of E / (sum of weights) over the edges from
    `<sos>` to `<eos>`, those that repair made included, and of P(delete) over the visual nodes that
    it leaves out (eq. 6, 10). An empty reading has score 0."""
    node_scores: NDArray[np.float32]
    """[n] P(class) of each node by the self head."""
    repaired: bool
    """The longest path was not well nested and had to be changed (see `repair`)."""


@dataclass(frozen=True)
class Evidence:
    """What PGD says of N nodes, as path selection needs it."""

    nodes: Nodes
    self_probs: NDArray[np.float32]
    """[N, K + 2] the self head."""
    edges: NDArray[np.float64]
    """[N, N] E / (sum of weights) from row to column, in [0, 1]."""

    @cached_property
    def deleted(self) -> NDArray[np.float64]:
        """[N] P(delete) of each visual node, at least `LEAST_DELETED`; 1 for the others."""
        said = np.nan_to_num(self.self_probs[:, -1]).astype(np.float64)
        others = self.nodes.parents >= 0
        others[[SOS, EOS]] = True
        return np.where(others, 1.0, np.maximum(said, LEAST_DELETED))

    def read(self, route: NDArray[np.int64], classes: NDArray[np.int64]) -> Hypothesis:
        """The reading along a route [n], `<sos>` and `<eos>` included, where node i is of class
        `classes[i]`; repaired where it is not well nested."""
        inner = route[1:-1]
        chosen = repair(inner, self.nodes.parents, self.edges)
        node_scores = np.nan_to_num(self.self_probs[chosen, classes[chosen]])
        whole = np.concatenate(([SOS], chosen, [EOS]))
        score = 0.0
        if len(chosen):
            edges = self.edges[whole[:-1], whole[1:]]
            product = np.prod(node_scores, dtype=np.float64) * np.prod(edges)
            score = float(np.clip(product * np.delete(self.deleted, chosen).prod(), 0, 1))
        return Hypothesis(
            nodes=chosen,
            classes=classes[chosen],
            score=score,
            node_scores=node_scores.astype(np.float32),
            repaired=not np.array_equal(inner, chosen),
        )
