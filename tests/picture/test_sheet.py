"""What lies round a sheet is left out; shadows and thick letters are no sheets."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from namer_edge_runtime.picture.foreign_ink import FRAME
from namer_edge_runtime.picture.prepare import prepare
from namer_edge_runtime.picture.sheet import OUTSIDE, find_sheet
from namer_edge_runtime.preprocessing import Preprocessing

from .paper import in_shadow
from .test_prepare import LOOK, page


def framed(width: int, level: int, sides: str = "tblr") -> NDArray[np.uint8]:
    top, below, left, right = (width * (side in sides) for side in "tblr")
    return np.pad(page(), ((top, below), (left, right)), constant_values=level)


@pytest.mark.parametrize("width", [3, 10, 40])
@pytest.mark.parametrize("sides", ["tblr", "tl"])
@pytest.mark.parametrize("level", [0, 60])
def test_a_dark_border_is_left_out(width: int, sides: str, level: int) -> None:
    picture = framed(width, level, sides)
    wanted, prepared = prepare(page(), LOOK), prepare(picture, LOOK)
    assert prepared.notes == (OUTSIDE,)
    assert prepared.image.shape == wanted.image.shape
    assert np.abs(prepared.image.astype(int) - wanted.image).mean() < 3
    corner = width * ("l" in sides), width * ("t" in sides)
    moved = prepared.from_input(np.array([corner]))
    np.testing.assert_allclose(moved, wanted.from_input(np.zeros((1, 2))), atol=1)


@pytest.mark.parametrize("sides", ["tblr", "tl", "tb"])
def test_a_sheet_with_nothing_dark_on_it_is_found(sides: str) -> None:
    pencil = 220 - (255 - framed(0, 0)) // 5
    top, below, left, right = (12 * (side in sides) for side in "tblr")
    picture = np.pad(pencil, ((top, below), (left, right)), constant_values=20)
    prepared = prepare(picture, LOOK)
    assert prepared.notes == (OUTSIDE,)
    assert np.abs(prepared.image.astype(int) - prepare(page(), LOOK).image).mean() < 3


def test_a_sheet_is_found_although_a_frame_parts_it() -> None:
    sheet = np.pad(page(), 60, constant_values=255)
    cv2.rectangle(sheet, (40, 40), (sheet.shape[1] - 40, sheet.shape[0] - 40), 0, 4)
    picture = np.pad(sheet, 200, constant_values=60)
    prepared = prepare(picture, LOOK)
    assert prepared.notes == (OUTSIDE, FRAME)
    assert np.abs(prepared.image.astype(int) - prepare(page(), LOOK).image).mean() < 3


def test_a_board_in_a_light_frame_is_a_sheet_too() -> None:
    prepared = prepare(255 - framed(20, 10), LOOK)
    assert prepared.notes == (OUTSIDE,)
    assert np.abs(prepared.image.astype(int) - prepare(page(), LOOK).image).mean() < 3


@pytest.mark.parametrize("angle", [-5.0, 4.0])
def test_a_turned_sheet_on_a_desk_is_found(angle: float) -> None:
    rng = np.random.default_rng(3)
    desk = rng.normal(70, 5, (400, 700))
    height, width = page().shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1)
    matrix[:, 2] += 150, 130
    placed = cv2.warpAffine(page().astype(np.float64) + 1, matrix, (700, 400))
    picture = np.clip(np.where(placed > 0, placed - 1, desk), 0, 255).astype(np.uint8)
    prepared = prepare(picture, LOOK)
    assert prepared.notes == (OUTSIDE,)
    x, y = prepared.to_input(np.argwhere(prepared.image > 128)[:, ::-1].astype(float)).T
    middle = matrix @ (width / 2, height / 2, 1)
    assert abs(x.mean() - middle[0]) < width / 3
    assert abs(y.mean() - middle[1]) < height / 3


@pytest.mark.parametrize("desk", [30, 45, 90])
def test_the_grain_of_a_dark_desk_is_no_ink(desk: int) -> None:
    rng = np.random.default_rng(desk)
    grain = cv2.blur(rng.normal(0, 35, (page().shape[0] + 240, page().shape[1] + 240)), (15, 1))
    picture = np.clip(desk + grain, 0, 255).astype(np.uint8)
    picture[120:-120, 120:-120] = page()
    sheet = find_sheet(picture)
    assert sheet is not None
    assert abs(sheet.image.shape[0] - page().shape[0]) < 8


def test_no_sheet_where_there_is_none() -> None:
    thick = np.full((130, 180), 255, np.uint8)
    cv2.ellipse(thick, (90, 65), (40, 50), 0, 0, 360, 0, 28)
    for picture in (page(), 255 - page(), page(1.0, 16.0), in_shadow(page()), thick, 255 - thick):
        assert find_sheet(picture) is None
        assert prepare(picture, Preprocessing()).notes == ()
