"""Positions from what a NAMER itself reads: for one's own ink and pictures, where there is no other
teacher.

The paper's teachers are told the label and attend to each of its tokens. A NAMER says where it sees
each token without being told, so its reading is laid along the label: where they agree, or differ
in as many tokens, the places are those of the reading; tokens in between that it has missed are
spread out evenly. Matching moves them by up to its window anyway.
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

LEAST = 0.5
"""Share of a label's tokens that must be found in its reading; a formula with less is left out."""


def own_positions(recognizer: Recognizer, formulas: Sequence[Formula]) -> list[NDArray[np.float32]]:
    """Of each formula [V, 2] (x, y) in its ink's unit, or in its picture's pixels, in the order of
    its visual nodes, symbols that the recognizer does not know among them; [0, 2] where too little
    of its label is read."""
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
            places = along(label, [t.text for t in answer.tokens], points)
        found.append(np.zeros((0, 2), np.float32) if places is None else places)
    return found


def along(
    label: Sequence[str], reading: Sequence[str], points: NDArray[np.float64]
) -> NDArray[np.float32] | None:
    """Places [V, 2] for the tokens of a label, from those [R, 2] of a reading's tokens; None where
    less than `LEAST` of it is found there."""
    places = np.full((len(label), 2), np.nan)
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, reading, label, False).get_opcodes():
        if kind == "equal" or (kind == "replace" and a1 - a0 == b1 - b0):
            places[b0:b1] = points[a0:a1]
    known = np.flatnonzero(np.isfinite(places[:, 0]))
    if not len(known) or len(known) < LEAST * len(label):
        return None
    everywhere = np.arange(len(label))
    return np.stack(
        [np.interp(everywhere, known, places[known, axis]) for axis in (0, 1)], axis=1
    ).astype(np.float32)
