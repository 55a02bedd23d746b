"""Steps of path selection: each by its part, run as plain Python, and by its twin; both agree."""

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.decode import Nodes, graph, path, reference, repair
from namer_edge_runtime.decode.reference import Graph

from .formulas import ENDINGS


def revise(
    self_probs: NDArray[np.float32], nodes: Nodes, deleting: bool = True
) -> NDArray[np.int64]:
    arguments = (self_probs, nodes.classes, nodes.parents)
    revised = np.empty(len(nodes), np.int64)
    graph.fill_revised(*arguments, len(nodes), ENDINGS, deleting, revised)
    assert np.array_equal(revised, reference.revise(*arguments, ENDINGS, deleting))
    return revised


def build(
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    alive: NDArray[np.bool_],
    epsilon: float = 0.5,
    left_weight: float = 1.0,
    right_weight: float = 1.0,
) -> Graph:
    size = len(alive)
    scores = np.empty((size, size))
    inside, reaches = np.empty((2, size, size), bool)
    graph.weigh(left, right, alive, size, left_weight, right_weight, scores)
    heap = np.empty(size * size, np.int64)
    count = graph.enter(scores, alive, size, epsilon, inside, reaches, heap)
    sources, targets = np.empty((2, count), np.int64)
    weights = np.empty(count)
    graph.list_edges(scores, inside, size, sources, targets, weights)
    twin = reference.build(left, right, alive, epsilon, left_weight, right_weight)
    for mine, other in zip((scores, sources, targets, weights), twin, strict=True):
        assert np.array_equal(mine, other)
    return twin


def longest_paths(of: Graph, count: int = 1) -> list[tuple[list[int], float]]:
    """Nodes and length of each path."""
    edges = of.sources, of.targets, of.weights
    size = len(of.scores)
    lengths = np.empty((size, count))
    before, rank_before = np.empty((2, size, count), np.int64)
    room = np.empty((4, size + 1), np.int64)
    found = path.extend(*edges, len(of.sources), size, count, lengths, before, rank_before, room)
    paths = []
    for rank in range(found):
        nodes = np.empty(size, np.int64)
        length = path.trace(rank, before, rank_before, nodes)
        paths.append((nodes[:length].tolist(), float(lengths[1, rank])))
    twin = zip(*reference.longest_paths(*edges, size, count), strict=True)
    assert paths == [(nodes[:length].tolist(), float(sum_)) for nodes, length, sum_ in twin]
    return paths


def repaired(
    route: NDArray[np.int64], parents: NDArray[np.int64], scores: NDArray[np.float64]
) -> NDArray[np.int64]:
    size = len(parents)
    walked = np.empty(size, np.int64)
    room = np.empty((5, size), np.int64)
    count = repair.walk(route, len(route), parents, size, scores, room, walked)
    assert np.array_equal(walked[:count], reference.repair(route, parents, scores))
    return walked[:count]
