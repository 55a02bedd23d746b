"""The n-best list: hypotheses along several paths, and with other classes on them.

The longest path of the paper is one answer. The next best are the most probable others by the same
score. Edges under epsilon take part, nodes that were deleted in doubt, and classes that came
second.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import nlargest

import numpy as np
from numpy.typing import NDArray

from .hypothesis import Hypothesis
from .thresholds import MIN_CLASS, MIN_PROBABILITY

MAX_CLASSES = 4
"""Classes that are tried at one node."""


def alternatives(
    paths: Iterable[Hypothesis],
    self_probs: NDArray[np.float32],
    vocabulary_endings: NDArray[np.integer],
    count: int,
) -> list[Hypothesis]:
    """Up to `count` hypotheses by falling score, no two with the same classes.

    They are the best of all combinations of likely classes, each with the same number of endings,
    along these paths.
    """
    best: dict[bytes, Hypothesis] = {}
    for path in paths:
        for found in _with_other_classes(path, self_probs, vocabulary_endings, count):
            known = best.setdefault(found.classes.tobytes(), found)
            if found.score > known.score:
                best[found.classes.tobytes()] = found
    possible = (found for found in best.values() if found.score > 0)
    return nlargest(count, possible, key=lambda found: found.score)


def _with_other_classes(
    path: Hypothesis,
    self_probs: NDArray[np.float32],
    vocabulary_endings: NDArray[np.integer],
    count: int,
) -> Iterator[Hypothesis]:
    """The `count` most probable choices of classes along one path.

    Classes are independent of each other given the path, so the best choices for one node more
    extend the best choices for the nodes before it.
    """
    visual = np.flatnonzero(path.classes < len(vocabulary_endings))
    best: list[tuple[float, tuple[int, ...]]] = [(1.0, ())]
    for place in visual:
        label = path.classes[place]
        probs = self_probs[path.nodes[place], : len(vocabulary_endings)]
        fitting = np.where(vocabulary_endings == vocabulary_endings[label], probs, 0)
        likely = [c for c in np.argsort(-fitting)[:MAX_CLASSES] if fitting[c] >= MIN_CLASS]
        options = [(1.0, int(label))] + [
            (float(fitting[other] / max(fitting[label], MIN_PROBABILITY)), int(other))
            for other in likely
            if other != label
        ]
        best = nlargest(
            count,
            ((odds * more, (*chosen, c)) for odds, chosen in best for more, c in options),
            key=lambda choice: choice[0],
        )
    for odds, chosen in best:
        classes, node_scores = path.classes.copy(), path.node_scores.copy()
        classes[visual] = chosen
        node_scores[visual] = self_probs[path.nodes[visual], classes[visual]]
        score = min(1.0, path.score * odds)
        yield replace(path, classes=classes, node_scores=node_scores, score=score)
