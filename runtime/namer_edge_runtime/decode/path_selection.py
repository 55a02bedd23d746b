"""Path selection of a batch in one compiled call: revise, build, k longest paths, repair, score.

The paper's formula is the longest path, where nodes to delete are left out first. Weighed, beyond
the paper, nothing is deleted ahead: the paths are the most probable ones, in which each node is
either read or deleted, through all edges but the weakest.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import reference
from .graph import enter, fill_revised, list_edges, weigh
from .hypothesis import Hypothesis
from .jit import kernel, part
from .path import extend, trace
from .pick import EOS, SOS
from .repair import walk
from .thresholds import MIN_CLASS, MIN_DELETE, MIN_EDGE, MIN_PROBABILITY

MOST_PLAIN_NODES = 512
"""Nodes up to which the plain twin answers while kernels compile: less than a second a pass."""


@dataclass(frozen=True)
class RankedPaths:
    """The R longest, or most probable, paths of B formulas, repaired: what `select_paths` gives."""

    nodes: NDArray[np.int64]
    """[B, R, N] without `<sos>` and `<eos>`, 0 beyond their number."""
    counts: NDArray[np.int64]
    """[B, R] number of nodes of each path."""
    scores: NDArray[np.float64]
    """[B, R] `Hypothesis.score`, that of an empty path as if it were none; -1: no such path."""
    repaired: NDArray[np.bool_]
    """[B, R]."""
    classes: NDArray[np.int64]
    """[B, N] revised class of each node."""
    node_scores: NDArray[np.float32]
    """[B, N] its probability by the self head."""

    def hypothesis(self, row: int, rank: int) -> Hypothesis:
        count = self.counts[row, rank]
        nodes = self.nodes[row, rank, :count]
        return Hypothesis(
            nodes,
            self.classes[row, nodes],
            float(self.scores[row, rank]) if count else 0.0,
            self.node_scores[row, nodes],
            bool(self.repaired[row, rank]),
        )


def _is_dense(*args: Any, **_: Any) -> bool:
    """Whether the plain twin would take longer than compiling: its time grows with the third power
    of the nodes."""
    return int(args[5].max(initial=0)) > MOST_PLAIN_NODES


@kernel(plain=reference.select_paths, is_heavy=_is_dense)
def select_paths(
    self_probs: NDArray[np.float32],
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    classes: NDArray[np.int64],
    parents: NDArray[np.int64],
    sizes: NDArray[np.int64],
    vocabulary_endings: NDArray[np.int8],
    epsilon: float,
    left_weight: float,
    right_weight: float,
    weighed: bool,
    ranks: int,
) -> reference.Arrays:
    """The fields of `RankedPaths` for heads and nodes [B, N, …], `sizes` [B] of them real.

    Not `weighed`, paths are ranked by the sum of E over the edges that are at least `epsilon`;
    `weighed`, by their probability.
    """
    end = len(vocabulary_endings)
    total = left_weight + right_weight
    batch, most = classes.shape
    chosen = np.zeros((batch, ranks, most), np.int64)
    counts = np.zeros((batch, ranks), np.int64)
    scores = np.full((batch, ranks), -1.0)
    repaired = np.zeros((batch, ranks), np.bool_)
    labels = np.zeros((batch, most), np.int64)
    class_probs = np.zeros((batch, most), np.float32)
    # Room for the largest formula, which all of the batch use one after the other.
    alive = np.empty(most, np.bool_)
    edges = np.empty((most, most), np.float64)
    inside = np.empty((most, most), np.bool_)
    reaches = np.empty((most, most), np.bool_)
    heap = np.empty(most * most, np.int64)
    targets = np.empty(most * most // 2, np.int64)  # without cycles there are no more
    weights = np.empty(most * most // 2, np.float64)
    lengths = np.empty((most, ranks), np.float64)
    before = np.empty((most, ranks), np.int64)
    rank_before = np.empty((most, ranks), np.int64)
    room = np.empty((5, most + 1), np.int64)
    route = np.empty(most, np.int64)
    deleted = np.empty(most, np.float64)
    read = np.empty(most, np.bool_)
    for b in range(batch):
        size = sizes[b]
        own = labels[b]
        fill_revised(
            self_probs[b], classes[b], parents[b], size, vocabulary_endings, not weighed, own
        )
        for node in range(size):
            deleted[node] = 1.0
            if node > EOS:
                class_probs[b, node] = _number(self_probs[b, node, own[node]])
                if parents[b, node] < 0:
                    deleted[node] = max(MIN_DELETE, _number(self_probs[b, node, end + 1]))
        for node in range(size):
            symbol = parents[b, node] if parents[b, node] >= 0 else node
            alive[node] = own[node] != end + 1 and (
                not weighed or symbol <= EOS or class_probs[b, symbol] >= MIN_CLASS
            )
        weigh(left[b], right[b], alive, size, left_weight, right_weight, edges)
        least = MIN_EDGE * total if weighed else epsilon
        count = enter(edges, alive, size, least, inside, reaches, heap)
        sources = heap  # done with
        list_edges(edges, inside, size, sources, targets, weights)
        if weighed:
            _to_likelihood(weights, targets, count, class_probs[b], deleted, total)
        found = extend(
            sources, targets, weights, count, size, ranks, lengths, before, rank_before, room
        )
        for rank in range(found):
            inner = trace(rank, before, rank_before, route) - 2
            path = route[1:]
            walked = chosen[b, rank]
            reached = walk(path, inner, parents[b], size, edges, room, walked)
            walked[reached:] = 0
            counts[b, rank] = reached
            scores[b, rank] = _score(
                walked, reached, class_probs[b], deleted, size, edges, total, read
            )
            repaired[b, rank] = not np.array_equal(walked[:reached], path[:inner])
    return chosen, counts, scores, repaired, labels, class_probs


@part
def _number(probability: float) -> float:
    """A probability as it is, 0 for NaN."""
    return 0.0 if np.isnan(probability) else np.float64(probability)


@part
def _to_likelihood(
    weights: NDArray[np.float64],
    targets: NDArray[np.int64],
    count: int,
    class_probs: NDArray[np.float32],
    deleted: NDArray[np.float64],
    total: float,
) -> None:
    """From E of each edge, in place, to what it adds to the logarithm of `_score`: E / `total`, and
    P(class) of its target, which is then not deleted."""
    for edge in range(count):
        target = targets[edge]
        weights[edge] = np.log(max(MIN_PROBABILITY, weights[edge] / total))
        if target > EOS:
            weights[edge] += np.log(max(MIN_PROBABILITY, np.float64(class_probs[target])))
            weights[edge] -= np.log(deleted[target])


@part
def _score(
    path: NDArray[np.int64],
    count: int,
    class_probs: NDArray[np.float32],
    deleted: NDArray[np.float64],
    size: int,
    edges: NDArray[np.float64],
    total: float,
    read: NDArray[np.bool_],
) -> float:
    """`Hypothesis.score` of `path[:count]`: product of P(class), E / `total` and P(delete).

    `class_probs` and `deleted` [N] are P(class) and P(delete); `read` [N] is scratch memory.
    """
    product = 1.0
    previous = SOS
    read[:size] = False
    for place in range(count):
        node = path[place]
        product *= edges[previous, node] / total * class_probs[node]
        read[node] = True
        previous = node
    product *= edges[previous, EOS] / total
    for node in range(2, size):
        if not read[node]:
            product *= deleted[node]
    return min(1.0, product)
