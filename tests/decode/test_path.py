"""The longest path through a graph, and the next longest ones."""

import networkx as nx
import numpy as np
import pytest

from namer_edge_runtime.decode.reference import Graph

from .steps import longest_paths


def random_graph(random: np.random.Generator, size: int, levels: int = 0) -> Graph:
    """A random DAG in which <sos> comes first and <eos> last; `levels` > 0 makes ties frequent."""
    order = np.concatenate(([0], 2 + random.permutation(size - 2), [1]))
    rank = np.empty(size, np.int64)
    rank[order] = np.arange(size)
    inside = (rank[:, None] < rank) & (random.random((size, size)) < random.random())
    scores = 2 * random.random((size, size)) + 1e-3
    if levels:
        scores = random.integers(1, levels + 1, (size, size)) / 4
    sources, targets = map(np.ascontiguousarray, np.nonzero(inside))
    return Graph(scores, sources, targets, scores[sources, targets])


def of(edges: dict[tuple[int, int], float], size: int) -> Graph:
    scores = np.zeros((size, size))
    for edge, weight in edges.items():
        scores[edge] = weight
    sources, targets = np.nonzero(scores)
    return Graph(scores, sources, targets, scores[sources, targets])


def networkx_graph(graph: Graph) -> nx.DiGraph:
    """The part of the graph that lies between <sos> and <eos>."""
    made = nx.DiGraph()
    made.add_nodes_from([0, 1])
    made.add_weighted_edges_from(
        zip(graph.sources.tolist(), graph.targets.tolist(), graph.weights.tolist(), strict=True)
    )
    between = nx.descendants(made, 0) & nx.ancestors(made, 1)
    return made.subgraph(between | {0, 1})


def length_of(graph: Graph, nodes: list[int]) -> float:
    return float(graph.scores[nodes[:-1], nodes[1:]].sum())


def test_the_longest_path_is_taken_not_the_shortest_hop() -> None:
    graph = of({(0, 1): 1.9, (0, 2): 1, (2, 3): 0.6, (3, 1): 0.6, (2, 1): 1}, 4)
    ((route, length),) = longest_paths(graph)
    assert route == [0, 2, 3, 1]
    assert length == pytest.approx(2.2)


def test_alternatives_come_longest_first_and_end_when_there_are_no_more() -> None:
    graph = of({(0, 1): 1.9, (0, 2): 1, (2, 3): 0.6, (3, 1): 0.6, (2, 1): 1}, 4)
    routes = longest_paths(graph, 9)
    assert [route for route, _ in routes] == [[0, 2, 3, 1], [0, 2, 1], [0, 1]]


def test_equal_paths_go_by_the_lower_index() -> None:
    graph = of({(0, 2): 1, (0, 3): 1, (2, 1): 1, (3, 1): 1}, 4)
    assert [route for route, _ in longest_paths(graph, 2)] == [[0, 2, 1], [0, 3, 1]]


def test_graphs_without_a_path() -> None:
    assert longest_paths(of({(0, 2): 1}, 3)) == []
    assert longest_paths(of({}, 2)) == []
    cyclic = of({(0, 1): 1, (0, 2): 1, (2, 3): 1, (3, 2): 1, (2, 1): 1}, 4)
    assert longest_paths(cyclic) == []


def test_as_long_as_networkx_finds_on_thousands_of_graphs() -> None:
    random = np.random.default_rng(2)
    reachable = 0
    for _ in range(3000):
        graph = random_graph(random, int(random.integers(2, 24)))
        between = networkx_graph(graph)
        routes = longest_paths(graph)
        if not nx.has_path(between, 0, 1):
            assert routes == []
            continue
        reachable += 1
        # E is positive, so the longest path of all within this part leads from <sos> to <eos>.
        assert routes[0][0] == nx.dag_longest_path(between)
        assert routes[0][1] == pytest.approx(nx.dag_longest_path_length(between))
    assert reachable > 1000


def test_k_best_equal_brute_force_on_small_graphs() -> None:
    random = np.random.default_rng(3)
    for _ in range(1000):
        graph = random_graph(random, int(random.integers(2, 8)))
        every = [list(path) for path in nx.all_simple_paths(networkx_graph(graph), 0, 1)]
        every.sort(key=lambda path: -length_of(graph, path))
        count = int(random.integers(1, 12))
        routes = longest_paths(graph, count)
        assert [route for route, _ in routes] == every[:count]
        assert [length for _, length in routes] == pytest.approx(
            [length_of(graph, path) for path in every[:count]]
        )


def test_ties_are_broken_alike() -> None:
    random = np.random.default_rng(4)
    for _ in range(2000):
        graph = random_graph(random, int(random.integers(2, 16)), int(random.integers(0, 4)))
        routes = longest_paths(graph, int(random.integers(1, 6)))
        assert [length for _, length in routes] == sorted((r[1] for r in routes), reverse=True)
