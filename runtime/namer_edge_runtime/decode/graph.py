"""From PGD's three heads to a directed acyclic graph (`Hypothesis Selection`, eq. 10).

Compiled into the kernel of path selection; the plain twins are `reference.revise` and `build`.
"""

import numpy as np
from numpy.typing import NDArray

from .heap import heapify, take
from .jit import part
from .pick import EOS, SOS


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
    """Writes the revised class V of the first `size` nodes into `revised`: arg max of the self head
    (eq. 6).

    A visual node takes the best class with as many endings as the one it came with, or, when
    `deleting`, delete (K + 1); ties go to the lower class. Its endings stay "}" (K) or are deleted
    with it. A class stays as it was where the head gives no number (NaN). `<sos>` and `<eos>` get
    -1: they are no outputs of the self head (as inputs, `<sos>` has the number of delete).
    """
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
    """Writes E of all pairs of the first `size` nodes into `scores`.

    E[i, j] = left_weight · left[j, i] + right_weight · right[i, j]; 0 where this is no positive
    number, into `<sos>`, out of `<eos>`, and at nodes that are not alive.
    """
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
    """Tells whether an edge may lead from one node to the other, whatever its score."""
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
    """Marks the edges of the acyclic graph in `inside` [N, N] and returns their number.

    Edges enter in order of falling E, ties by source, then target; one that would close a cycle is
    left out. Edges under `epsilon` stay outside, unless `<eos>` would then be unreachable: those
    come back, in the same order, until it is reachable (`<sos>` → `<eos>` itself is among them, so
    it always is). `reaches` [N, N] says where a path of such edges leads; `heap` has room for all
    edges.
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
    """Lists the edges of the graph with their E, by source and then target."""
    edge = 0
    for source in range(size):
        for target in range(size):
            if inside[source, target]:
                sources[edge] = source
                targets[edge] = target
                weights[edge] = scores[source, target]
                edge += 1
