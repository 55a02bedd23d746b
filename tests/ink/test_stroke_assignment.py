"""Which strokes belong to which symbol."""

from pathlib import Path

import numpy as np

from namer_edge.data.crohme import load_crohme
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import INKLESS, Vocabulary
from namer_edge_runtime.ink.stroke_assignment import assign_strokes
from namer_edge_runtime.ink.strokes import as_strokes, foot

from ..crohme_files import find_split


def test_strokes_go_to_the_symbol_that_they_are_nearest_to() -> None:
    bars = [[(0, 0), (10, 0)], [(0, 4), (10, 4)]]
    strokes = as_strokes([*bars, [(30, -10), (30, 10)]])
    assert assign_strokes(strokes, ["=", "1"], np.array([(5, 2), (30, 0)])) == [(0, 1), (2,)]


def test_a_root_is_its_sign_and_not_what_stands_under_it() -> None:
    sign = [(0, 10), (5, 20), (10, 0), (60, 0)]
    strokes = as_strokes([sign, [(32, 4), (32, 18)]])
    assert assign_strokes(strokes, ["1", "\\sqrt"], np.array([(33, 11), (6, 10)])) == [(1,), (0,)]


def test_every_symbol_has_a_stroke_where_there_are_enough() -> None:
    strokes = as_strokes([[(0, 0), (0, 9)], [(4, 0), (4, 9)], [(8, 0), (8, 9)]])
    found = assign_strokes(strokes, ["a", "b", "c"], np.array([(0, 4), (0.5, 4), (1, 4)]))
    assert sorted(found) == [(0,), (1,), (2,)]
    assert assign_strokes(strokes[:1], ["a", "b"], np.array([(9, 4), (0, 4)])) == [(), (0,)]
    assert assign_strokes([], ["a"], np.zeros((1, 2))) == [()]
    assert assign_strokes(strokes, [], np.zeros((0, 2))) == []


def test_dots_have_a_place_too() -> None:
    assert assign_strokes(as_strokes([[(3, 3)]]), ["."], np.array([(3.0, 3.0)])) == [(0,)]


def test_nearly_all_strokes_of_real_formulas_find_their_symbol(shared_data: Path) -> None:
    vocabulary = Vocabulary.load("crohme")
    split = find_split(shared_data, "test2013")
    right = total = 0
    for formula in load_crohme(split.ink, split.labels).formulas[::8]:
        if not formula.placed or (formula.symbols < 0).any():
            continue
        visual = [node.token for node in to_nodes(formula.tokens, vocabulary) if not node.ending]
        inked = [number for number, token in enumerate(visual) if token not in INKLESS]
        found = assign_strokes(
            formula.strokes, [visual[n] for n in inked], formula.positions[inked]
        )
        for number, own in zip(inked, found, strict=True):
            right += int((formula.symbols[list(own)] == number).sum())
            total += len(own)
    assert total > 500
    assert right / total > 0.97


def test_the_foot_of_a_root_is_under_its_left_half() -> None:
    sign = np.array([[0, 15], [4, 30], [8, 0], [60, 0], [60, 33]], np.float32)
    assert foot(sign).tolist() == [4, 16.5]
    assert foot(sign[:1]).tolist() == [0, 15]
