"""Compiled path selection is worth its compiler."""

import time
from collections.abc import Callable

import numpy as np

from namer_edge_runtime.decode import decode
from namer_edge_runtime.decode.path_selection import select_paths

from .formulas import ENDINGS, chain, random_nodes


def seconds(call: Callable[[], object]) -> float:
    """Of processor time, the best of seven calls."""
    times = []
    for _ in range(7):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def test_the_kernel_takes_less_than_a_tenth_of_its_plain_twin() -> None:
    random = np.random.default_rng(0)
    nodes = random_nodes(random, 60)
    arguments = (
        *(head[None] for head in (*chain(random, nodes), nodes.classes, nodes.parents)),
        *(np.array([len(nodes)]), ENDINGS, 0.5, 1.0, 1.0, False, 1),
    )
    compiled = seconds(lambda: select_paths(*arguments))
    assert compiled < 0.1 * seconds(lambda: select_paths.plain(*arguments))


def test_the_largest_formula_is_read_whole() -> None:
    random = np.random.default_rng(1)
    nodes = random_nodes(random, 512)
    for epsilon in (0.0, 0.5):
        (found,) = decode(*chain(random, nodes), nodes, ENDINGS, epsilon=epsilon)
        assert len(found.nodes) > 400
