"""From PGD's three heads to a directed acyclic graph (`Hypothesis Selection`, eq. 10)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import reference
from .heap import heapify, take
from .jit import kernel, part, plain_array
from .pick import EOS, SOS, Nodes


@dataclass(frozen=True)
class Graph:
    """The graph that a formula is the longest path through; `<sos>` is node 0, `<eos>` node 1."""

    scores: NDArray[np.float64]
    """[N, N] E of eq. 10 from row to column, whether or not that edge is in the graph."""
    sources: NDArray[np.int64]
    """[M] the node that each edge of the graph leaves, ascending."""
    targets: NDArray[np.int64]
    """[M] the node it enters, ascending within one source."""
    weights: NDArray[np.float64]
    """[M] its E."""


def revise(
    self_probs: NDArray[np.float32],
    nodes: Nodes,
    vocabulary_endings: NDArray[np.integer],
    *,
    deleting: bool = True,
) -> NDArray[np.int64]:
    """[N] the revised class V of each node: arg max of the self head (eq. 6).

    A visual node takes the best class with as many endings as the one it came with, or delete
    (K + 1); ties go to the lower class. Its endings stay "}" (K) or are deleted with it. Where the
    head gives no number (NaN), a class stays as it was. `<sos>` and `<eos>`, which are no outputs
    of the self head (as inputs, `<sos>` has the number of delete), get -1.

    Args:
        self_probs: [N or more, K + 2] probabilities of K visual classes, "}", delete.
        vocabulary_endings: [K] number of endings of each visual class.
        deleting: False for the best class of each node, were it not deleted.
    """
    return _revise(
        plain_array(self_probs, np.float32),
        plain_array(nodes.classes, np.int64),
        plain_array(nodes.parents, np.int64),
        plain_array(vocabulary_endings, np.int8),
        bool(deleting),
    )


def build(
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    alive: NDArray[np.bool_],
    *,
    epsilon: float = 0.5,
    left_weight: float = 1.0,
    right_weight: float = 1.0,
) -> Graph:
    """The acyclic graph between the nodes that stay.

    E[i, j] = left_weight · left[j, i] + right_weight · right[i, j]; what is no positive number
    counts as 0. No edge enters `<sos>` or leaves `<eos>`. Edges enter in order of falling E, ties
    by source, then target; one that would close a cycle is left out. Edges under `epsilon` stay
    outside, unless `<eos>` would then be unreachable: those come back, in the same order, until it
    is reachable (`<sos>` → `<eos>` itself is among them, so it always gets there).

    Args:
        left: [N, N] P(left neighbor of row is column), the L2R connectivity (eq. 7).
        right: [N, N] P(right neighbor of row is column).
        alive: [N] False for nodes that were deleted; `<sos>` and `<eos>` are never deleted.
    """
    return Graph(
        *_build(
            plain_array(left, np.float32),
            plain_array(right, np.float32),
            plain_array(alive, np.bool_),
            float(epsilon),
            float(left_weight),
            float(right_weight),
        )
    )


@kernel(plain=reference.revise)
def _revise(
    self_probs: NDArray[np.float32],
    classes: NDArray[np.int64],
    parents: NDArray[np.int64],
    vocabulary_endings: NDArray[np.int8],
    deleting: bool,
) -> NDArray[np.int64]:
    revised = np.empty(len(classes), np.int64)
    fill_revised(self_probs, classes, parents, len(classes), vocabulary_endings, deleting, revised)
    return revised


@part
def fill_revised(
    self_probs: NDArray[np.float32],
    classes: NDArray[np.int64],
    parents: NDArray[np.int64],
    size: int,
    vocabulary_endings: NDArray[np.int8],
    deleting: bool,
    revised: NDArray[np.int64],
) -> None:
    """`revise` for the first `size` nodes, into `revised`."""
    end = len(vocabulary_endings)
    delete = end + 1
    for node in range(size):
        revised[node] = classes[node] if node > EOS else -1
        if node <= EOS or parents[node] >= 0:
            continue
        wanted = vocabulary_endings[classes[node]]
        best = np.float32(-1.0)
        for label in range(end):
            if self_probs[node, label] > best and vocabulary_endings[label] == wanted:
                best = self_probs[node, label]
                revised[node] = label
        if deleting and self_probs[node, delete] > best:
            revised[node] = delete
    for node in range(2, size):
        if parents[node] >= 0:
            revised[node] = delete if revised[parents[node]] == delete else end


@kernel(plain=reference.build)
def _build(
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    alive: NDArray[np.bool_],
    epsilon: float,
    left_weight: float,
    right_weight: float,
) -> reference.Arrays:
    size = len(alive)
    scores = np.empty((size, size), np.float64)
    inside = np.empty((size, size), np.bool_)
    reaches = np.empty((size, size), np.bool_)
    heap = np.empty(size * size, np.int64)
    weigh(left, right, alive, size, left_weight, right_weight, scores)
    edges = enter(scores, alive, size, epsilon, inside, reaches, heap)
    sources = np.empty(edges, np.int64)
    targets = np.empty(edges, np.int64)
    weights = np.empty(edges, np.float64)
    list_edges(scores, inside, size, sources, targets, weights)
    return scores, sources, targets, weights


@part
def weigh(
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    alive: NDArray[np.bool_],
    size: int,
    left_weight: float,
    right_weight: float,
    scores: NDArray[np.float64],
) -> None:
    """E between the first `size` nodes, into `scores`; 0 where there can be no edge."""
    for source in range(size):
        for target in range(size):
            scores[source, target] = 0.0
            if _allowed(source, target, alive):
                score = left_weight * np.float64(left[target, source]) + right_weight * np.float64(
                    right[source, target]
                )
                if score > 0:
                    scores[source, target] = score


@part
def _allowed(source: int, target: int, alive: NDArray[np.bool_]) -> bool:
    """Whether an edge may lead from one node to the other, whatever its score."""
    between = source not in (EOS, target) and target != SOS
    return between and alive[source] and alive[target]


@part
def enter(
    scores: NDArray[np.float64],
    alive: NDArray[np.bool_],
    size: int,
    epsilon: float,
    inside: NDArray[np.bool_],
    reaches: NDArray[np.bool_],
    heap: NDArray[np.int64],
) -> int:
    """Marks in `inside` [N, N] the edges that enter the graph, and returns how many they are.

    `reaches` [N, N] says where a path of such edges leads; `heap` has room for all edges.
    """
    keys = scores.reshape(-1)
    row = scores.shape[1]
    inside[:size, :size] = False
    reaches[:size, :size] = False
    edges = 0
    for weak in (False, True):  # first those of epsilon and above, then, if they must, the others
        count = 0
        for source in range(size):
            for target in range(size):
                if (scores[source, target] < epsilon) == weak and _allowed(source, target, alive):
                    heap[count] = source * row + target
                    count += 1
        heapify(heap, count, keys)
        while count > 0 and not (weak and reaches[SOS, EOS]):
            edge = take(heap, count, keys)
            count -= 1
            source = edge // row
            target = edge % row
            if reaches[target, source]:
                continue
            inside[source, target] = True
            edges += 1
            if reaches[source, target]:
                continue
            for node in range(size):
                if (node == source or reaches[node, source]) and not reaches[node, target]:
                    reaches[node, target] = True
                    for beyond in range(size):
                        reaches[node, beyond] |= reaches[target, beyond]
        if reaches[SOS, EOS]:
            break
    return edges


@part
def list_edges(
    scores: NDArray[np.float64],
    inside: NDArray[np.bool_],
    size: int,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> None:
    """The edges that are inside, with their E, by source and then target."""
    edge = 0
    for source in range(size):
        for target in range(size):
            if inside[source, target]:
                sources[edge] = source
                targets[edge] = target
                weights[edge] = scores[source, target]
                edge += 1
