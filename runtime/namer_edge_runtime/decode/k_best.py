"""Other readings than the best: along other paths, and with other classes on them.

The longest path of the paper is one answer. What a user picks from, when it is wrong, is what is
most probable after it, by the same product of probabilities that is a reading's score. Edges under
epsilon take part, nodes that were deleted with little conviction, and classes that came second.
"""

from dataclasses import replace
from heapq import nlargest

import numpy as np
from numpy.typing import NDArray

from .graph import build, revise
from .hypothesis import Evidence, Hypothesis
from .path import longest_paths
from .pick import Nodes
from .thresholds import LEAST, WEAKEST_CLASS, WEAKEST_EDGE

MOST_CLASSES = 4
"""Classes that are tried at one node."""


def alternatives(
    nodes: Nodes,
    self_probs: NDArray[np.float32],
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    vocabulary_endings: NDArray[np.integer],
    count: int,
    *,
    left_weight: float,
    right_weight: float,
) -> list[Hypothesis]:
    """Up to `count` readings by falling score.

    The `count` most probable paths of the wider graph, repaired, and of these all combinations of
    likely classes with the same number of endings, the best `count` in all; no two say the same.
    """
    classes = revise(self_probs, nodes, vocabulary_endings, deleting=False)
    own = np.where(nodes.parents < 0, np.arange(len(nodes)), nodes.parents)
    alive = np.nan_to_num(self_probs[own, classes[own]]) >= WEAKEST_CLASS
    alive[:2] = True
    graph = build(
        left,
        right,
        alive,
        epsilon=WEAKEST_EDGE * (left_weight + right_weight),
        left_weight=left_weight,
        right_weight=right_weight,
    )
    total = left_weight + right_weight
    wider = Evidence(nodes, self_probs, graph.scores / total)
    of_class = np.nan_to_num(self_probs[np.arange(len(nodes)), classes])
    of_class[:2] = 1
    # The longest path over logarithms is the most probable one: what is read is not deleted.
    likely = np.maximum(graph.weights / total, LEAST) * np.maximum(of_class[graph.targets], LEAST)
    likely /= wider.deleted[graph.targets]
    routes = longest_paths(replace(graph, weights=np.log(likely)), count)
    readings: dict[bytes, Hypothesis] = {}
    for route in routes:
        for reading in _with_other_classes(
            wider.read(route.nodes, classes), self_probs, vocabulary_endings, count
        ):
            known = readings.setdefault(reading.classes.tobytes(), reading)
            if reading.score > known.score:
                readings[reading.classes.tobytes()] = reading
    possible = (reading for reading in readings.values() if reading.score > 0)
    return nlargest(count, possible, key=lambda reading: reading.score)


def _with_other_classes(
    reading: Hypothesis,
    self_probs: NDArray[np.float32],
    vocabulary_endings: NDArray[np.integer],
    count: int,
) -> list[Hypothesis]:
    """The `count` most probable choices of classes along one path, its own first.

    Classes are independent of each other given the path, so the best choices for its first nodes
    are all that is needed to find those for one node more.
    """
    visual = np.flatnonzero(reading.classes < len(vocabulary_endings))
    best: list[tuple[float, tuple[int, ...]]] = [(1.0, ())]
    for place in visual:
        label = reading.classes[place]
        probs = self_probs[reading.nodes[place], : len(vocabulary_endings)]
        fitting = np.where(vocabulary_endings == vocabulary_endings[label], probs, 0)
        likely = [c for c in np.argsort(-fitting)[:MOST_CLASSES] if fitting[c] >= WEAKEST_CLASS]
        options = [(1.0, int(label))] + [
            (float(fitting[other] / max(fitting[label], LEAST)), int(other))
            for other in likely
            if other != label
        ]
        best = nlargest(
            count,
            ((odds * more, (*chosen, c)) for odds, chosen in best for more, c in options),
            key=lambda choice: choice[0],
        )
    return [_changed(reading, visual, odds, chosen, self_probs) for odds, chosen in best]


def _changed(
    reading: Hypothesis,
    visual: NDArray[np.int64],
    odds: float,
    chosen: tuple[int, ...],
    self_probs: NDArray[np.float32],
) -> Hypothesis:
    """The reading with these classes at its visual nodes, `odds` times as probable."""
    classes, node_scores = reading.classes.copy(), reading.node_scores.copy()
    classes[visual] = chosen
    node_scores[visual] = self_probs[reading.nodes[visual], classes[visual]]
    score = min(1.0, reading.score * odds)
    return replace(reading, classes=classes, node_scores=node_scores, score=score)
