"""Pseudo-positions: a NAMER's own predictions as the position estimates of ink and pictures.

The paper's teachers are given the label and attend to each of its tokens. A NAMER predicts tokens
with positions, so its prediction is aligned to the label: tokens that match, or are replaced one
to one, take the predicted positions, and missed ones are interpolated. Matching then moves them by
up to its window.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.errors import LatexError
from namer_edge_runtime.formula.atoms import relation_table
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result

from ..data.formula import Formula

MIN_ALIGNED = 0.5
"""Least share of a label's tokens that take predicted positions; formulas with less get none."""


def predicted_positions(
    recognizer: Recognizer, formulas: Sequence[Formula]
) -> list[NDArray[np.float32]]:
    """[V, 2] (x, y) for each formula, in its ink's unit or its picture's pixels, in the order of
    its visual nodes, out-of-vocabulary ones included; [0, 2] if too little of its label is read."""
    answers = recognizer.each([formula.source for formula in formulas], batch_size=8)
    found = []
    for formula, answer in zip(formulas, answers, strict=True):
        places = None
        if isinstance(answer, Result):
            try:
                nodes = to_nodes(formula.tokens, relation_table(formula.tokens))
            except LatexError:
                nodes = []
            label = [node.token for node in nodes if not node.ending]
            points = np.array([(t.x, t.y) for t in answer.tokens]).reshape(-1, 2)
            places = align_positions(label, [t.text for t in answer.tokens], points)
        found.append(np.zeros((0, 2), np.float32) if places is None else places)
    return found


def align_positions(
    label: Sequence[str], prediction: Sequence[str], points: NDArray[np.float64]
) -> NDArray[np.float32] | None:
    """Positions [V, 2] for the tokens of a label, from those [R, 2] of a prediction; None if less
    than `MIN_ALIGNED` of the label is aligned."""
    places = np.full((len(label), 2), np.nan)
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, prediction, label, False).get_opcodes():
        if kind == "equal" or (kind == "replace" and a1 - a0 == b1 - b0):
            places[b0:b1] = points[a0:a1]
    known = np.flatnonzero(np.isfinite(places[:, 0]))
    if not len(known) or len(known) < MIN_ALIGNED * len(label):
        return None
    everywhere = np.arange(len(label))
    return np.stack(
        [np.interp(everywhere, known, places[known, axis]) for axis in (0, 1)], axis=1
    ).astype(np.float32)
