"""Options of token picking and path selection: constants that travel with a model."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import wraps
from operator import attrgetter
from typing import Any, TypeVar

from ..errors import ModelFileError
from .thresholds import MAX_K_BEST

T = TypeVar("T")

SIZES = 0.1, 10.0
"""Least and largest of `tta_scales`: beyond them nothing could be read, or memory would go."""
STORED = {"k_best": "routes", "tta_scales": "second_looks", "confidence_threshold": "sure"}
"""Fields whose key in a model file is another: their former name."""


def _with_former_names(options: type[T]) -> type[T]:
    """The class, whose former names still work as arguments, in `replace` and as attributes."""
    made: Callable[..., None] = options.__init__

    @wraps(made)
    def init(self: T, *values: Any, **named: Any) -> None:
        for name, former in STORED.items():
            if former in named:
                named[name] = named.pop(former)
        made(self, *values, **named)

    options.__init__ = init  # type: ignore[assignment]
    for name, former in STORED.items():
        setattr(options, former, property(attrgetter(name), doc=f"Former name of `{name}`."))
    return options


@_with_former_names
@dataclass(frozen=True)
class DecodingOptions:
    """Constants of token picking (eq. 4, and recall-first beyond it) and of path selection."""

    epsilon: float = 0.5
    """Edges weaker than this, after weighting, go (section "Path Selection")."""
    left_weight: float = 1.0
    right_weight: float = 1.0
    """Weights of the two connectivity heads in an edge (eq. 10, table S3)."""
    threshold: float = 2.0
    """Summed probability of the classes with the same number of endings from which the best of them
    becomes a node at a peak, though another class or "none" wins; above 1 this is off, which is the
    paper's rule (eq. 4)."""
    k_best: int = 0
    """Number of most probable paths whose hypotheses are weighed, nodes to delete counted too: that
    of the highest score is the formula. 0: the longest path, the paper's rule."""
    max_nodes: int = 512
    """What exceeds it goes by score, and the result says `truncated`."""
    tta_scales: tuple[float, ...] = ()
    """Test-time augmentation: sizes, relative to the symbol height of preprocessing, at which an
    input is read again whose first score is under `confidence_threshold`; the passes vote
    (`Votes`). Empty: one pass, the paper's way."""
    confidence_threshold: float = 1.0
    """Score from which the first pass stands."""

    def to_json(self) -> dict[str, Any]:
        return {STORED.get(name, name): value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "DecodingOptions":
        """Raises `ModelFileError` for unknown keys and for values that cannot be."""
        unknown = sorted(set(value) - {STORED.get(f.name, f.name) for f in fields(cls)})
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
