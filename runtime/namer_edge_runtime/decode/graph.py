"""From PGD's three heads to a directed acyclic graph (`Path Selection`, eq. 10)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import reference
from .jit import kernel, plain_array
from .pick import EOS, SOS, Nodes

HALVINGS = 20
"""Removed edges come back in bands, each half as strong as the one before; then all the rest."""


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
    self_probs: NDArray[np.float32], nodes: Nodes, vocabulary_endings: NDArray[np.integer]
) -> NDArray[np.int64]:
    """[N] the revised class V of each node: arg max of the self head (eq. 6).

    A visual node takes the best class with as many endings as the one it came with, or delete
    (K + 1); ties go to the lower class. Its endings stay "}" (K) or are deleted with it. Where the
    head gives no number (NaN), a class stays as it was. `<sos>` and `<eos>`, which are no outputs
    of the self head (as inputs, `<sos>` has the number of delete), get -1.

    Args:
        self_probs: [N or more, K + 2] probabilities of K visual classes, "}", delete.
        vocabulary_endings: [K] number of endings of each visual class.
    """
    return _revise(
        plain_array(self_probs, np.float32),
        plain_array(nodes.classes, np.int64),
        plain_array(nodes.parents, np.int64),
        plain_array(vocabulary_endings, np.int8),
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
        left: [N, N] P(left neighbour of row is column), the L2R connectivity (eq. 7).
        right: [N, N] P(right neighbour of row is column).
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
) -> NDArray[np.int64]:
    size = len(vocabulary_endings)
    end = size
    delete = size + 1
    revised = classes.copy()
    revised[:2] = -1
    for node in range(2, len(classes)):
        if parents[node] >= 0:
            continue
        wanted = vocabulary_endings[classes[node]]
        best = np.float32(-1.0)
        for label in range(size + 2):
            allowed = label == delete or (label < size and vocabulary_endings[label] == wanted)
            if allowed and self_probs[node, label] > best:
                best = self_probs[node, label]
                revised[node] = label
    for node in range(2, len(classes)):
        if parents[node] >= 0:
            revised[node] = delete if revised[parents[node]] == delete else end
    return revised


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
    scores = np.zeros((size, size), np.float64)
    for source in range(size):
        if not alive[source] or source == EOS:
            continue
        for target in range(size):
            if not alive[target] or target in (SOS, source):
                continue
            score = left_weight * np.float64(left[target, source]) + right_weight * np.float64(
                right[source, target]
            )
            if score > 0:
                scores[source, target] = score

    inside = np.zeros((size, size), np.bool_)
    # reaches[a, b]: a path of edges inside leads from a to b.
    reaches = np.zeros((size, size), np.bool_)
    waiting = np.empty(size * size, np.int64)
    strength = np.empty(size * size, np.float64)
    edges = 0
    upper = np.inf
    lower = epsilon
    for band in range(HALVINGS + 2):
        count = 0
        for source in range(size):
            if not alive[source] or source == EOS:
                continue
            for target in range(size):
                score = scores[source, target]
                allowed = alive[target] and target not in (SOS, source)
                if allowed and score >= lower and (band == 0 or score < upper):
                    waiting[count] = source * size + target
                    strength[count] = -score
                    count += 1
        # Mergesort is stable: edges of equal score stay in order of source and target.
        for index in np.argsort(strength[:count], kind="mergesort"):
            if band > 0 and reaches[SOS, EOS]:
                break
            source = waiting[index] // size
            target = waiting[index] % size
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
        upper = lower
        lower = lower / 2 if band < HALVINGS - 1 else -1.0

    sources = np.empty(edges, np.int64)
    targets = np.empty(edges, np.int64)
    weights = np.empty(edges, np.float64)
    edge = 0
    for source in range(size):
        for target in range(size):
            if inside[source, target]:
                sources[edge] = source
                targets[edge] = target
                weights[edge] = scores[source, target]
                edge += 1
    return scores, sources, targets, weights
