"""What decoding costs; printed (`pytest -s`), not asserted: the machine decides."""

import time
from collections.abc import Callable

import numpy as np
import pytest

from namer_edge_runtime.decode import decode, pick, warm_up
from namer_edge_runtime.decode.graph import Graph, build
from namer_edge_runtime.decode.path import _longest_paths, longest_paths

from .formulas import END, ENDINGS, EOS, SOS, chain, random_nodes, softmax


def microseconds(call: Callable[[], object]) -> float:
    """Best of seven runs of four calls."""
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(4):
            call()
        times.append((time.perf_counter() - start) / 4)
    return 1e6 * min(times)


def test_time_of_picking_and_of_the_longest_path() -> None:
    warm = warm_up()
    print(f"\n{warm}")
    random = np.random.default_rng(0)
    size = 64
    order = np.r_[0, 2 + random.permutation(size - 2), 1]
    rank = np.argsort(order)
    sources, targets = map(np.ascontiguousarray, np.nonzero(rank[:, None] < rank))
    scores = random.random((size, size))
    dense = Graph(scores, sources, targets, scores[sources, targets])
    kernel_time = microseconds(
        lambda: _longest_paths(dense.sources, dense.targets, dense.weights, size, 1)
    )
    print(f"longest path, dense DAG of 64 nodes ({len(sources)} edges): {kernel_time:.1f} µs")
    assert len(longest_paths(dense)[0].nodes) > 2

    scores = np.zeros((3, 16, 60), np.float32)
    scores[0, ::4, ::6] = 0.9
    classes = np.zeros(scores.shape, np.int32)
    none = 1 - scores[0]
    time_to_pick = microseconds(lambda: pick(scores, classes, none, ENDINGS, END, SOS, EOS))
    print(
        f"pick {len(pick(scores, classes, none, ENDINGS, END, SOS, EOS))} nodes of 16 × 60 cells:"
        f" {time_to_pick:.0f} µs"
    )


@pytest.mark.parametrize("size", [2, 12, 42, 162, 512])
@pytest.mark.parametrize("certain", [True, False])
def test_time_of_a_formula(size: int, certain: bool) -> None:
    warm_up()
    random = np.random.default_rng(0)
    nodes = random_nodes(random, size)
    self_probs, left, right = chain(random, nodes)
    if not certain:
        left, right = (softmax(random, size, size, 0.1) for _ in range(2))
    alive = np.ones(size, bool)
    whole = microseconds(lambda: decode(self_probs, left, right, nodes, ENDINGS))
    graph = microseconds(lambda: build(left, right, alive))
    print(f"\n{size} nodes, certain {certain}: decode {whole:.0f} µs, its graph {graph:.0f} µs")
    assert decode(self_probs, left, right, nodes, ENDINGS)


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_largest_formula_decodes(epsilon: float) -> None:
    random = np.random.default_rng(1)
    nodes = random_nodes(random, 512)
    self_probs, left, right = chain(random, nodes)
    path = decode(self_probs, left, right, nodes, ENDINGS, epsilon=epsilon)[0]
    assert len(path.nodes) > 400
