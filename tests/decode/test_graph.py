"""From the three heads to an acyclic graph."""

import time

import networkx as nx
import numpy as np
import pytest

from namer_edge_runtime.decode import Nodes, reference
from namer_edge_runtime.decode.reference import Graph

from .formulas import DELETE, END, ENDINGS, EOS, SOS, random_nodes, softmax
from .steps import build, revise


def one_of_each() -> Nodes:
    """<sos> <eos> symbol 0, relation 4 with }, relation 6 with } }."""
    parents = np.array([-1, -1, -1, -1, 3, -1, 5, 5])
    return Nodes(
        cells=np.zeros((8, 2), np.int64),
        classes=np.array([SOS, EOS, 0, 4, END, 6, END, END]),
        endings=np.array([0, 0, 0, 0, 1, 0, 1, 2]),
        parents=parents,
        scores=np.ones(8, np.float32),
    )


def edges(graph: Graph) -> dict[tuple[int, int], float]:
    pairs = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    return dict(zip(pairs, graph.weights.round(6).tolist(), strict=True))


def heads_for(weights: dict[tuple[int, int], float], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Left and right heads that share each edge's weight between them."""
    left, right = np.zeros((2, size, size), np.float32)
    for (source, target), weight in weights.items():
        left[target, source] = right[source, target] = weight / 2
    return left, right


def of(weights: dict[tuple[int, int], float], size: int, epsilon: float = 0.5) -> Graph:
    return build(*heads_for(weights, size), np.ones(size, bool), epsilon=epsilon)


def test_a_class_is_corrected_within_its_number_of_endings() -> None:
    probs = np.full((8, 9), 0.01, np.float32)
    probs[2, [6, 3]] = 0.6, 0.3  # \frac would need endings: the best other symbol is taken
    probs[3, [0, 5]] = 0.6, 0.3
    probs[5, END] = 0.9  # a visual node is no "}"; all others are equal, there is one class
    assert revise(probs, one_of_each()).tolist() == [-1, -1, 3, 5, END, 6, END, END]


def test_a_deleted_relation_takes_its_endings_along_and_they_never_go_alone() -> None:
    probs = np.full((8, 9), 0.01, np.float32)
    probs[5, DELETE] = 0.5
    probs[4, DELETE] = 0.9  # the ending of a relation that stays
    revised = revise(probs, one_of_each()).tolist()
    assert revised == [-1, -1, 0, 4, END, DELETE, DELETE, DELETE]


def test_ties_go_to_the_lower_class_and_no_number_changes_nothing() -> None:
    nodes = one_of_each()
    assert revise(np.full((8, 9), 0.1, np.float32), nodes)[2] == 0
    unknown = revise(np.full((8, 9), np.nan, np.float32), nodes)
    assert unknown[2:].tolist() == nodes.classes[2:].tolist()


def test_an_edge_is_the_weighted_sum_of_both_heads() -> None:
    left, right = np.zeros((2, 3, 3), np.float32)
    left[2, 0], right[0, 2] = 0.5, 0.25  # <sos> → 2
    right[2, 1] = 1.0
    alive = np.ones(3, bool)
    assert edges(build(left, right, alive)) == {(0, 2): 0.75, (2, 1): 1.0}
    weighted = build(left, right, alive, left_weight=2, right_weight=0.5)
    assert edges(weighted) == {(0, 2): 1.125, (2, 1): 0.5}
    one_sided = build(left, right, alive, left_weight=0)
    assert one_sided.scores[0, 2] == 0.25


def test_nothing_enters_sos_leaves_eos_or_touches_a_deleted_node() -> None:
    full = np.ones((4, 4), np.float32)
    alive = np.array([True, True, True, False])
    graph = build(full, full, alive)
    assert set(edges(graph)) == {(0, 1), (0, 2), (2, 1)}
    assert not graph.scores[3].any()
    assert not graph.scores[:, 3].any()


def test_edges_under_epsilon_go() -> None:
    weights = {(0, 2): 0.5, (2, 1): 1.5, (0, 3): 0.49, (3, 1): 1.0}
    assert set(edges(of(weights, 4))) == {(0, 2), (2, 1), (3, 1)}
    assert set(edges(of(weights, 4, epsilon=0.4))) == set(weights)


def test_the_strongest_come_back_until_eos_is_reachable() -> None:
    weights = {(0, 2): 0.3, (2, 3): 0.2, (3, 1): 1.9, (2, 4): 0.25, (3, 4): 0.1}
    graph = of(weights, 5)
    assert set(edges(graph)) == {(0, 2), (2, 3), (2, 4), (3, 1)}
    hopeless = of({(0, 2): 0.3}, 3)
    assert edges(hopeless)[0, 1] == 0
    far = of({(0, 2): 1e-9, (2, 1): 1e-12}, 3)
    assert set(edges(far)) == {(0, 2), (2, 1)}


def test_the_edge_that_would_close_a_cycle_is_left_out() -> None:
    weights = {(0, 2): 1, (2, 3): 1.2, (3, 4): 1.1, (4, 2): 0.9, (4, 1): 0.8}
    graph = of(weights, 5)
    assert set(edges(graph)) == {(0, 2), (2, 3), (3, 4), (4, 1)}
    # Of two equal ones, that with the lower source enters first.
    assert (2, 3) in edges(of({(2, 3): 1, (3, 2): 1}, 4))


def test_what_is_no_number_is_no_edge() -> None:
    left, right = np.full((2, 3, 3), np.nan, np.float32)
    assert build(left, right, np.ones(3, bool)).scores.max() == 0


@pytest.mark.parametrize("levels", [0, 3, 6])
def test_any_graph_is_acyclic_with_eos_reachable(levels: int) -> None:
    random = np.random.default_rng(levels)
    for _ in range(300):
        size = int(random.integers(2, 14))
        spread = float(random.uniform(0.1, 6))
        left, right = (softmax(random, size, size, spread) for _ in range(2))
        if levels:
            left, right = (np.round(head * levels) / levels for head in (left, right))
        alive = random.random(size) < 0.8
        alive[:2] = True
        epsilon = float(random.choice([0, 0.25, 0.5, 1, 1.7, 3]))
        one, two = random.choice([0.5, 1, 2], 2).tolist()
        built = build(left, right, alive, epsilon, one, two)
        graph = nx.DiGraph(zip(built.sources.tolist(), built.targets.tolist(), strict=True))
        assert nx.is_directed_acyclic_graph(graph)
        assert nx.has_path(graph, 0, 1)


def test_a_revised_class_has_as_many_endings_as_before() -> None:
    random = np.random.default_rng(5)
    for _ in range(500):
        nodes = random_nodes(random, int(random.integers(2, 20)))
        probs = (random.integers(0, 4, (len(nodes), 9)) / 4).astype(np.float32)
        probs[random.random(probs.shape) < 0.1] = np.nan
        revised = revise(probs, nodes, bool(random.random() < 0.8))
        visual = (nodes.parents < 0) & (revised < END) & (revised >= 0)
        assert np.array_equal(ENDINGS[revised[visual]], ENDINGS[nodes.classes[visual]])


def test_the_plain_twin_takes_a_dense_graph_of_the_most_nodes_in_its_stride() -> None:
    """Before, a search for each edge took 104 s of the processor for these."""
    left, right = np.random.default_rng(0).random((2, 512, 512), np.float32)
    started = time.process_time()
    graph = reference.build(left, right, np.ones(512, bool), 0.0, 1.0, 1.0)
    assert time.process_time() - started < 10  # 0.5 on an idle machine
    assert len(graph.sources) == 511 * 512 // 2
