"""What a caller does with a result."""

import pickle

import cv2
import numpy as np

from namer_edge_runtime.inputs import open_input
from namer_edge_runtime.recognizer import Recognizer

from .drawing import CORNER, picture, png
from .tiny_model import formula


def test_every_form_of_the_formula(recognizer: Recognizer) -> None:
    result = recognizer(picture("1 ^ 1"))
    assert (result.latex, result.canonical, result.katex) == ("1^1", "1 ^ { 1 }", "1^1")
    assert "msup" in result.mathml
    assert (result.typst, result.sympy) == ("1^1", "1**1")
    assert "<mml:msup>" in result.word_mathml
    assert "<m:sSup>" in result.omml
    assert result.svg.count("<text") == 2
    assert "R, 1_1, 1_2, Sup, 1.0" in result.label_graph("a").splitlines()


def test_strokes_of_each_symbol(recognizer: Recognizer) -> None:
    strokes = formula("1 ^ -")
    result = recognizer.strokes([strokes[2], *strokes[:2]])
    assert result.canonical == "1 ^ { - }"
    # The tiny model writes `^`, which nobody does: its stroke falls to a neighbor.
    assert result.token_strokes == ((1,), (), (0, 2))
    graph = [line.split(", ") for line in result.label_graph().splitlines()]
    assert [line[4:] for line in graph if line[0] == "O"] == [["1"], ["0", "2"]]
    assert recognizer(picture("1 ^ -")).token_strokes is None


def test_a_drawing_shows_each_token_at_its_place_and_the_path(recognizer: Recognizer) -> None:
    image = picture("1 - 1", 4.0)
    result = recognizer(image)
    own = result.draw(image)
    assert own.shape == (*image.shape, 3)
    colored = np.ptp(own.astype(int), axis=2) > 40
    for token in result.tokens:
        assert colored[round(token.y), round(token.x)]
    between = (np.array((0, 10)) + CORNER) * 4 + (60, 0)  # no ink there, but an arrow
    x, y = between.astype(int)
    assert colored[y - 30 : y + 31, x].any()
    assert np.array_equal(own, result.draw(png(image)))
    enlarged = result.draw()
    assert enlarged.ndim == 3
    assert (np.ptp(enlarged.astype(int), axis=2) > 40).any()


def test_ink_and_blank_pages_can_be_drawn_too(recognizer: Recognizer) -> None:
    assert recognizer.strokes(formula("1 ^ 1")).draw().std() > 0
    blank = recognizer(np.full((40, 90), 255, np.uint8))
    assert (blank.draw() == 255).all()
    assert recognizer.strokes([]).draw().shape[2] == 3


def test_a_result_can_be_sent_to_another_process(recognizer: Recognizer) -> None:
    result = recognizer.strokes(formula("1 - 1"))
    copy = pickle.loads(pickle.dumps(result))
    assert copy == result
    assert copy.token_strokes == result.token_strokes
    assert np.array_equal(copy.draw(), result.draw())


def test_nothing_of_a_large_picture_is_kept(recognizer: Recognizer) -> None:
    large = cv2.resize(picture("1 - 1"), (4000, 1200))
    result = recognizer.each([open_input(large)])[0]
    assert len(pickle.dumps(result)) < 200_000


def test_a_script_without_content_is_not_read(recognizer: Recognizer) -> None:
    result = recognizer(picture("1 ^"), alternatives=3)
    assert result.canonical == "1"
    assert [token.text for token in result.tokens] == ["1"]
    assert not [other for other in result.alternatives if "{ }" in other.canonical]
    assert not any(other.canonical == "1" for other in result.alternatives)
