"""The longest path from `<sos>` to `<eos>` and the k best ones (`Path Selection`)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from . import reference
from .graph import Graph
from .jit import kernel, plain_array
from .pick import EOS, SOS


@dataclass(frozen=True)
class Route:
    """One path through the graph."""

    nodes: NDArray[np.int64]
    """[n] the nodes in order, `<sos>` and `<eos>` included."""
    length: float
    """Sum of E over its edges."""


def longest_paths(graph: Graph, count: int = 1) -> list[Route]:
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
        Route(row[:size].copy(), float(length))
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
    # Edges stand in order of their source: those of node u are first[u] … first[u + 1] - 1.
    first = np.zeros(size + 1, np.int64)
    entering = np.zeros(size, np.int64)
    for edge in range(len(sources)):
        first[sources[edge] + 1] += 1
        entering[targets[edge]] += 1
    for node in range(size):
        first[node + 1] += first[node]

    # For each node, its best paths from <sos>: length, node before, and rank of the path there.
    lengths = np.zeros((size, most), np.float64)
    before = np.full((size, most), -1, np.int64)
    rank_before = np.zeros((size, most), np.int64)
    found = np.zeros(size, np.int64)
    found[SOS] = 1

    # A node is ready once all edges into it are done.
    ready = np.empty(size, np.int64)
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

    paths = found[EOS] if last == size else 0  # nodes on a cycle are never ready
    nodes = np.zeros((paths, size), np.int64)
    sizes = np.zeros(paths, np.int64)
    for path in range(paths):
        count = 1
        node = EOS
        rank = path
        while node != SOS:
            previous = before[node, rank]
            rank = rank_before[node, rank]
            node = previous
            count += 1
        sizes[path] = count
        node = EOS
        rank = path
        for place in range(count - 1, -1, -1):
            nodes[path, place] = node
            previous = before[node, rank]
            rank = rank_before[node, rank]
            node = previous
    return nodes, sizes, lengths[EOS, :paths].copy()
