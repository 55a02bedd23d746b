"""Writing on a slope: how it is told, and how it is turned level."""

import cv2
import numpy as np
import pytest

from namer_edge_runtime.inputs import LoadedInput, open_input
from namer_edge_runtime.picture.skew import skew
from namer_edge_runtime.preprocessing import Preprocessing, opencv_affine, turned, turning

from ..handwriting import written

LOOK = Preprocessing()
STROKES = written(4).strokes  # y = 2 x + 5


def on_a_slope(degrees: float) -> list[np.ndarray]:
    return [turned(stroke, np.radians(degrees)) for stroke in STROKES]


def measured(degrees: float) -> float:
    return float(np.degrees(skew(open_input(on_a_slope(degrees)).prepare(LOOK).image)))


@pytest.mark.parametrize("degrees", [-40, -25, -12, 12, 25, 40])
def test_the_slope_is_that_of_the_line_of_writing(degrees: float) -> None:
    assert measured(degrees) == pytest.approx(degrees, abs=5)


@pytest.mark.parametrize("degrees", [-3, 0, 3, 60, 90])
def test_what_is_level_or_upright_does_not_slope(degrees: float) -> None:
    assert measured(degrees) == 0


def test_a_blot_and_a_blank_page_do_not_slope() -> None:
    page = np.zeros((96, 128), np.uint8)
    assert skew(page) == 0
    cv2.ellipse(page, (64, 48), (36, 20), 30, 0, 360, 255, -1)
    assert skew(page) == 0


@pytest.mark.parametrize("degrees", [-25, 15])
@pytest.mark.parametrize("picture", [False, True])
def test_what_is_turned_level_is_drawn_as_if_it_had_been_level(
    degrees: float, picture: bool
) -> None:
    level, sloping = (_opened(on_a_slope(angle), picture) for angle in (0, degrees))
    wanted = level.prepare(LOOK).image.astype(float)
    found = sloping.turned(-np.radians(degrees)).prepare(LOOK).image.astype(float)
    assert found.shape == wanted.shape
    shared = np.minimum(wanted, found).sum() / np.maximum(wanted, found).sum()
    assert shared > (0.5 if picture else 0.9)


@pytest.mark.parametrize("picture", [False, True])
def test_turned_or_not_places_are_those_of_the_input(picture: bool) -> None:
    opened = _opened(on_a_slope(-20), picture)
    opened.prepare(LOOK)  # what is found once is turned, not found again
    for seen in (opened, opened.turned(np.radians(20))):
        prepared = seen.prepare(LOOK)
        middles = np.argwhere(prepared.image > 127)[:, ::-1] + 0.5
        in_input = prepared.to_input(middles)
        assert np.allclose(prepared.from_input(in_input), middles)
        ink = _ink(opened)
        box, wanted = ((a.min(0), a.max(0)) for a in (in_input, ink))
        assert np.allclose(box, wanted, atol=0.03 * np.ptp(ink))


def test_colors_lie_where_the_turned_lines_lie() -> None:
    picture = cv2.cvtColor(_page(on_a_slope(20)), cv2.COLOR_GRAY2RGB)
    prepared = open_input(picture).turned(np.radians(-20)).prepare(Preprocessing(channels=3))
    bright = prepared.planes(3).min(0) > 100
    near = cv2.dilate(prepared.image, np.ones((5, 5), np.uint8)) > 0
    assert bright.sum() > 50
    assert near[bright].mean() > 0.98


def _page(strokes: list[np.ndarray]) -> np.ndarray:
    """[H, W] dark ink on a light page."""
    points = np.concatenate(strokes)
    size = 60 * np.ptp(points, axis=0) + 80
    page = np.full((int(size[1]), int(size[0])), 255, np.uint8)
    low = points.min(0)
    for stroke in strokes:
        line = ((stroke - low) * 60 + 40).astype(np.int32)
        cv2.polylines(page, [line], False, 0, 5, cv2.LINE_AA)
    return page


def _opened(strokes: list[np.ndarray], picture: bool) -> LoadedInput:
    return open_input(_page(strokes) if picture else strokes)


def _ink(opened: LoadedInput) -> np.ndarray:
    """[N, 2] places of the ink, in the input's coordinates."""
    if opened.picture is not None:
        return np.argwhere(opened.picture < 128)[:, ::-1] + 0.5
    return np.concatenate(opened.strokes or [])


def test_opencv_puts_the_corner_of_a_pixel_where_the_map_says() -> None:
    # Magnified without interpolation, the pixel at (1, 2) covers the square from (3, 6) + (2, 1).
    picture = np.zeros((4, 4), np.uint8)
    picture[2, 1] = 255
    matrix = opencv_affine(3 * np.eye(2), np.array([2, 1]))
    large = cv2.warpAffine(picture, matrix, (16, 16), flags=cv2.INTER_NEAREST)
    expected = np.zeros((16, 16), np.uint8)
    expected[7:10, 5:8] = 255
    assert (large == expected).all()


def test_opencv_turns_by_quarters_without_moving_pixel_centers() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (5, 7), np.uint8)
    matrix = opencv_affine(turning(np.pi / 2), np.array([5, 0]))
    assert (cv2.warpAffine(picture, matrix, (5, 7)) == np.rot90(picture, -1)).all()
