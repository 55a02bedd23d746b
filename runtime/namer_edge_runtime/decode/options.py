"""How nodes are picked and the path through them is chosen: constants that travel with a model."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from ..errors import ModelFileError
from .thresholds import MAX_K_BEST

SIZES = 0.1, 10.0
"""Least and largest of `second_looks`: beyond them nothing could be read, or memory would go."""


@dataclass(frozen=True)
class DecodingOptions:
    """Constants of token picking (eq. 4, and recall-first beyond it) and of path selection."""

    epsilon: float = 0.5
    """Edges weaker than this, after weighting, go (section "Path Selection")."""
    left_weight: float = 1.0
    right_weight: float = 1.0
    """Weights of the two connectivity heads in an edge (eq. 10, table S3)."""
    threshold: float = 2.0
    """Where classes with the same number of endings together have a probability that peaks at or
    above this, the best of them becomes a node though another class or "none" wins; above 1 this is
    off, which is the paper's rule (eq. 4)."""
    routes: int = 0
    """Above 0, so many of the most probable paths are looked at, and the formula is the one of
    their readings that PGD gives the highest probability, nodes to delete counted too; 0: the
    longest path, the paper's way."""
    max_nodes: int = 512
    """What exceeds it goes by score, and the result says `truncated`."""
    second_looks: tuple[float, ...] = ()
    """Sizes, relative to the look's symbol height, at which an input is read again whose first
    score is under `sure`; the looks elect the answer (`Votes`). None: the paper's way."""
    sure: float = 1.0
    """Score from which the first reading stands."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "DecodingOptions":
        """Raises `ModelFileError` for unknown keys and for values that cannot be."""
        unknown = sorted(set(value) - {field.name for field in fields(cls)})
        if unknown:
            raise ModelFileError(
                f"the model's decoding has unknown keys {unknown}: update namer-edge, or export "
                "the model again if it is an old one"
            )
        looks = value.get("second_looks", ())
        if not isinstance(looks, list | tuple):
            raise ModelFileError(f"the model's decoding has second_looks = {looks!r}, no list")
        numbers = [(key, number) for key, number in value.items() if key != "second_looks"]
        for key, number in [*numbers, *(("second_looks", factor) for factor in looks)]:
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise ModelFileError(f"the model's decoding has {key} = {number!r}, no number")
        least, most = SIZES
        if not all(least <= factor <= most for factor in looks):
            raise ModelFileError(
                f"the model's decoding has second_looks = {looks}: not all from {least} to {most}"
            )
        if not 0 <= value.get("sure", 0.0) <= 1:
            raise ModelFileError(f"the model's decoding has sure = {value['sure']}: not in [0, 1]")
        routes = value.get("routes", 0)
        if routes not in range(MAX_K_BEST + 1):
            raise ModelFileError(
                f"the model's decoding has routes = {routes}: not a whole number from 0 to "
                f"{MAX_K_BEST}"
            )
        return cls(**{**value, "second_looks": tuple(looks)})
