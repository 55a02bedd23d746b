"""Models of three channels see pictures in color: ink by what it takes from the paper."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.picture.load import load, load_color
from namer_edge_runtime.preprocessing import Preprocessing

LOOK = Preprocessing(channels=3)


def page(ink: tuple[int, int, int], shadow: float = 0.0) -> NDArray[np.uint8]:
    """[H, W, 3] RGB: two strokes on paper, darker to the right by `shadow`."""
    picture = np.full((160, 320, 3), (235, 230, 215), np.uint8)
    cv2.line(picture, (60, 40), (110, 120), ink, 5, cv2.LINE_AA)
    cv2.line(picture, (260, 40), (210, 120), ink, 5, cv2.LINE_AA)
    light = 1 - shadow * np.linspace(0, 1, 320)[None, :, None]
    return np.asarray(picture * light, np.uint8)


def seen(picture: NDArray[np.uint8], preprocessing: Preprocessing = LOOK) -> NDArray[np.uint8]:
    """[3, H, W]"""
    return prepare_input(picture, preprocessing).planes(preprocessing.channels)


@pytest.mark.parametrize(
    ("ink", "dark"), [((200, 20, 20), 0), ((20, 140, 40), 1), ((30, 30, 190), 2)]
)
def test_ink_is_dark_in_its_own_color_and_paper_in_all(
    ink: tuple[int, int, int], dark: int
) -> None:
    prepared = prepare_input(page(ink), LOOK)
    image = prepared.planes(3)
    assert image.shape == (3, *prepared.image.shape)
    lines = prepared.image > 200
    levels = image[:, lines].mean(1)
    assert levels.argmin() == dark
    assert levels.max() > 140
    far = cv2.dilate(prepared.image, np.ones((9, 9), np.uint8)) == 0
    assert image[:, far].mean() < 6


def test_it_lies_where_the_drawn_lines_lie() -> None:
    prepared = prepare_input(page((20, 20, 20)), LOOK)
    bright = prepared.planes(3).min(0) > 100
    near = cv2.dilate(prepared.image, np.ones((5, 5), np.uint8)) > 0
    assert bright.sum() > 50
    assert (near[bright]).mean() > 0.99


def test_shadows_go_and_white_on_black_is_as_black_on_white() -> None:
    plain, shaded = (seen(page((20, 20, 20), shadow)) for shadow in (0.0, 0.4))
    assert shaded[:, :4].max() < 40
    assert shaded.max() > 150
    inverted = seen(255 - page((20, 20, 20)))
    assert np.abs(inverted.astype(int) - plain).mean() < 6


def test_gray_models_and_ink_are_as_ever() -> None:
    picture = page((200, 20, 20))
    prepared = prepare_input(picture, replace(LOOK, channels=1))
    assert prepared.color is None
    assert (prepared.planes(1)[0] == prepared.image).all()
    strokes = [[(0.0, 0.0), (10.0, 10.0)]]
    assert (prepare_input(strokes, LOOK).planes(3) == prepare_input(strokes, LOOK).image).all()


def test_colors_are_red_green_blue_whoever_opens_them() -> None:
    picture = page((200, 20, 20))
    png = cv2.imencode(".png", picture[:, :, ::-1])[1].tobytes()
    for value in (picture, png):
        assert (load_color(value) == picture).all()
    gray = load_color(np.full((4, 6), 7, np.uint8))
    assert gray.shape == (4, 6, 3)
    clear = np.dstack([picture, np.full(picture.shape[:2], 120, np.uint8)])
    assert (load_color(clear) == load(clear)[:, :, None]).all()
