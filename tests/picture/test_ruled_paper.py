"""Lines of the paper leave a picture; bars of a formula stay."""

import cv2
import numpy as np
import pytest

from namer_edge_runtime.picture.background import RULING
from namer_edge_runtime.picture.prepare import prepare
from namer_edge_runtime.picture.ruled_paper import without_ruling
from namer_edge_runtime.preprocessing import Preprocessing

from .paper import Gray, on_paper


def written() -> Gray:
    """Two upright strokes, a bar between them and a fraction's bar below; black on white."""
    page = np.full((180, 420), 255, np.uint8)
    page[20:90, 60:66] = page[20:90, 300:306] = 0
    page[80:86, 66:300] = 0
    page[160:166, 40:380] = 0
    return page


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("slope", [-0.03, 0.0, 0.02])
@pytest.mark.parametrize("level", [120, 200])
def test_printed_lines_leave_and_ink_stays(squared: bool, slope: float, level: int) -> None:
    page = np.pad(written(), 40, constant_values=255)
    plain = without_ruling(255 - on_paper(written(), squared=squared, slope=slope, level=level))
    ink = page < 128
    assert (plain[ink] > 127).mean() > 0.97
    assert (plain[~ink] > 20).mean() < 0.005


def test_nothing_stays_where_a_margin_line_crosses() -> None:
    lined = np.full((260, 500), 235, np.uint8)
    lined[60:100, 200:206] = lined[60:100, 300:306] = 20
    down, across = np.ones(500), np.ones(260)
    down[40:43], across[30::45] = 0.5, 0.5
    lined = (lined * across[:, None] * down).astype(np.uint8)
    assert (without_ruling(255 - lined)[:, 30:60] <= 60).all()


def test_lines_of_two_strengths_leave_millimeter_paper() -> None:
    lined = np.full((300, 500), 235, np.uint8)
    lined[60:200, 200:208] = lined[60:200, 300:308] = 20
    for step, share in ((10, 0.88), (50, 0.65)):
        lined[5::step] = lined[5::step] * share
        lined[:, 5::step] = lined[:, 5::step] * share
    prepared = prepare(lined, Preprocessing())
    assert prepared.notes == (RULING,)
    assert cv2.connectedComponents((prepared.image > 100).astype(np.uint8))[0] == 3


@pytest.mark.parametrize("pen", [4, 7])
def test_a_printed_line_leaves_where_a_box_runs_along_it(pen: int) -> None:
    lined = np.full((300, 500), 235, np.uint8)
    lined[25::40] = lined[:, 25::40] = 190
    lined[90:200, 200:206] = lined[90:200, 300:306] = 20
    cv2.rectangle(lined, (65, 65), (445, 245), 20, pen)
    plain = without_ruling(255 - lined)
    beside = np.ones(lined.shape, np.bool_)
    beside[60:251, 60:451] = False
    assert (plain[beside] <= 60).all()
    assert (plain[65, 65:425] > 150).all()


@pytest.mark.parametrize("rows", [[70], [60, 90], [10, 60, 80]])
def test_bars_from_edge_to_edge_are_no_ruling(rows: list[int]) -> None:
    page = np.zeros((130, 250), np.uint8)
    page[20:50, 60:66] = page[96:125, 180:186] = 255
    for row in rows:
        page[row : row + 6] = 255
    assert without_ruling(page) is page


def test_a_page_without_lines_is_left_as_it_is() -> None:
    page = 255 - written()
    assert without_ruling(page) is page


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [(1, 1), (1, 2), (2, 1), (1, 40), (40, 1)])
def test_a_page_of_hardly_a_pixel_is_nothing_to_fit_a_line_to(size: tuple[int, int]) -> None:
    for level in (0, 128, 255):
        prepare(np.full(size, level, np.uint8), Preprocessing())


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("grain", [3.0, 5.0])
@pytest.mark.parametrize("slope", [-0.09, 0.0, 0.06])
def test_lines_leave_paper_with_grain(squared: bool, grain: float, slope: float) -> None:
    page = np.pad(written(), 40, constant_values=255)
    lined = on_paper(written(), squared=squared, slope=slope).astype(float)
    lined += np.random.default_rng(1).normal(0, grain, lined.shape) - 20
    ink = 255 - np.clip(lined, 0, 255).astype(np.uint8)
    plain = without_ruling(ink)
    assert (plain[page < 128] > 127).mean() > 0.97
    assert (ink[page >= 128] > 60).mean() > 0.015  # the lines
    assert (plain[page >= 128] > 60).mean() < 0.004
