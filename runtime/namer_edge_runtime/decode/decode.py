"""The entry point of path selection: PGD's scores in, readings of formulas out."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError, UsageError
from .hypothesis import Hypothesis
from .k_best import alternatives as other_readings
from .path_selection import select
from .pick import Nodes
from .thresholds import MAX_K_BEST


def decode(
    self_probs: NDArray[np.float32],
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    nodes: Nodes,
    vocabulary_endings: NDArray[np.integer],
    *,
    epsilon: float = 0.5,
    left_weight: float = 1.0,
    right_weight: float = 1.0,
    routes: int = 0,
    alternatives: int = 1,
) -> list[Hypothesis]:
    """Readings of one formula, best first: `decode_all` for heads [N, …] and one list of nodes."""
    return decode_all(
        self_probs[None],
        left[None],
        right[None],
        [nodes],
        vocabulary_endings,
        epsilon=epsilon,
        left_weight=left_weight,
        right_weight=right_weight,
        routes=routes,
        alternatives=alternatives,
    )[0]


def decode_all(
    self_probs: NDArray[np.float32],
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    nodes: Sequence[Nodes],
    vocabulary_endings: NDArray[np.integer],
    *,
    epsilon: float = 0.5,
    left_weight: float = 1.0,
    right_weight: float = 1.0,
    routes: int = 0,
    alternatives: int = 1,
) -> list[list[Hypothesis]]:
    """Readings of B formulas, for each its own, best first.

    The best is the longest path (section "Path Selection"), repaired, or with `routes` the most
    probable reading of so many paths; that of all formulas is found in one compiled call.

    Args:
        self_probs: [B, N, K + 2] the self head over K visual classes, "}", delete (eq. 6).
        left: [B, N, N] P(left neighbor of row is column) (eq. 7).
        right: [B, N, N] P(right neighbor of row is column).
        nodes: [B] what PGD was given. Rows and columns beyond a formula's own nodes are padding,
            and ignored.
        vocabulary_endings: [K] number of endings of each visual class.
        epsilon: edges weaker than this, after weighting, go.
        left_weight, right_weight: weights of the two heads in an edge (table S3).
        routes: 0 for the paper's rule: nodes that are more likely to be deleted than not go, the
            longest path is the formula. From 1 on, so many of the most probable paths are looked
            at, through all nodes and all edges but the weakest, and of their readings, repaired,
            the one of the highest score is the formula (`Hypothesis.score`); `epsilon` has no say.
        alternatives: the most readings of a formula to return. Further ones are the most probable
            others, by falling score (`alternatives.py`); one may even have a higher score than the
            first.

    Returns:
        At least one reading for each formula; its path is empty where no node stays.

    Raises:
        EngineError: an array is too small for the nodes or the vocabulary.
        UsageError: epsilon or a weight is no finite number, a weight is negative or both are 0, or
            `alternatives` is below 1, or `routes` below 0 or above `MAX_K_BEST`.
    """
    size, labels = max(map(len, nodes), default=0), len(vocabulary_endings)
    shape = self_probs.shape
    if len(shape) != 3 or shape[0] < len(nodes) or shape[1] < size or shape[2] != labels + 2:
        raise EngineError(
            f"the self head must be [{size} or more, {labels + 2}] for these nodes and this "
            f"vocabulary, but it is {shape[1:]}: model and vocabulary do not belong together"
        )
    for own in nodes:
        if len(own) > 2 and not 0 <= own.classes[2:].min() <= own.classes[2:].max() <= labels:
            raise EngineError(f"a node has a class outside 0 … {labels}, which is all there are")
    for name, head in (("left", left), ("right", right)):
        if head.ndim != 3 or len(head) < len(nodes) or min(head.shape[1:]) < size:
            raise EngineError(f"the {name} head is {head.shape[1:]}, too small for {size} nodes")
    total = left_weight + right_weight
    if not (np.isfinite(epsilon) and np.isfinite(total) and total > 0):
        raise UsageError(
            f"epsilon {epsilon} and edge weights {left_weight}:{right_weight} must be finite, and "
            "one weight at least above 0"
        )
    if min(left_weight, right_weight) < 0 or alternatives < 1:
        raise UsageError(
            f"edge weights {left_weight}:{right_weight} must not be negative, and alternatives "
            f"({alternatives}) must be 1 or more"
        )
    if not 0 <= routes <= MAX_K_BEST:
        raise UsageError(f"routes is {routes}: it must be from 0 to {MAX_K_BEST}")

    best = select(
        self_probs,
        left,
        right,
        nodes,
        vocabulary_endings,
        epsilon=epsilon,
        left_weight=left_weight,
        right_weight=right_weight,
        routes=routes,
    )
    if alternatives == 1:
        return [[path] for path in best]
    readings = []
    for row, (path, own) in enumerate(zip(best, nodes, strict=True)):
        n = len(own)
        others = other_readings(
            own,
            self_probs[row, :n],
            left[row, :n, :n],
            right[row, :n, :n],
            vocabulary_endings,
            alternatives,
            left_weight=left_weight,
            right_weight=right_weight,
        )
        said = path.classes.tobytes()
        different = [other for other in others if other.classes.tobytes() != said]
        readings.append([path, *different][:alternatives])
    return readings
