"""A score that says 0.8 is right four times out of five, once it is scaled."""

import numpy as np
import pytest

from namer_edge.evaluation.confidence import Confidence, fit
from namer_edge_runtime.scaling import Scaling


def drawn(slope: float, offset: float, count: int = 20_000) -> tuple[list[float], list[bool]]:
    """Scores, and whether each was right, if this scaling made them probabilities."""
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.02, 0.98, count)
    chances = [Scaling(slope, offset)(score) for score in scores]
    return scores.tolist(), (rng.random(count) < chances).tolist()


@pytest.mark.parametrize(("slope", "offset"), [(1.0, 0.0), (0.4, -0.5), (2.0, 1.0)])
def test_scaling_is_found_from_what_was_right(slope: float, offset: float) -> None:
    scores, right = drawn(slope, offset)
    found = fit(scores, right)
    assert found.slope == pytest.approx(slope, abs=0.1)
    assert found.offset == pytest.approx(offset, abs=0.1)
    before = Confidence.of(scores, right)
    after = Confidence.of([found(score) for score in scores], right)
    assert after.error < 0.02
    assert after.auroc == pytest.approx(before.auroc, abs=1e-6)
    if slope != 1.0:
        assert before.error > 0.05


def test_auroc_counts_pairs() -> None:
    scores, right = [0.9, 0.8, 0.8, 0.1], [True, False, True, False]
    # Of four pairs three are in order and one is a tie.
    assert Confidence.of(scores, right).auroc == pytest.approx(3.5 / 4)
    assert Confidence.of([0.5, 0.6], [True, True]).auroc is None


def test_bins_hold_all_readings() -> None:
    made = Confidence.of([0.0, 0.05, 0.95, 1.0], [False, False, True, True])
    assert [(b.low, b.count, b.right) for b in made.bins] == [(0.0, 2, 0.0), (0.9, 2, 1.0)]
    assert made.error == pytest.approx(0.025)
    assert "AUROC 1.000" in made.text()
    assert made.to_json()["bins"][1]["count"] == 2


def test_a_clean_sweep_is_fitted_too() -> None:
    found = fit([0.9] * 50, [True] * 50)
    assert 0.9 < found(0.9) < 1.0


def test_scaling_keeps_order_and_nothing() -> None:
    scaling = Scaling(0.5, -1.0)
    assert scaling(0.0) == 0.0
    assert 0 < scaling(1e-9) < scaling(0.5) < scaling(1.0) < 1
    assert Scaling()(0.123) == 0.123
