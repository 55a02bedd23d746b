"""Augmentation of stroke order and direction, which differ between writers and programs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.strokes import Strokes

REVERSED = 0.08
"""Share of the samples in which each stroke is reversed with a probability of a third."""
DISORDERED = 0.15
"""Share of the samples with another stroke order: a third of them random, a third from left to
right, a third with one stroke moved to the end."""
BAR_LAST = 0.75
"""Share of the typeset fractions whose numerator is written before their bar."""


def rewritten(strokes: Strokes, rng: np.random.Generator) -> Strokes:
    """Reverses or reorders strokes in some samples."""
    if rng.random() < REVERSED:
        turned = rng.random(len(strokes)) < 1 / 3
        strokes = [s[::-1] if turn else s for s, turn in zip(strokes, turned, strict=True)]
    if rng.random() < DISORDERED:
        way = rng.integers(3)
        if way == 0:
            order = rng.permutation(len(strokes))
        elif way == 1:
            order = np.argsort([stroke[:, 0].min() for stroke in strokes], kind="stable")
        else:
            order = np.arange(len(strokes))
            last = int(rng.integers(len(strokes)))
            order = np.append(np.delete(order, last), last)
        strokes = [strokes[i] for i in order]
    return strokes


def writing_order(
    tokens: Sequence[str],
    owners: NDArray[np.int32],
    vocabulary: Vocabulary,
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """[strokes] writing order of strokes of the visual nodes `owners` [strokes]: that of the nodes,
    except for fraction bars that follow their numerators."""
    nodes = to_nodes(tokens, vocabulary)
    numbers = np.cumsum([not node.ending for node in nodes]) - 1
    rank = np.arange(len(nodes), dtype=np.float64)
    for place, node in enumerate(nodes):
        if node.ending == 1 and nodes[node.parent].token == "\\frac" and rng.random() < BAR_LAST:
            rank[numbers[node.parent]] = numbers[place] + 0.5
    return np.argsort(rank[owners], kind="stable")
