"""A reading is less sure the more it leaves out that PGD would keep."""

from pathlib import Path

import numpy as np
import pytest

from namer_edge_runtime.decode import decode
from namer_edge_runtime.decode.thresholds import MIN_DELETE
from namer_edge_runtime.ink.inkml import read_inkml
from namer_edge_runtime.inputs import LoadedInput
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result

from .formulas import DELETE, ENDINGS, heads, random_nodes

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("k_best", [0, 3])
def test_what_is_left_out_counts_by_how_surely_it_is_deleted(k_best: int) -> None:
    nodes = next(
        nodes
        for nodes in (random_nodes(np.random.default_rng(seed), 7) for seed in range(100))
        if len(nodes) == 7 and (nodes.parents < 0).all()
    )
    probs, left, right = heads(np.array([2, 3]), nodes)  # 4, 5 and 6 are deleted
    scores = []
    for sureness in (1.0, 0.5, 0.25, 0.0):
        probs[4, DELETE] = sureness
        (found,) = decode(probs, left, right, nodes, ENDINGS, k_best=k_best)
        if sureness:
            assert found.nodes.tolist() == [2, 3]
        scores.append(found.score)
    assert scores[1] == pytest.approx(0.5 * scores[0])
    assert scores[2] == pytest.approx(0.25 * scores[0])
    assert scores[3] >= MIN_DELETE * scores[0] * (1 - 1e-6)  # it may be left out at a price


def test_a_second_line_makes_a_reading_unsure() -> None:
    recognizer = Recognizer.from_pretrained(threads=1)
    first, second = (
        [np.asarray(stroke, np.float32) for stroke in read_inkml(EXAMPLES / name).strokes]
        for name in ("sum.inkml", "line.inkml")
    )
    low, high = np.concatenate(first).max(0), np.concatenate(second).min(0)
    below = np.array([0, low[1] - high[1] + 0.5 * np.ptp(np.concatenate(second), 0)[1]], np.float32)
    together = [*first, *(stroke + below for stroke in second)]
    (both,) = recognizer.single_pass([LoadedInput(together, None)], 1)  # as one line
    assert min(recognizer.strokes(ink).score for ink in (first, second)) > 0.7
    assert isinstance(both, Result)
    assert both.score < 0.3
