"""Random nodes and heads for the tests of path selection."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.decode import Nodes

ENDINGS = np.array([0, 0, 0, 0, 1, 1, 2], np.int8)
"""Seven visual classes: four symbols, two relations with one ending, one with two."""
END, DELETE, SOS, EOS = 7, 8, 8, 9


def random_nodes(random: np.random.Generator, most: int) -> Nodes:
    """At most so many nodes, relations followed by their endings."""
    classes, endings, parents = [SOS, EOS], [0, 0], [-1, -1]
    while len(classes) < most:
        label = int(random.integers(len(ENDINGS)))
        parent = len(classes)
        if parent + 1 + int(ENDINGS[label]) > most:
            label = 0
        for which in range(1 + int(ENDINGS[label])):
            classes.append(END if which else label)
            endings.append(which)
            parents.append(parent if which else -1)
    size = len(classes)
    return Nodes(
        cells=np.zeros((size, 2), np.int64),
        classes=np.array(classes, np.int64),
        endings=np.array(endings, np.int64),
        parents=np.array(parents, np.int64),
        scores=np.ones(size, np.float32),
    )


def softmax(
    random: np.random.Generator, rows: int, columns: int, spread: float
) -> NDArray[np.float32]:
    """Rows of random probabilities; the larger the spread, the surer they are."""
    logits = spread * random.standard_normal((rows, columns))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)


def sure(rows: NDArray[np.int64], labels: int, certainty: float) -> NDArray[np.float32]:
    """[n, labels] rows that put `certainty` on one label each, the rest on all others."""
    probs = np.full((len(rows), labels), (1 - certainty) / (labels - 1), np.float32)
    probs[np.arange(len(rows)), rows] = certainty
    return probs


def heads(
    path: Any, nodes: Nodes, certainty: float = 0.9
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Self, left and right heads of a model that is nearly sure of this path.

    `<sos>` and `<eos>` are not given; nodes that are not on the path are to be deleted.
    """
    size = len(nodes)
    whole = np.concatenate(([0], path, [1])).astype(np.int64)
    right_of, left_of = np.zeros(size, np.int64), np.zeros(size, np.int64)
    right_of[whole[:-1]] = whole[1:]
    left_of[whole[1:]] = whole[:-1]
    classes = np.where(np.isin(np.arange(size), whole), nodes.classes, DELETE)
    classes[:2] = 0
    return (
        sure(classes, len(ENDINGS) + 2, certainty),
        sure(left_of, size, certainty),
        sure(right_of, size, certainty),
    )


def chain(
    random: np.random.Generator, nodes: Nodes
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Heads for a path through all nodes in their order, slightly disturbed."""
    self_probs, left, right = heads(np.arange(2, len(nodes)), nodes)
    noise = random.uniform(0.9, 1, left.shape).astype(np.float32)
    return self_probs, left * noise, right * noise.T
