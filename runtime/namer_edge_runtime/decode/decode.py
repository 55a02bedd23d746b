"""The entry point of path selection: PGD's probabilities in, hypotheses of formulas out."""

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError, UsageError
from .hypothesis import Hypothesis
from .jit import plain_array
from .k_best import alternatives as other_hypotheses
from .options import DecodingOptions
from .path_selection import RankedPaths, select_paths
from .pick import NodeBatch, Nodes
from .thresholds import MAX_K_BEST


def decode(
    self_probs: NDArray[np.float32],
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    nodes: Nodes,
    vocabulary_endings: NDArray[np.integer],
    *,
    alternatives: int = 1,
    **options: Any,
) -> list[Hypothesis]:
    """Hypotheses of one formula, best first: `decode_all` for heads [N, …] and `DecodingOptions` by
    name."""
    return decode_all(
        self_probs[None],
        left[None],
        right[None],
        NodeBatch.of(nodes),
        vocabulary_endings,
        DecodingOptions(**options),
        alternatives=alternatives,
    )[0]


def decode_all(
    self_probs: NDArray[np.float32],
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    nodes: NodeBatch,
    vocabulary_endings: NDArray[np.integer],
    options: DecodingOptions,
    *,
    alternatives: int = 1,
) -> list[list[Hypothesis]]:
    """Hypotheses of B formulas, for each its own, best first.

    The first is the longest path (section "Path Selection"), repaired. With `options.k_best` it is
    the hypothesis of the highest score (`Hypothesis.score`) of so many most probable paths, through
    all nodes and all edges but the weakest; `epsilon` has no say then.

    Args:
        self_probs: [B, N, K + 2] the self head over K visual classes, "}", delete (eq. 6).
        left: [B, N, N] P(left neighbor of row is column) (eq. 7).
        right: [B, N, N] P(right neighbor of row is column).
        nodes: what PGD was given; rows and columns beyond a formula's own nodes are ignored.
        vocabulary_endings: [K] number of endings of each visual class.
        alternatives: the most hypotheses of a formula to return. Further ones are the most probable
            others, by falling score (`k_best.py`), along at most `MAX_K_BEST` paths; one may even
            have a higher score than the first.

    Returns:
        At least one hypothesis for each formula; its path is empty where no node stays.

    Raises:
        EngineError: an array is too small for the nodes or the vocabulary.
        UsageError: epsilon or a weight is no finite number, a weight is negative or both are 0,
            `alternatives` is below 1, or `k_best` below 0 or above `MAX_K_BEST`.
    """
    batch, size, labels = len(nodes), nodes.classes.shape[1], len(vocabulary_endings)
    shape = self_probs.shape
    if len(shape) != 3 or shape[0] < batch or shape[1] < size or shape[2] != labels + 2:
        raise EngineError(
            f"the self head must be [{size} or more, {labels + 2}] for these nodes and this "
            f"vocabulary, but it is {shape[1:]}: model and vocabulary do not belong together"
        )
    own = nodes.classes[:, 2:]
    if own.size and not 0 <= own.min() <= own.max() <= labels:
        raise EngineError(f"a node has a class outside 0 … {labels}, which is all there are")
    for name, head in (("left", left), ("right", right)):
        if head.ndim != 3 or len(head) < batch or min(head.shape[1:]) < size:
            raise EngineError(f"the {name} head is {head.shape[1:]}, too small for {size} nodes")
    weights = options.left_weight, options.right_weight
    total = sum(weights)
    if not (isfinite(options.epsilon) and isfinite(total) and total > 0):
        raise UsageError(
            f"epsilon {options.epsilon} and edge weights {weights} must be finite, and one weight "
            "at least above 0"
        )
    if min(weights) < 0 or alternatives < 1:
        raise UsageError(
            f"edge weights {weights} must not be negative, and alternatives ({alternatives}) must "
            "be 1 or more"
        )
    k_best = int(options.k_best)
    if not 0 <= k_best <= MAX_K_BEST:
        raise UsageError(f"k_best is {k_best}: it must be from 0 to {MAX_K_BEST}")

    arrays = (
        plain_array(self_probs, np.float32),
        plain_array(left, np.float32),
        plain_array(right, np.float32),
        plain_array(nodes.classes, np.int64),
        plain_array(nodes.parents, np.int64),
        plain_array(nodes.counts, np.int64),
        plain_array(vocabulary_endings, np.int8),
        float(options.epsilon),
        float(options.left_weight),
        float(options.right_weight),
    )
    others = int(min(alternatives, MAX_K_BEST)) if alternatives > 1 else 0
    ranks = max(k_best, others) if k_best else 1
    paths = RankedPaths(*select_paths(*arrays, k_best > 0, ranks))
    best = paths.scores[:, : k_best or 1].argmax(1).tolist()
    found = [[paths.hypothesis(row, rank)] for row, rank in enumerate(best)]
    if not others:
        return found
    if not k_best:
        paths = RankedPaths(*select_paths(*arrays, True, others))
    for row, first in enumerate(found):
        ranked = [
            paths.hypothesis(row, rank) for rank in range(others) if paths.scores[row, rank] >= 0
        ]
        best_classes = first[0].classes.tobytes()
        first += [
            other
            for other in other_hypotheses(ranked, self_probs[row], vocabulary_endings, alternatives)
            if other.classes.tobytes() != best_classes
        ][: alternatives - 1]
    return found
