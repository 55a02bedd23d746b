"""The most probable reading of several paths, in place of the longest path."""

from itertools import permutations

import numpy as np
import pytest

from namer_edge_runtime.decode import Nodes, decode
from namer_edge_runtime.decode.pick import EOS, SOS

from .formulas import DELETE, ENDINGS, heads, softmax
from .formulas import EOS as EOS_CLASS
from .formulas import SOS as SOS_CLASS


def symbols(count: int) -> Nodes:
    """<sos>, <eos> and `count` nodes of class 0."""
    size = 2 + count
    return Nodes(
        cells=np.zeros((size, 2), np.int64),
        classes=np.array([SOS_CLASS, EOS_CLASS] + [0] * count, np.int64),
        endings=np.zeros(size, np.int64),
        parents=np.full(size, -1),
        scores=np.ones(size, np.float32),
    )


def test_it_is_the_most_probable_of_all_readings_there_are() -> None:
    """Against every sequence of nodes, where each node has but one class."""
    nodes, kept = symbols(4), 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        probs = np.zeros((6, 9), np.float32)
        probs[:, 0] = random.uniform(0.05, 0.95, 6)
        probs[:, DELETE] = 1 - probs[:, 0]
        # Edges lead upwards alone, so that none closes a cycle.
        forward = np.triu(softmax(random, 6, 6, 2), 1)
        forward[:, EOS], forward[SOS, EOS] = random.uniform(0.05, 0.5, 6), 0.05
        forward[EOS] = 0
        likeliest = max(
            np.prod([probs[node, 0] for node in chosen])
            * np.prod([forward[a, b] for a, b in zip((SOS, *chosen), (*chosen, EOS), strict=True)])
            * np.prod([probs[node, DELETE] for node in range(2, 6) if node not in chosen])
            for length in range(1, 5)
            for chosen in permutations(range(2, 6), length)
        )
        (found,) = decode(probs, forward.T.copy(), forward, nodes, ENDINGS, k_best=2)
        if len(found.nodes):
            assert found.score == pytest.approx(likeliest, rel=1e-5)
            kept += 1
    assert kept > 150, "hardly anything was compared"


def test_a_node_that_its_neighbors_ask_for_is_read_though_deleting_it_is_likelier() -> None:
    nodes = symbols(3)
    probs, left, right = heads(np.array([2, 3, 4]), nodes)
    probs[3] = 0
    probs[3, 0], probs[3, DELETE] = 0.4, 0.6
    left[4, 2] = right[2, 4] = 0.3
    (longest,) = decode(probs, left, right, nodes, ENDINGS)
    assert longest.nodes.tolist() == [2, 4]
    (likeliest,) = decode(probs, left, right, nodes, ENDINGS, k_best=1)
    assert likeliest.nodes.tolist() == [2, 3, 4]
    assert likeliest.score > longest.score


def test_nothing_is_read_where_all_is_to_be_deleted() -> None:
    nodes = symbols(3)
    probs = np.full((5, 9), 0.01, np.float32)
    probs[:, DELETE] = 0.92
    even = np.full((5, 5), 0.2, np.float32)
    (found,) = decode(probs, even, even, nodes, ENDINGS, k_best=3)
    assert len(found.nodes) == 0
    assert found.score == 0
