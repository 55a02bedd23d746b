"""What a recognition returns."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class TokenResult:
    """One visual token of the formula, in reading order."""

    text: str
    score: float
    """Probability in [0, 1] of its class."""
    x: float
    y: float
    """Where it stands, in coordinates of the input (pixels of the picture, or the ink's unit)."""


@dataclass(frozen=True)
class Alternative:
    """Another reading of the same input."""

    latex: str
    canonical: str
    score: float


@dataclass(frozen=True)
class Milliseconds:
    """Time of each stage; a batch's time is shared out evenly among its pictures."""

    prepare: float = 0.0
    vat: float = 0.0
    pgd: float = 0.0
    path: float = 0.0

    @property
    def total(self) -> float:
        return self.prepare + self.vat + self.pgd + self.path

    def __add__(self, other: "Milliseconds") -> "Milliseconds":
        """Of two looks at one input."""
        return Milliseconds(
            self.prepare + other.prepare,
            self.vat + other.vat,
            self.pgd + other.pgd,
            self.path + other.path,
        )

    def to_json(self) -> dict[str, float]:
        values = {**asdict(self), "total": self.total}
        return {stage: round(value, 3) for stage, value in values.items()}


@dataclass(frozen=True)
class Result:
    """One recognised formula. A blank page gives an empty one with score 0."""

    latex: str
    """Compact LaTeX, ready to be set."""
    canonical: str
    """Space-separated tokens in the form of the published labels: what is scored."""
    score: float
    """Product of the probabilities of the path's classes and edges, in [0, 1]."""
    tokens: tuple[TokenResult, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    """Other readings, where they were asked for, the most probable first. Those of one look go by
    score, and the first may have a higher one than the answer, which is the longest path; those
    of several looks go by their votes (`Ballot`)."""
    engine: str = ""
    device: str = ""
    """Engine and device that really ran."""
    precision: str = ""
    milliseconds: Milliseconds = Milliseconds()
    truncated: bool = False
    """There were more nodes than the model takes; the least likely were left out."""

    @property
    def mathml(self) -> str:
        """Presentation MathML."""
        from .formula.mathml import mathml

        return mathml(self.canonical.split())

    def to_json(self) -> dict[str, Any]:
        """The object that `namer-edge recognize --jsonl` writes, but for its `source`."""
        value: dict[str, Any] = {
            "latex": self.latex,
            "canonical": self.canonical,
            "score": round(self.score, 6),
            "tokens": [
                {
                    "text": token.text,
                    "score": round(token.score, 4),
                    "x": round(token.x, 2),
                    "y": round(token.y, 2),
                }
                for token in self.tokens
            ],
            "engine": self.engine,
            "device": self.device,
            "precision": self.precision,
            "milliseconds": self.milliseconds.to_json(),
        }
        if self.alternatives:
            value["alternatives"] = [asdict(alternative) for alternative in self.alternatives]
        if self.truncated:
            value["truncated"] = True
        return value
