"""Options of token picking and path selection: constants that travel with a model."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from operator import attrgetter
from typing import Any, TypeVar

from ..bounded import bounded, check_numbers, from_json
from ..errors import ModelFileError
from .thresholds import MAX_K_BEST

T = TypeVar("T")

MAX_SCALES = 64
"""Most `tta_scales`: each costs a pass."""
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

    epsilon: float = bounded(0.5, 0, 1e6)
    """Edges weaker than this, after weighting, go (section "Path Selection")."""
    left_weight: float = bounded(1.0, 0, 1e6)
    right_weight: float = bounded(1.0, 0, 1e6)
    """Weights of the two connectivity heads in an edge (eq. 10, table S3)."""
    threshold: float = bounded(2.0, 0, 1e6)
    """Summed probability of the classes with the same number of endings from which the best of them
    becomes a node at a peak, though another class or "none" wins; above 1 this is off, which is the
    paper's rule (eq. 4)."""
    k_best: int = bounded(0, 0, MAX_K_BEST)
    """Number of most probable paths whose hypotheses are weighed, nodes to delete counted too: that
    of the highest score is the formula. 0: the longest path, the paper's rule."""
    max_nodes: int = bounded(512, 2, 4096)
    """Most nodes of a picture; beyond it the least probable go, and the result says `truncated`."""
    tta_scales: tuple[float, ...] = bounded((), 0.1, 10)
    """Test-time augmentation: sizes, relative to the symbol height of preprocessing, at which an
    input is read again whose first score is under `confidence_threshold`; the passes vote
    (`Votes`). Empty: one pass, the paper's way."""
    confidence_threshold: float = bounded(1.0, 0, 1)
    """Score from which the first pass stands."""

    def __post_init__(self) -> None:
        """Raises `UsageError` for what is no number from 0 on."""
        check_numbers(self)

    def to_json(self) -> dict[str, Any]:
        return {STORED.get(name, name): value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, value: Any) -> "DecodingOptions":
        """Raises `ModelFileError` for unknown keys and for values that cannot be, by their name in
        the file."""
        options = from_json(cls, value, "decoding", STORED)
        if options.left_weight + options.right_weight == 0:
            raise ModelFileError("decoding.left_weight and right_weight are 0: one must be above")
        if len(options.tta_scales) > MAX_SCALES:
            raise ModelFileError(
                f"decoding.second_looks has {len(options.tta_scales)} scales, over {MAX_SCALES}"
            )
        return options
