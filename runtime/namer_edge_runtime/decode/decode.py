"""The entry point of path selection: PGD's scores in, readings of the formula out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError, UsageError
from .graph import build, revise
from .path import longest_paths
from .pick import EOS, SOS, Nodes
from .repair import repair


@dataclass(frozen=True)
class Path:
    """One reading of a formula; its nodes are well nested, so it serialises to balanced LaTeX."""

    nodes: NDArray[np.int64]
    """[n] indices into the `Nodes` it was decoded from, in reading order, `<sos>`, `<eos>` not."""
    classes: NDArray[np.int64]
    """[n] revised class of each: a visual class, or K for "}"."""
    score: float
    """In [0, 1]: product of P(class) over the nodes and of E / (sum of weights) over the edges from
    `<sos>` to `<eos>`, those that repair made included. An empty reading has score 0."""
    node_scores: NDArray[np.float32]
    """[n] P(class) of each node by the self head."""
    repaired: bool
    """The longest path was not well nested and had to be changed (see `repair`)."""


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
        alternatives: the most readings to return. Further ones are the next longest paths that,
            repaired, say something else; often there are none.

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
    # Repair can make two paths one, so some more are asked for where several are wanted.
    count = alternatives if alternatives == 1 else 2 * alternatives
    readings: dict[bytes, Path] = {}
    for route in longest_paths(graph, count):
        inner = route.nodes[1:-1]
        chosen = repair(inner, nodes.parents, graph.scores)
        node_scores = np.nan_to_num(self_probs[chosen, classes[chosen]])
        whole = np.concatenate(([SOS], chosen, [EOS]))
        edges = graph.scores[whole[:-1], whole[1:]] / total
        reading = Path(
            nodes=chosen,
            classes=classes[chosen],
            score=_product(node_scores, edges),
            node_scores=node_scores.astype(np.float32),
            repaired=not np.array_equal(inner, chosen),
        )
        readings.setdefault(reading.classes.tobytes(), reading)
    return list(readings.values())[:alternatives]


def _product(node_scores: NDArray[np.float32], edges: NDArray[np.float64]) -> float:
    """The score of a reading, in [0, 1]."""
    if not len(node_scores):
        return 0.0
    return float(np.clip(np.prod(node_scores, dtype=np.float64) * np.prod(edges), 0, 1))
