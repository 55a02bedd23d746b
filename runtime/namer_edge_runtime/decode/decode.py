"""The entry point of path selection: PGD's scores in, readings of the formula out."""

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError, UsageError
from .alternatives import alternatives as other_readings
from .graph import build, revise
from .path import longest_paths
from .pick import Nodes
from .reading import Evidence, Path


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
    alternatives: int = 1,
) -> list[Path]:
    """Readings of one formula, best first: the longest path (section "Path Selection"), repaired.

    Args:
        self_probs: [N, K + 2] the self head over K visual classes, "}", delete (eq. 6).
        left: [N, N] P(left neighbour of row is column) (eq. 7).
        right: [N, N] P(right neighbour of row is column).
        nodes: what PGD was given. Rows and columns beyond its N nodes are padding, and ignored.
        vocabulary_endings: [K] number of endings of each visual class.
        epsilon: edges weaker than this, after weighting, go.
        left_weight, right_weight: weights of the two heads in an edge (table S3).
        alternatives: the most readings to return. Further ones are the most probable others, by
            falling score (`alternatives.py`); one may even have a higher score than the longest
            path, which stays the first.

    Returns:
        At least one reading; its path is empty where no node stays.

    Raises:
        EngineError: an array is too small for the nodes or the vocabulary.
        UsageError: epsilon or a weight is no finite number, a weight is negative or both are 0, or
            `alternatives` is below 1.
    """
    size, labels = len(nodes), len(vocabulary_endings)
    if self_probs.ndim != 2 or len(self_probs) < size or self_probs.shape[1] != labels + 2:
        raise EngineError(
            f"the self head must be [{size} or more, {labels + 2}] for these nodes and this "
            f"vocabulary, but it is {self_probs.shape}: model and vocabulary do not belong together"
        )
    if size > 2 and not 0 <= nodes.classes[2:].min() <= nodes.classes[2:].max() <= labels:
        raise EngineError(f"a node has a class outside 0 … {labels}, which is all there are")
    for name, head in (("left", left), ("right", right)):
        if head.ndim != 2 or min(head.shape) < size:
            raise EngineError(f"the {name} head is {head.shape}, too small for {size} nodes")
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

    self_probs = self_probs[:size]
    classes = revise(self_probs, nodes, vocabulary_endings)
    graph = build(
        left[:size, :size],
        right[:size, :size],
        classes != labels + 1,
        epsilon=epsilon,
        left_weight=left_weight,
        right_weight=right_weight,
    )
    evidence = Evidence(nodes, self_probs, graph.scores / total)
    best = evidence.read(longest_paths(graph)[0].nodes, classes)
    if alternatives == 1:
        return [best]
    others = other_readings(
        evidence,
        left[:size, :size],
        right[:size, :size],
        vocabulary_endings,
        alternatives,
        left_weight=left_weight,
        right_weight=right_weight,
    )
    said = best.classes.tobytes()
    return [best, *(other for other in others if other.classes.tobytes() != said)][:alternatives]
