"""Matching on cases made by hand: crossing windows, two tokens for one cell, no token at all."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from namer_edge.data.batches import UNKNOWN
from namer_edge.training.matching import match

NONE = 3


def believing(height: int, width: int, **cells: tuple[int, float]) -> np.ndarray:
    """Probabilities [4, h, w] of "none" everywhere but in cells r{row}c{column} = (class, P)."""
    p = np.zeros((NONE + 1, height, width), np.float32)
    p[NONE] = 1.0
    for name, (token, probability) in cells.items():
        row, column = (int(x) for x in name[1:].split("c"))
        p[:, row, column] = 0
        p[token, row, column] = probability
        p[NONE, row, column] = 1 - probability
    return p


def matched(
    p: np.ndarray, classes: list[int], cells: list[tuple[int, int]], window: int = 5
) -> list:
    estimates = np.array(cells, np.int64).reshape(-1, 2)
    return match(p, np.array(classes, np.int64), estimates, window).tolist()


def test_a_token_goes_where_it_is_believed_inside_its_window() -> None:
    p = believing(6, 9, r2c3=(0, 0.9), r2c7=(0, 0.99))
    assert matched(p, [0], [(3, 4)]) == [[2, 3]]  # the stronger one lies outside


def test_a_stranger_goes_where_anything_is_believed() -> None:
    p = believing(6, 9, r2c3=(0, 0.5), r2c4=(1, 0.9), r2c7=(0, 0.99))
    assert matched(p, [UNKNOWN], [(3, 4)]) == [[2, 4]]
    assert matched(p, [1, UNKNOWN], [(3, 4), (3, 4)]) == [[2, 4], [2, 3]]


def test_windows_that_cross_are_shared_out_by_class() -> None:
    p = believing(5, 8, r2c3=(0, 0.8), r2c4=(1, 0.8))
    assert matched(p, [1, 0], [(2, 3), (2, 4)]) == [[2, 4], [2, 3]]


def test_two_tokens_that_want_one_cell_get_two() -> None:
    p = believing(5, 8, r2c3=(0, 0.9), r2c4=(0, 0.4))
    cells = matched(p, [0, 0], [(2, 3), (2, 3)])
    assert sorted(cells) == [[2, 3], [2, 4]]


def test_the_sum_counts_not_the_first_comer() -> None:
    """Greedy would give the first token its best cell and leave the second one nothing."""
    p = believing(1, 7, r0c1=(0, 0.6), r0c3=(0, 0.7))
    assert matched(p, [0, 0], [(0, 2), (0, 5)]) == [[0, 1], [0, 3]]


def test_a_crowd_finds_cells_in_a_wider_window() -> None:
    p = believing(4, 4)
    cells = matched(p, [0] * 10, [(0, 0)] * 10, window=3)
    assert len({tuple(cell) for cell in cells}) == 10


def test_an_empty_label_matches_nothing() -> None:
    assert matched(believing(4, 4), [], []) == []


def test_more_tokens_than_cells_is_an_error() -> None:
    with pytest.raises(ValueError, match="cannot share"):
        matched(believing(2, 2), [0] * 5, [(0, 0)] * 5)


def as_defined(
    p: np.ndarray, classes: np.ndarray, estimates: np.ndarray, window: int
) -> tuple[np.ndarray, float]:
    """The paper's definition: |P - T| inside each token's window, far more outside it, and the
    Hungarian algorithm over all cells. Returns P*, or rather the class of each cell, and the cost.
    """
    height, width = p.shape[1:]
    rows, columns = np.mgrid[:height, :width]
    cost = np.full((len(classes), height, width), 1e6)
    for number, (token, (row, column)) in enumerate(zip(classes, estimates, strict=True)):
        near = np.maximum(abs(rows - row), abs(columns - column)) <= window // 2
        cost[number, near] = abs(p[token].astype(np.float64) - 1)[near]
    tokens, cells = linear_sum_assignment(cost.reshape(len(classes), -1))
    target = np.full(height * width, len(p) - 1)
    target[cells] = classes[tokens]
    return target.reshape(height, width), cost.reshape(len(classes), -1)[tokens, cells].sum()


@pytest.mark.parametrize("window", [3, 5, 7])
def test_random_cases_are_matched_as_the_paper_defines(window: int) -> None:
    rng = np.random.default_rng(window)
    compared = 0
    for _ in range(150):
        height, width = rng.integers(2, 12), rng.integers(4, 40)
        p = rng.dirichlet(np.full(12, 0.3), (height, width)).transpose(2, 0, 1).astype(np.float32)
        count = rng.integers(1, 1 + min(25, height * width // 4))
        classes = rng.integers(0, 11, count)
        estimates = np.stack([rng.integers(0, height, count), rng.integers(0, width, count)], 1)
        target, cost = as_defined(p, classes, estimates, window)
        if cost >= 1e6:  # a crowd: the paper leaves windows, ours widens them
            continue
        cells = match(p, classes, estimates, window)
        ours = np.full((height, width), len(p) - 1)
        ours[tuple(cells.T)] = classes
        assert np.array_equal(ours, target)
        compared += 1
    assert compared > 100
