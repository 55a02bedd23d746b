"""What decoding costs; printed (`pytest -s`), not asserted: the machine decides."""

import time
from collections.abc import Callable

import numpy as np
import pytest

from namer_edge_runtime.decode import decode, warm_up
from namer_edge_runtime.decode.graph import Graph, build
from namer_edge_runtime.decode.path import _longest_paths, longest_paths

from .formulas import ENDINGS, chain, random_nodes, softmax


def microseconds(call: Callable[[], object]) -> float:
    """Best of seven runs of ten calls."""
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(10):
            call()
        times.append((time.perf_counter() - start) / 10)
    return 1e6 * min(times)


def test_time_of_each_step() -> None:
    warm = warm_up()
    print(f"\n{warm}")
    random = np.random.default_rng(0)
    size = 64
    order = np.r_[0, 2 + random.permutation(size - 2), 1]
    rank = np.argsort(order)
    sources, targets = np.nonzero(rank[:, None] < rank)
    scores = random.random((size, size))
    dense = Graph(scores, sources, targets, scores[sources, targets])
    kernel_time = microseconds(
        lambda: _longest_paths(dense.sources, dense.targets, dense.weights, size, 1)
    )
    print(f"longest path, dense DAG of 64 nodes ({len(sources)} edges): {kernel_time:.1f} µs")
    assert len(longest_paths(dense)[0].nodes) > 2


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
