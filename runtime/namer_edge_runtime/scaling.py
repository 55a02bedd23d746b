"""Scores as they come out of the network → probabilities of being right."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

CLOSEST = 1e-6
"""Scores are kept this far from 0 and 1, whose logits are infinite."""


@dataclass(frozen=True)
class Scaling:
    """p = σ(slope · logit(score) + offset): temperature 1 / slope, and a shift (Platt scaling).

    Fitted where the truth is known (`namer_edge.evaluation.confidence.fit`). It keeps the order of
    scores, and 0 stays 0: nothing was read. The default changes nothing.
    """

    slope: float = 1.0
    offset: float = 0.0

    @staticmethod
    def logit(score: ArrayLike) -> NDArray[np.float64]:
        p = np.clip(np.asarray(score, np.float64), CLOSEST, 1 - CLOSEST)
        return np.log(p) - np.log1p(-p)

    def __call__(self, score: float) -> float:
        """The probability, in [0, 1], that what has this score is right."""
        if score <= 0 or self == Scaling():
            return score
        return float(1 / (1 + np.exp(-(self.slope * self.logit(score) + self.offset))))
