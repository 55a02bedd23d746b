"""Path selection of a whole batch in one compiled call: revise, build, longest path, repair.

The paper's formula is the longest path, where nodes to delete are left out first. With `routes`,
beyond the paper, deleting is weighed against reading: of the most probable paths, the most probable
reading is the formula, in which each node is either read or deleted.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import reference
from .graph import enter, fill_revised, list_edges, weigh
from .hypothesis import Hypothesis
from .jit import kernel, part, plain_array
from .path import extend, trace
from .pick import EOS, SOS, Nodes
from .repair import walk
from .thresholds import LEAST, LEAST_DELETED, WEAKEST_CLASS, WEAKEST_EDGE


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
    routes: int,
) -> list[Hypothesis]:
    """The longest path through each of B formulas, repaired (section "Path Selection"), or the most
    probable reading of so many `routes`.

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
        int(routes),
    )
    return [
        Hypothesis(
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
    routes: int,
) -> reference.Arrays:
    end = len(vocabulary_endings)
    total = left_weight + right_weight
    least = epsilon if routes == 0 else WEAKEST_EDGE * total
    ranked = max(1, routes)
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
    lengths = np.empty((most, ranked), np.float64)
    before = np.empty((most, ranked), np.int64)
    ranks = np.empty((most, ranked), np.int64)
    room = np.empty((5, most + 1), np.int64)
    route = np.empty(most, np.int64)
    walked = np.empty(most, np.int64)
    read = np.empty(most, np.bool_)
    for b in range(batch):
        size = sizes[b]
        probs = self_probs[b]
        fill_revised(probs, classes[b], parents[b], size, vocabulary_endings, routes == 0, labels)
        for node in range(size):
            own = node if parents[b, node] < 0 else parents[b, node]
            alive[node] = labels[node] != end + 1 and (
                routes == 0 or own <= EOS or probs[own, labels[own]] >= WEAKEST_CLASS
            )
        weigh(left[b], right[b], alive, size, left_weight, right_weight, edges)
        count = enter(edges, alive, size, least, inside, reaches, heap)
        sources = heap  # done with
        list_edges(edges, inside, size, sources, targets, weights)
        if routes > 0:
            _to_likelihood(weights, targets, count, probs, labels, parents[b], total)
        scores[b] = -1.0
        for rank in range(
            extend(sources, targets, weights, count, size, ranked, lengths, before, ranks, room)
        ):
            inner = trace(rank, before, ranks, route) - 2
            path = route[1:]
            reached = walk(path, inner, parents[b], size, edges, room, walked)
            score = _probability(
                walked, reached, labels, probs, parents[b], size, edges, total, read
            )
            if score <= scores[b]:
                continue
            scores[b] = score
            counts[b] = reached
            chosen[b, :reached] = walked[:reached]
            chosen[b, reached:] = 0
            repaired[b] = not np.array_equal(walked[:reached], path[:inner])
        for place in range(counts[b]):
            node = chosen[b, place]
            revised[b, place] = labels[node]
            node_scores[b, place] = _number(probs[node, labels[node]])
        if counts[b] == 0:
            scores[b] = 0.0
    return chosen, revised, node_scores, counts, scores, repaired


@part
def _to_likelihood(
    weights: NDArray[np.float64],
    targets: NDArray[np.int64],
    count: int,
    probs: NDArray[np.float32],
    labels: NDArray[np.int64],
    parents: NDArray[np.int64],
    total: float,
) -> None:
    """From E of each edge, in place, to what following it adds to the logarithm of `Hypothesis.score`:
    that of E / `total`, and of what its target says, which is then not deleted."""
    delete = probs.shape[1] - 1
    for edge in range(count):
        target = targets[edge]
        weights[edge] = np.log(max(LEAST, weights[edge] / total))
        if target > EOS:
            weights[edge] += np.log(max(LEAST, _number(probs[target, labels[target]])))
            if parents[target] < 0:
                weights[edge] -= np.log(max(LEAST_DELETED, _number(probs[target, delete])))


@part
def _number(probability: float) -> float:
    """A probability as it is, 0 for what is no number."""
    return 0.0 if np.isnan(probability) else np.float64(probability)


@part
def _probability(
    path: NDArray[np.int64],
    count: int,
    labels: NDArray[np.int64],
    probs: NDArray[np.float32],
    parents: NDArray[np.int64],
    size: int,
    edges: NDArray[np.float64],
    total: float,
    read: NDArray[np.bool_],
) -> float:
    """`Hypothesis.score` of `path[:count]`, that of an empty one as if it were none; `read` is room for a
    mark at each node."""
    product = 1.0
    previous = SOS
    read[:size] = False
    for place in range(count):
        node = path[place]
        product *= edges[previous, node] / total * _number(probs[node, labels[node]])
        read[node] = True
        previous = node
    product *= edges[previous, EOS] / total
    delete = probs.shape[1] - 1
    for node in range(2, size):
        if parents[node] < 0 and not read[node]:
            product *= max(LEAST_DELETED, _number(probs[node, delete]))
    return min(1.0, product)
