"""Path selection of a whole batch in one compiled call: revise, build, longest path, repair."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import reference
from .graph import enter, fill_revised, list_edges, weigh
from .jit import kernel, part, plain_array
from .path import extend, trace
from .pick import EOS, SOS, Nodes
from .reading import Path
from .repair import walk


def select(
    self_probs: NDArray[np.float32],
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    nodes: Sequence[Nodes],
    vocabulary_endings: NDArray[np.integer],
    *,
    epsilon: float,
    left_weight: float,
    right_weight: float,
) -> list[Path]:
    """The longest path through each of B formulas, repaired (section "Path Selection").

    Arguments are those of `decode_all`, which checks them.
    """
    shape = (len(nodes), max(map(len, nodes), default=0))
    classes = np.zeros(shape, np.int64)
    parents = np.zeros(shape, np.int64)
    sizes = np.array([len(own) for own in nodes], np.int64)
    for row, own in enumerate(nodes):
        classes[row, : len(own)] = own.classes
        parents[row, : len(own)] = own.parents
    chosen, revised, node_scores, counts, scores, repaired = _select(
        plain_array(self_probs, np.float32),
        plain_array(left, np.float32),
        plain_array(right, np.float32),
        classes,
        parents,
        sizes,
        plain_array(vocabulary_endings, np.int8),
        float(epsilon),
        float(left_weight),
        float(right_weight),
    )
    return [
        Path(
            nodes=chosen[row, :count],
            classes=revised[row, :count],
            score=score,
            node_scores=node_scores[row, :count],
            repaired=changed,
        )
        for row, (count, score, changed) in enumerate(
            zip(counts.tolist(), scores.tolist(), repaired.tolist(), strict=True)
        )
    ]


@kernel(plain=reference.select)
def _select(
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
) -> reference.Arrays:
    batch, most = classes.shape
    chosen = np.zeros((batch, most), np.int64)
    revised = np.zeros((batch, most), np.int64)
    node_scores = np.zeros((batch, most), np.float32)
    counts = np.zeros(batch, np.int64)
    scores = np.zeros(batch, np.float64)
    repaired = np.zeros(batch, np.bool_)
    # Room for the largest formula, which all of the batch use one after the other.
    labels = np.empty(most, np.int64)
    alive = np.empty(most, np.bool_)
    edges = np.empty((most, most), np.float64)
    inside = np.empty((most, most), np.bool_)
    reaches = np.empty((most, most), np.bool_)
    heap = np.empty(most * most, np.int64)
    targets = np.empty(most * most // 2, np.int64)  # without cycles there are no more
    weights = np.empty(most * most // 2, np.float64)
    lengths = np.empty((most, 1), np.float64)
    before = np.empty((most, 1), np.int64)
    ranks = np.empty((most, 1), np.int64)
    room = np.empty((5, most + 1), np.int64)
    route = np.empty(most, np.int64)
    for b in range(batch):
        size = sizes[b]
        fill_revised(self_probs[b], classes[b], parents[b], size, vocabulary_endings, labels)
        for node in range(size):
            alive[node] = labels[node] != len(vocabulary_endings) + 1
        weigh(left[b], right[b], alive, size, left_weight, right_weight, edges)
        count = enter(edges, alive, size, epsilon, inside, reaches, heap)
        sources = heap  # done with
        list_edges(edges, inside, size, sources, targets, weights)
        extend(sources, targets, weights, count, size, 1, lengths, before, ranks, room)
        inner = trace(0, before, ranks, route) - 2
        path = route[1:]
        counts[b] = walk(path, inner, parents[b], size, edges, room, chosen[b])
        repaired[b] = counts[b] != inner
        for place in range(counts[b]):
            node = chosen[b, place]
            score = self_probs[b, node, labels[node]]
            revised[b, place] = labels[node]
            node_scores[b, place] = 0 if np.isnan(score) else score
            if not repaired[b]:
                repaired[b] = path[place] != node
        scores[b] = _probability(
            chosen[b], node_scores[b], counts[b], edges, left_weight + right_weight
        )
    return chosen, revised, node_scores, counts, scores, repaired


@part
def _probability(
    path: NDArray[np.int64],
    node_scores: NDArray[np.float32],
    count: int,
    edges: NDArray[np.float64],
    total: float,
) -> float:
    """Product of P(class) over the nodes and of E / `total` over the edges; 0 for no node."""
    if count == 0:
        return 0.0
    product = 1.0
    previous = SOS
    for place in range(count):
        product *= edges[previous, path[place]] / total * np.float64(node_scores[place])
        previous = path[place]
    return min(1.0, product * (edges[previous, EOS] / total))
