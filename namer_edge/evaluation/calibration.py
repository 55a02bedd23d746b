"""Discrimination (AUROC) and calibration of scores, and Platt scaling."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.result import Result
from namer_edge_runtime.score_calibration import PlattScaling, ScoreCalibration

from .confusion import BRACES, edit_script
from .exprate import Prediction

BINS = 10
STEPS = 50
"""Newton steps: ten suffice, unless all readings are right or all are wrong."""


@dataclass(frozen=True)
class Bin:
    """Readings whose score lies in one tenth of 0 … 1."""

    low: float
    high: float
    count: int
    score: float
    """Mean score."""
    right: float
    """Share that is right."""


@dataclass(frozen=True)
class Confidence:
    """Discrimination and calibration of scores."""

    total: int
    auroc: float | None
    """Probability that a right reading scores higher than a wrong one (ties count half); None if
    all are right or all are wrong."""
    error: float
    """Expected calibration error: mean distance between score and share of right readings, weighted
    by the readings of each bin."""
    bins: tuple[Bin, ...]
    """Bins that are not empty."""

    @classmethod
    def of(cls, scores: Sequence[float], right: Sequence[bool]) -> "Confidence":
        """`scores` in 0 … 1 and whether each reading is `right`."""
        score, truth = np.asarray(scores, np.float64), np.asarray(right, np.bool_)
        place = np.minimum((score * BINS).astype(int), BINS - 1)
        bins = []
        for number in np.unique(place):
            inside = place == number
            bins.append(
                Bin(
                    number / BINS,
                    (number + 1) / BINS,
                    int(inside.sum()),
                    float(score[inside].mean()),
                    float(truth[inside].mean()),
                )
            )
        error = sum(b.count * abs(b.score - b.right) for b in bins) / max(len(score), 1)
        return cls(len(score), _auroc(score, truth), error, tuple(bins))

    def to_json(self) -> dict[str, Any]:
        return {
            "auroc": None if self.auroc is None else round(self.auroc, 4),
            "calibration_error": round(self.error, 4),
            "bins": [asdict(b) for b in self.bins],
        }

    def text(self) -> str:
        """A line of numbers and the reliability table."""
        auroc = "none" if self.auroc is None else f"{self.auroc:.3f}"
        lines = [
            f"score against truth: AUROC {auroc}, expected calibration error {self.error:.3f}",
            f"{'score':12s} {'files':>6s} {'mean':>7s} {'right':>7s}",
        ]
        lines += [
            f"{b.low:.1f} to {b.high:.1f}   {b.count:6d} {b.score:7.2f} {b.right:7.2f}"
            for b in self.bins
        ]
        return "\n".join(lines)


def fit(scores: Sequence[float], right: Sequence[bool]) -> PlattScaling:
    """The maximum-likelihood Platt scaling of scores to probabilities of being right.

    Logistic regression of truth on the logit of the score, by Newton's method with step halving.
    One right and one wrong reading at even odds are added, so that separable data have a solution.
    """
    score = np.append(np.asarray(scores, np.float64), (0.5, 0.5))
    truth = np.append(np.asarray(right, np.float64), (0.0, 1.0))
    x = np.stack([PlattScaling.logit(score), np.ones(len(score))], 1)

    def loss(weights: NDArray[np.float64]) -> float:
        """Negative log-likelihood."""
        return float(np.logaddexp(0, np.where(truth > 0, -1, 1) * (x @ weights)).sum())

    weights = np.array([1.0, 0.0])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (truth - p)
        curve = (x * (p * (1 - p))[:, None]).T @ x + 1e-9 * np.eye(2)
        step = np.linalg.solve(curve, slope)
        while loss(weights + step) > loss(weights) and np.abs(step).max() > 1e-9:
            step /= 2
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return PlattScaling(float(weights[0]), float(weights[1]))


def fit_score_calibration(
    results: Sequence[Result], readings: Sequence[Prediction]
) -> ScoreCalibration:
    """Scalings of whole readings and of tokens, from unscaled results and their labels."""
    tokens: list[tuple[float, bool]] = []
    for result, reading in zip(results, readings, strict=True):
        tokens += _scored_tokens(result, reading)
    return ScoreCalibration(
        fit([result.score for result in results], [r.errors == 0 for r in readings]),
        fit([score for score, _ in tokens], [right for _, right in tokens]),
    )


def _scored_tokens(result: Result, reading: Prediction) -> list[tuple[float, bool]]:
    """Score of each visual token, and whether a minimal edit script to the label keeps it."""
    label = [token for token in reading.label if token not in BRACES]
    read = [token.text for token in result.tokens]
    # From prediction to label, so that places are those of the prediction.
    wrong = {edit.place for edit in edit_script(read, label) if edit.kind != "insertion"}
    return [(token.score, place not in wrong) for place, token in enumerate(result.tokens)]


def _auroc(score: NDArray[np.float64], truth: NDArray[np.bool_]) -> float | None:
    good, bad = score[truth], score[~truth]
    if not len(good) or not len(bad):
        return None
    order = np.sort(bad)
    below = np.searchsorted(order, good, "left") + np.searchsorted(order, good, "right")
    return float(below.sum() / 2 / len(good) / len(bad))
