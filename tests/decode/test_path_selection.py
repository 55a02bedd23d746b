"""The compiled path selection against its plain twin, and batches against single formulas."""

import numpy as np
import pytest

from namer_edge_runtime.decode import (
    DecodingOptions,
    NodeBatch,
    decode,
    decode_all,
    pick_all,
)
from namer_edge_runtime.decode.path_selection import RankedPaths, select_paths

from .formulas import END, ENDINGS, EOS, SOS, softmax


def random_batch(random: np.random.Generator) -> NodeBatch:
    """Nodes of one to three formulas, of a few symbols and relations each."""
    batch, height, width = random.integers(1, 4, 3).tolist()
    scores = -np.sort(-random.random((batch, 2, height, width), np.float32), axis=1)
    classes = random.integers(0, len(ENDINGS), scores.shape)
    none = random.random((batch, height, width), np.float32)
    return pick_all(scores, classes, none, ENDINGS, END, SOS, EOS, threshold=0.7, max_nodes=16)


def random_heads(
    random: np.random.Generator, nodes: NodeBatch, levels: int = 0
) -> list[np.ndarray]:
    """Self, left and right heads; `levels` > 0 makes ties frequent, and some are no number."""
    batch, size = nodes.classes.shape
    heads = []
    for columns in (END + 2, size, size):
        spread = float(random.uniform(0.1, 6))
        head = np.stack([softmax(random, size, columns, spread) for _ in range(batch)])
        if levels:
            head = np.round(head * levels) / levels
        head[random.random(head.shape) < 0.01] = np.nan
        heads.append(head.astype(np.float32))
    return heads


@pytest.mark.parametrize(("levels", "weighed"), [(0, False), (3, False), (6, False), (0, True)])
def test_compiled_equals_plain(levels: int, weighed: bool) -> None:
    assert select_paths.compiled
    random = np.random.default_rng(levels)
    repaired = several = corrected = 0
    for _ in range(500):
        nodes = random_batch(random)
        weights = random.choice([0.5, 1, 2], 2).tolist()
        arguments = (
            *random_heads(random, nodes, levels),
            *(nodes.classes, nodes.parents, nodes.counts, ENDINGS),
            *(float(random.choice([0, 0.25, 0.5, 1, 1.7, 3])), *weights, weighed),
            int(random.integers(1, 7)),
        )
        compiled = select_paths(*arguments)
        for mine, other in zip(compiled, select_paths.plain(*arguments), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-12)
            assert mine.dtype == other.dtype
        paths = RankedPaths(*compiled)
        repaired += int(paths.repaired.sum())
        several += int((paths.scores[:, 1:] >= 0).sum())
        corrected += int(((paths.classes != nodes.classes) & (nodes.parents < 0)).sum())
    assert min(repaired, several, corrected) > 100, "hardly anything was compared"


@pytest.mark.parametrize("k_best", [0, 3])
def test_of_a_batch_each_formula_is_read_as_alone(k_best: int) -> None:
    random = np.random.default_rng(k_best)
    options = DecodingOptions(k_best=k_best)
    for _ in range(50):
        nodes = random_batch(random)
        heads = random_heads(random, nodes)
        together = decode_all(*heads, nodes, ENDINGS, options, alternatives=3)
        assert len(together) == len(nodes)
        for own, found, *rows in zip(nodes, together, *heads, strict=True):
            alone = decode(*rows, own, ENDINGS, k_best=k_best, alternatives=3)
            for one, other in zip(alone, found, strict=True):
                assert np.array_equal(one.nodes, other.nodes)
                assert np.array_equal(one.classes, other.classes)
                assert one.score == other.score


def test_the_best_of_k_paths_is_the_first_of_the_highest_score() -> None:
    random = np.random.default_rng(0)
    later = 0
    for _ in range(200):
        nodes = random_batch(random)
        heads = random_heads(random, nodes)
        three = RankedPaths(
            *select_paths(
                *(*heads, nodes.classes, nodes.parents, nodes.counts, ENDINGS),
                *(0.5, 1.0, 1.0, True, 3),
            )
        )
        found = decode_all(*heads, nodes, ENDINGS, DecodingOptions(k_best=3))
        for row, (best,) in enumerate(found):
            rank = int(three.scores[row].argmax())
            assert np.array_equal(three.hypothesis(row, rank).nodes, best.nodes)
            later += rank > 0
    assert later > 10, "the first path was nearly always the best"


def test_an_empty_batch_gives_no_hypotheses() -> None:
    maps = np.zeros((0, 2, 3, 4), np.float32)
    nodes = pick_all(maps, maps.astype(np.int32), maps[:, 0], ENDINGS, END, SOS, EOS)
    assert len(nodes) == 0
    heads = (np.zeros((0, 2, columns), np.float32) for columns in (END + 2, 2, 2))
    assert decode_all(*heads, nodes, ENDINGS, DecodingOptions(), alternatives=4) == []
