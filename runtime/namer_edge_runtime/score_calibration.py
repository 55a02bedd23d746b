"""Calibration: scores of the network → probabilities of being right."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bounded import bounded, from_json
from .errors import ModelFileError
from .result import Reading, Result

R = TypeVar("R", bound=Reading)
CLOSEST = 1e-6
"""Scores are kept this far from 0 and 1, whose logits are infinite."""


@dataclass(frozen=True)
class PlattScaling:
    """p = σ(slope · logit(score) + offset): temperature 1 / slope, and a shift (Platt scaling).

    Fitted where the truth is known (`namer_edge.evaluation.calibration.fit`). It keeps the order of
    scores, and 0 stays 0: nothing was read. The default changes nothing.
    """

    slope: float = bounded(1.0, 1e-9, 1e9)
    offset: float = bounded(0.0, -1e9, 1e9)

    @staticmethod
    def logit(score: ArrayLike) -> NDArray[np.float64]:
        p = np.clip(np.asarray(score, np.float64), CLOSEST, 1 - CLOSEST)
        return np.log(p) - np.log1p(-p)

    def __call__(self, score: float) -> float:
        """The probability, in [0, 1], that what has this score is right."""
        if score <= 0 or self == PlattScaling():
            return score
        return float(1 / (1 + np.exp(-(self.slope * self.logit(score) + self.offset))))


@dataclass(frozen=True)
class ScoreCalibration:
    """Calibration of a model's scores, kept in `model.json`."""

    formula: PlattScaling = PlattScaling()
    """Scaling of a whole reading, the winner of voting, and of its alternatives."""
    token: PlattScaling = PlattScaling()

    def __call__(self, result: Result) -> Result:
        if self == ScoreCalibration():
            return result
        answer = self._scaled(result)
        others = [self._scaled(other) for other in result.alternatives]
        # One of them is right at most: together they cannot be likelier than what is left.
        held = sum(other.score for other in others)
        share = min(1.0, (1.0 - answer.score) / held) if held else 1.0
        alternatives = tuple(replace(other, score=other.score * share) for other in others)
        return replace(answer, alternatives=alternatives)

    def _scaled(self, reading: R) -> R:
        tokens = tuple(replace(t, score=self.token(t.score)) for t in reading.tokens)
        return replace(reading, score=self.formula(reading.score), tokens=tokens)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> "ScoreCalibration":
        """Raises `ModelFileError` where it is no table of slopes and offsets."""
        if not isinstance(value, Mapping) or not set(value) <= {"formula", "token"}:
            raise ModelFileError(
                f'scalings is {value!r:.60}: must hold "formula" and "token" alone'
            )
        return cls(**{k: from_json(PlattScaling, v, f"scalings.{k}") for k, v in value.items()})
