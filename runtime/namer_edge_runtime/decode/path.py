"""The longest path from `<sos>` to `<eos>` and the k best ones (`Hypothesis Selection`)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from . import reference
from .graph import Graph
from .jit import kernel, part, plain_array
from .pick import EOS, SOS


@dataclass(frozen=True)
class RankedPath:
    """One path through the graph."""

    nodes: NDArray[np.int64]
    """[n] the nodes in order, `<sos>` and `<eos>` included."""
    length: float
    """Sum of E over its edges."""


def longest_paths(graph: Graph, count: int = 1) -> list[RankedPath]:
    """The `count` longest paths `<sos>` → `<eos>`, longest first; fewer where there are no more.

    Dynamic programming over a topological order, O(V + E) for one path. Of equal lengths into a
    node, the predecessor of lower index comes first. A graph with a cycle, which `graph.build`
    never makes, has no longest path: none is returned.

    Raises:
        UsageError: `count` is below 1.
    """
    if count < 1:
        raise UsageError(f"{count} paths were asked for: ask for 1 or more")
    nodes, sizes, lengths = _longest_paths(
        plain_array(graph.sources, np.int64),
        plain_array(graph.targets, np.int64),
        plain_array(graph.weights, np.float64),
        len(graph.scores),
        int(count),
    )
    return [
        RankedPath(row[:size].copy(), float(length))
        for row, size, length in zip(nodes, sizes, lengths, strict=True)
    ]


@kernel(plain=reference.longest_paths)
def _longest_paths(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    weights: NDArray[np.float64],
    size: int,
    most: int,
) -> reference.Arrays:
    lengths = np.empty((size, most), np.float64)
    before = np.empty((size, most), np.int64)
    rank_before = np.empty((size, most), np.int64)
    counts = np.empty((4, size + 1), np.int64)
    edges = len(sources)
    paths = extend(
        sources, targets, weights, edges, size, most, lengths, before, rank_before, counts
    )
    nodes = np.zeros((paths, size), np.int64)
    sizes = np.empty(paths, np.int64)
    for path in range(paths):
        sizes[path] = trace(path, before, rank_before, nodes[path])
    return nodes, sizes, lengths[EOS, :paths].copy()


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
    """The best paths from `<sos>` to each node: length, node before, and rank of the path there,
    into three arrays [N, most]; returns how many lead to `<eos>`. `counts` [4, N + 1] is room."""
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
    """Writes the nodes of the path to `<eos>` of this rank, and returns how many they are."""
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
