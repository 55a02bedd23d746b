"""The k longest paths from `<sos>` to `<eos>` (`Hypothesis Selection`).

Compiled into the kernel of path selection; the plain twin is `reference.longest_paths`.
"""

import numpy as np
from numpy.typing import NDArray

from .jit import part
from .pick import EOS, SOS


@part
def extend(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    weights: NDArray[np.float64],
    edges: int,
    size: int,
    most: int,
    lengths: NDArray[np.float64],
    before: NDArray[np.int64],
    rank_before: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int:
    """The `most` longest paths from `<sos>` to each node: length, node before, and rank of the path
    there, into three arrays [N, most]; returns how many lead to `<eos>`.

    Dynamic programming over a topological order, O(V + E) for one path. Of equal lengths into a
    node, the predecessor of lower index comes first. A graph with a cycle, which `graph.enter`
    never makes, has no longest path: 0 is returned. `counts` [4, N + 1] is room.
    """
    # Edges stand in order of their source: those of node u are first[u] … first[u + 1] - 1.
    first, entering, found, ready = counts[0], counts[1], counts[2], counts[3]
    first[: size + 1] = 0
    entering[:size] = 0
    found[:size] = 0
    for edge in range(edges):
        first[sources[edge] + 1] += 1
        entering[targets[edge]] += 1
    for node in range(size):
        first[node + 1] += first[node]
    found[SOS] = 1
    lengths[SOS, 0] = 0.0

    # A node is ready once all edges into it are done.
    last = 0
    for node in range(size):
        if entering[node] == 0:
            ready[last] = node
            last += 1
    done = 0
    while done < last:
        node = ready[done]
        done += 1
        for edge in range(first[node], first[node + 1]):
            target = targets[edge]
            for rank in range(found[node]):
                length = lengths[node, rank] + weights[edge]
                place = found[target]
                while place > 0 and (
                    length > lengths[target, place - 1]
                    or (length == lengths[target, place - 1] and node < before[target, place - 1])
                ):
                    place -= 1
                if place >= most:
                    break  # the further paths of this node are no longer
                found[target] = min(found[target] + 1, most)
                for lower in range(found[target] - 1, place, -1):
                    lengths[target, lower] = lengths[target, lower - 1]
                    before[target, lower] = before[target, lower - 1]
                    rank_before[target, lower] = rank_before[target, lower - 1]
                lengths[target, place] = length
                before[target, place] = node
                rank_before[target, place] = rank
            entering[target] -= 1
            if entering[target] == 0:
                ready[last] = target
                last += 1
    return found[EOS] if last == size else 0  # nodes on a cycle are never ready


@part
def trace(
    rank: int,
    before: NDArray[np.int64],
    rank_before: NDArray[np.int64],
    nodes: NDArray[np.int64],
) -> int:
    """Writes the nodes of the path to `<eos>` of this rank, and returns their number."""
    count = 0
    node = EOS
    nodes[0] = node
    while node != SOS:
        node, rank = before[node, rank], rank_before[node, rank]
        count += 1
        nodes[count] = node
    for place in range((count + 1) // 2):
        nodes[place], nodes[count - place] = nodes[count - place], nodes[place]
    return count + 1
