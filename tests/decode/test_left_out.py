"""A reading is less sure the more it leaves out."""

from pathlib import Path

import numpy as np
import pytest

from namer_edge_runtime.decode import Nodes
from namer_edge_runtime.decode import Path as Reading
from namer_edge_runtime.decode.left_out import NEAR, nothing_left
from namer_edge_runtime.ink.inkml import read_inkml
from namer_edge_runtime.recognizer import Recognizer

EXAMPLES = Path(__file__).parents[2] / "examples"
DELETED = (0.0, 0.0, 0.2, 0.5, 0.25)
"""P(delete) of <sos>, <eos> and three visual nodes."""


def left(*cells: tuple[int, int]) -> float:
    """Of three nodes the first is read."""
    nodes = Nodes(
        cells=np.array([(0, 0), (0, 0), *cells]),
        classes=np.zeros(5, np.int64),
        endings=np.zeros(5, np.int64),
        parents=np.full(5, -1),
        scores=np.ones(5, np.float32),
    )
    said = np.zeros((5, 4), np.float32)
    said[:, -1] = DELETED
    one = np.array([2])
    return nothing_left(
        Reading(one, np.zeros(1, np.int64), 0.9, np.ones(1, np.float32), False), nodes, said
    )


def test_far_nodes_count_and_near_ones_are_the_same_symbol() -> None:
    assert left((5, 5), (5, 5 + NEAR), (5 - NEAR, 5)) == 1
    assert left((5, 5), (5, 6 + NEAR), (5, 5)) == pytest.approx(0.5)
    assert left((5, 5), (5, 6 + NEAR), (6 + NEAR, 5)) == pytest.approx(0.5 * 0.25)


def test_a_second_line_makes_a_reading_unsure() -> None:
    recognizer = Recognizer.from_pretrained(threads=1)
    first, second = (
        [np.asarray(stroke, np.float32) for stroke in read_inkml(EXAMPLES / name).strokes]
        for name in ("sum.inkml", "line.inkml")
    )
    low, high = np.concatenate(first).max(0), np.concatenate(second).min(0)
    below = np.array([0, low[1] - high[1] + 0.5 * np.ptp(np.concatenate(second), 0)[1]], np.float32)
    both = recognizer.strokes([*first, *(stroke + below for stroke in second)])
    assert min(recognizer.strokes(ink).score for ink in (first, second)) > 0.7
    assert both.score < 0.3
