"""A score that says 0.8 is right four times out of five, once it is scaled."""

from dataclasses import replace

import numpy as np
import pytest

from namer_edge.evaluation.calibration import Confidence, fit, fit_score_calibration
from namer_edge.evaluation.exprate import Prediction
from namer_edge_runtime.errors import ModelFileError
from namer_edge_runtime.result import Reading as Said
from namer_edge_runtime.result import Result, TokenResult
from namer_edge_runtime.score_calibration import PlattScaling, ScoreCalibration


def drawn(slope: float, offset: float, count: int = 20_000) -> tuple[list[float], list[bool]]:
    """Scores, and whether each was right, if this scaling made them probabilities."""
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.02, 0.98, count)
    chances = [PlattScaling(slope, offset)(score) for score in scores]
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


@pytest.mark.parametrize("slope", [0.3, 0.1])
def test_scores_that_lie_many_orders_apart_are_fitted_too(slope: float) -> None:
    """Where Newton's whole steps lead ever further away."""
    rng = np.random.default_rng(1)
    logits = rng.normal(-4, 7, 700)
    scores = np.clip(1 / (1 + np.exp(-logits)), 1e-6, 1 - 1e-6)
    right = rng.random(700) < [PlattScaling(slope, 1.0)(score) for score in scores]
    found = fit(scores.tolist(), right.tolist())
    assert found.slope == pytest.approx(slope, abs=0.06)
    after = Confidence.of([found(score) for score in scores], right.tolist())
    assert after.error < 0.06


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
    scaling = PlattScaling(0.5, -1.0)
    assert scaling(0.0) == 0.0
    assert 0 < scaling(1e-9) < scaling(0.5) < scaling(1.0) < 1
    assert PlattScaling()(0.123) == 0.123


def test_tokens_are_right_where_the_cheapest_edits_keep_them() -> None:
    def result(read: str, score: float) -> Result:
        tokens = tuple(TokenResult(t, 0.9 if t != "+" else 0.3, 0, 0) for t in read.split())
        return Result("", read, score, tokens, (), "onnxruntime", "CPU", "int8")

    def reading(label: str, read: str) -> Prediction:
        return Prediction("a", tuple(label.split()), tuple(read.split()))

    pairs = [("x - 1", "x + 1", 0.2), ("x - 1", "x - 1", 0.9)] * 30
    found = fit_score_calibration(
        [result(read, score) for _, read, score in pairs],
        [reading(label, read) for label, read, _ in pairs],
    )
    # `+` is always wrong, everything else right; low scores are wrong, high ones right.
    for scaling, low in ((found.token, 0.3), (found.formula, 0.2)):
        assert scaling(low) < 0.1
        assert scaling(0.9) > 0.9
    scaled = found(result("x + 1", 0.2))
    assert scaled.score == found.formula(0.2)
    assert [t.score for t in scaled.tokens] == [found.token(s) for s in (0.9, 0.3, 0.9)]
    assert ScoreCalibration.from_json(found.to_json()) == found


def test_answer_and_alternatives_are_never_likelier_together_than_one() -> None:
    sure = ScoreCalibration(formula=PlattScaling(0.3, 1.5))
    others = tuple(Said("x", "x", score, ()) for score in (0.3, 0.1))
    scaled = sure(replace(Result("y", "y", 0.5, ()), alternatives=others))
    assert scaled.score == sure.formula(0.5)
    assert scaled.score + sum(other.score for other in scaled.alternatives) == pytest.approx(1)
    first, second = scaled.alternatives
    assert first.score / second.score == pytest.approx(sure.formula(0.3) / sure.formula(0.1))
    doubtful = ScoreCalibration(formula=PlattScaling(1.0, -2.0))
    scaled = doubtful(replace(Result("y", "y", 0.5, ()), alternatives=others))
    assert [other.score for other in scaled.alternatives] == [
        doubtful.formula(score) for score in (0.3, 0.1)
    ]


@pytest.mark.parametrize(
    "wrong",
    [{"formula": {"slope": -1.0}}, {"formula": 3}, {"other": {}}, {"token": {"slope": "a"}}],
)
def test_a_malformed_scaling_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ModelFileError, match="scalings"):
        ScoreCalibration.from_json(wrong)
