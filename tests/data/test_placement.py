"""Tokens stand where a reader would look for them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namer_edge.data.placement import CLEARANCE, INKLESS, place
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.strokes import Strokes

VOCABULARY = Vocabulary.load("crohme")


def box(x0: float, y0: float, x1: float, y1: float) -> Strokes:
    return [np.array([[x0, y0], [x1, y1]], np.float32)]


def placed(label: str, *boxes: tuple[float, float, float, float]) -> list[tuple[str, float, float]]:
    """(token, x, y) of each visual token; boxes are those of the inked ones, in order."""
    nodes = to_nodes(label.split(), VOCABULARY)
    tokens = [node.token for node in nodes if not node.ending]
    rest = iter(boxes)
    ink = [[] if token in INKLESS else box(*next(rest)) for token in tokens]
    positions = place(nodes, ink).positions
    return [(t, float(x), float(y)) for t, (x, y) in zip(tokens, positions, strict=True)]


def test_a_script_stands_between_the_nearest_corners() -> None:
    found = placed("x _ { 1 } ^ { 2 }", (0, 10, 10, 20), (14, 18, 18, 26), (12, 2, 16, 8))
    assert found == [
        ("x", 5, 15),
        ("_", 12, 19),
        ("1", 16, 22),
        ("^", 11, 9),
        ("2", 14, 5),
    ]


def test_limits_stand_above_and_below_their_operator() -> None:
    found = placed(
        r"\sum \limits _ { 1 } ^ { n }", (0, 20, 20, 40), (8, 60, 12, 80), (6, -20, 14, 0)
    )
    assert found[1] == (r"\limits", 10, 50)
    assert found[3] == ("^", 10, 10)


def test_the_base_of_a_bracketed_sum_is_its_bracket() -> None:
    found = placed(
        "( a ) ^ { 2 }", (0, 0, 4, 20), (8, 5, 16, 15), (20, 0, 24, 20), (40, -16, 56, -4)
    )
    assert found[3] == ("^", 32, -2)


def test_a_fraction_counts_as_base_with_all_it_holds() -> None:
    found = placed(
        r"\frac { a } { b } ^ { 2 }",
        (0, 20, 40, 20),
        (10, 0, 30, 15),
        (10, 25, 30, 40),
        (50, -12, 60, 0),
    )
    assert found[3] == ("^", 45, 0)


def test_a_root_stands_on_the_foot_of_its_sign() -> None:
    nodes = to_nodes([r"\sqrt", r"{", r"x", r"}"], VOCABULARY)
    sign = np.array([[0, 15], [4, 30], [8, 0], [60, 0], [60, 33]], np.float32)
    positions = place(nodes, [[sign], box(20, 10, 30, 25)]).positions
    assert positions[0].tolist() == [4, 16.5]
    assert positions[1].tolist() == [25, 17.5]


def test_a_relation_keeps_clear_of_a_script_inside_its_base() -> None:
    found = placed("C _ { 1 }", (0, 0, 40, 40), (25, 15, 27, 25))
    (_, x, y), (_, sx, sy) = found[1], found[2]
    assert np.hypot(x - sx, y - sy) == pytest.approx(min(CLEARANCE * 40, np.hypot(6, 0) / 2))


def test_two_symbols_drawn_on_one_spot_get_two_places() -> None:
    found = placed("1 1 1", *[(0, 0, 2, 20)] * 3)
    assert len({(x, y) for _, x, y in found}) == 3
    assert found[0][1] < found[1][1] < found[2][1]


def test_dots_alone_get_two_places_too() -> None:
    assert len({(x, y) for _, x, y in placed(". .", (3, 3, 3, 3), (3, 3, 3, 3))}) == 2


def test_a_script_without_a_base_has_its_relation_at_its_corner() -> None:
    assert placed("^ { 2 }", (10, 10, 20, 30))[0] == ("^", 10, 30)
    assert placed("_ { 2 }", (10, 10, 20, 30))[0] == ("_", 10, 10)


def test_an_empty_script_stands_at_the_corner_of_its_base() -> None:
    assert placed("x _ { }", (10, 10, 20, 30))[1] == ("_", 20, 30)


@pytest.mark.parametrize("label", ["_ { }", "x"])
def test_what_cannot_be_placed_is_a_typed_error(label: str) -> None:
    nodes = to_nodes(label.split(), VOCABULARY)
    with pytest.raises(DataError):
        place(nodes, [[]])


@given(st.data())
def test_no_two_tokens_share_a_place(data: st.DataObject) -> None:
    labels = [
        "x ^ { 2 }",
        r"\frac { a _ { 1 } } { \sqrt { x } ^ { 2 } }",
        r"\int \limits _ { 1 } x",
    ]
    label = data.draw(st.sampled_from(labels))
    nodes = to_nodes(label.split(), VOCABULARY)
    tokens = [node.token for node in nodes if not node.ending]
    numbers = st.integers(0, 3)
    ink: list[Strokes] = [
        [] if token in INKLESS else box(*data.draw(st.tuples(numbers, numbers, numbers, numbers)))
        for token in tokens
    ]
    positions = place(nodes, ink).positions
    assert np.isfinite(positions).all()
    assert len(np.unique(positions, axis=0)) == len(tokens)
