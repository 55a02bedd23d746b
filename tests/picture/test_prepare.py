"""Pictures brought to the look of a model."""

import time
import tracemalloc
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from namer_edge_runtime.ink.inkml import Ink, iterate_ink
from namer_edge_runtime.ink.render import draw, render
from namer_edge_runtime.picture.prepare import FINEST, INK, THICKEST, drawn_width, prepare
from namer_edge_runtime.picture.stroke_width import measured_width
from namer_edge_runtime.preprocessing import Prepared, Preprocessing, padded_size

LOOK = Preprocessing()
LARGE = 100_000
TURN = np.linspace(0, 6.2, 40)
STROKES: list[NDArray[np.float32]] = [
    np.array([[0, 0], [40, 64]], np.float32),
    np.array([[40, 0], [0, 64]], np.float32),
    np.array([[100, 0], [104, 64]], np.float32),
    np.array([[150, 30], [200, 32]], np.float32),
    np.stack([np.cos(TURN) * 28 + 270, np.sin(TURN) * 32 + 32], 1).astype(np.float32),
]
for _stroke in STROKES:
    _stroke += 30


def page(scale: float = 1.0, pen: float = 4.0) -> NDArray[np.uint8]:
    """Some strokes with symbols `64 * scale` pixels high, black on white."""
    strokes = [stroke * np.float32(scale) for stroke in STROKES]
    return 255 - draw(strokes, (int(130 * scale), int(370 * scale)), pen)


def width_of(image: NDArray[np.uint8]) -> float:
    mask = image > INK
    return measured_width(image, mask, cv2.connectedComponents(mask.astype(np.uint8))[0] - 1)


def likeness(one: Prepared, other: Prepared, scale: float) -> float:
    """Shared ink of two pictures, 0 … 1; `other` is one unit to `scale` of `one`'s input."""
    k = one.scale * scale / other.scale
    move = np.array(one.offset) - np.array(other.offset) * k + 0.5 * k - 0.5
    matrix = np.array([[k, 0, move[0]], [0, k, move[1]]])
    moved = cv2.warpAffine(other.image, matrix, one.image.shape[::-1]).astype(float)
    image = one.image.astype(float)
    return float(np.minimum(image, moved).sum() / np.maximum(image, moved).sum())


@pytest.mark.parametrize("scale", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_scale_and_pen_of_the_picture_do_not_matter(scale: float) -> None:
    wanted = render(STROKES, LOOK)
    for pen in (1.0, 2.0, 4.0, 8.0):
        if pen > 16 * scale:  # a pen a quarter as wide as its symbols are high fills them
            continue
        prepared = prepare(page(scale, pen), LOOK)
        assert prepared.scale * scale == pytest.approx(wanted.scale, rel=0.12)
        assert prepared.image.shape == padded_size(*prepared.image.shape)
        pens = width_of(prepared.image) / drawn_width(LOOK.pen_width)
        assert FINEST * 0.85 < pens < THICKEST
        assert likeness(prepared, wanted, scale) > 0.55


@pytest.mark.parametrize("pen", [8.0, 24.0])  # drawn as they are, and along their skeleton
def test_bars_that_have_run_together_stay_thicker_than_one(pen: float) -> None:
    letter = np.array([[0, 0], [0, 64], [30, 64], [30, 0]], np.float32)
    bars = [np.array([[70, y], [110, y]], np.float32) for y in (32 - 0.4 * pen, 32 + 0.4 * pen)]
    heights = []
    for strokes in ([letter, *bars], [letter, bars[0]]):
        ink = draw([stroke + np.float32(30) for stroke in strokes], (130, 180), pen)
        image = prepare(255 - ink, LOOK).image
        _, _, stats, _ = cv2.connectedComponentsWithStats((image > INK).astype(np.uint8))
        heights.append(stats[stats[1:, 0].argmax() + 1, 3])  # of the rightmost component
    assert heights[0] > heights[1]


@pytest.mark.parametrize("symbol_height", [20.0, 26.0, 40.0])
def test_another_look(symbol_height: float) -> None:
    preprocessing = Preprocessing(symbol_height, pen_width=3.0, margin=10)
    prepared, wanted = prepare(page(), preprocessing), render(STROKES, preprocessing)
    assert prepared.image.shape == wanted.image.shape
    assert prepared.scale == pytest.approx(wanted.scale, rel=0.05)
    assert FINEST * 0.85 < width_of(prepared.image) / width_of(wanted.image) < THICKEST


def test_positions_lead_back_to_the_picture() -> None:
    prepared = prepare(page(2.0, 6.0), LOOK)
    # The level bar of the fourth stroke, found in the prepared picture.
    count, _, stats, centers = cv2.connectedComponentsWithStats(
        (prepared.image > 127).astype(np.uint8)
    )
    bar = max(range(1, count), key=lambda n: stats[n][2] / stats[n][3])
    found = prepared.to_input(np.array([centers[bar] + 0.5]))[0]
    assert found == pytest.approx(
        [(175 + 30) * 2, (31 + 30) * 2], abs=7
    )  # a pixel of the model is 6.4


@pytest.fixture(scope="module")
def inks(shared_data: Path) -> list[Ink]:
    """Every 25th formula of CROHME 2014."""
    found = [ink for _, ink in iterate_ink(shared_data / "crohme" / "test2014.zip")]
    return [ink for ink in found[::25] if isinstance(ink, Ink)]


@pytest.mark.parametrize(
    ("height", "pen"), [(16, 1), (32, 1), (64, 1), (64, 8), (128, 4), (256, 8)]
)
def test_pictures_of_real_ink_come_out_as_the_ink_itself(
    inks: list[Ink], height: float, pen: float
) -> None:
    scales, widths, like = [], [], []
    for ink in inks:
        drawn = render(ink.strokes, Preprocessing(height, pen, 20, LARGE, LARGE))
        wanted = render(ink.strokes, LOOK)
        prepared = prepare(255 - drawn.image, LOOK)
        scales.append(prepared.scale * drawn.scale / wanted.scale)
        widths.append(width_of(prepared.image) / width_of(wanted.image))
        inner = Prepared(wanted.image, wanted.scale / drawn.scale, _moved(wanted, drawn))
        like.append(likeness(prepared, inner, 1.0))
    # Strokes that touch are one component in a picture, so a few heights differ.
    assert np.mean((np.array(scales) > 0.8) & (np.array(scales) < 1.25)) >= 0.75
    assert np.median(scales) == pytest.approx(1, abs=0.07)
    assert FINEST * 0.85 < np.median(widths) < THICKEST
    assert np.median(like) > 0.7


def _moved(wanted: Prepared, drawn: Prepared) -> tuple[float, float]:
    """Offset of `wanted` where its input is the drawn picture rather than the ink."""
    k = wanted.scale / drawn.scale
    return (wanted.offset[0] - drawn.offset[0] * k, wanted.offset[1] - drawn.offset[1] * k)


def same(one: NDArray[np.uint8], other: NDArray[np.uint8], least: float = 0.7) -> bool:
    a, b = prepare(one, LOOK), prepare(other, LOOK)
    return likeness(a, b, 1.0) > least


def test_white_on_black() -> None:
    assert same(page(), 255 - page(), 0.99)


@pytest.mark.parametrize(
    ("ink", "ground"), [(60, 200), (200, 60), (120, 160), (30, 70), (225, 255)]
)
def test_weak_contrast(ink: int, ground: int) -> None:
    levels = np.linspace(ink, ground, 256)
    assert same(page(), np.rint(levels[page()]).astype(np.uint8), 0.85)


def test_grain() -> None:
    grain = np.random.default_rng(3).normal(0, 8, page().shape)
    assert same(page(), np.clip(page() * 0.6 + 60 + grain, 0, 255).astype(np.uint8))


@pytest.mark.parametrize("dark_side", [0.25, 0.5])
def test_uneven_light(dark_side: float) -> None:
    light = np.linspace(dark_side, 1, page().shape[1])
    assert same(page(), np.rint((page() * 0.7 + 40) * light).astype(np.uint8))


def test_a_hard_shadow() -> None:
    shadowed = page().astype(float) * 0.7 + 60
    shadowed[:, 220:] *= 0.5
    assert same(page(), shadowed.astype(np.uint8), 0.6)


def test_a_dark_edge_of_the_photo_is_no_ink() -> None:
    photo = np.pad(page(), 40, constant_values=255)
    photo[-25:] = 40
    photo[:, :15] = 90
    prepared = prepare(photo, LOOK)
    assert prepared.image.shape == prepare(page(), LOOK).image.shape


def test_ink_that_touches_the_edge_stays() -> None:
    cut = page()[:, 30:310]  # through the first and the last symbol
    prepared = prepare(cut, LOOK)
    left = prepared.to_input(np.argwhere(prepared.image > 127)[:, ::-1].min(0))[0]
    assert left < 8


def test_specks_and_far_grains_are_dropped_and_points_kept() -> None:
    clean = np.pad(page(pen=5), ((300, 20), (20, 20)), constant_values=255)
    cv2.circle(clean, (260, 395), 4, 0, -1)  # a point
    dirty = clean.copy()
    dirty[400, 60] = 0
    cv2.circle(dirty, (100, 20), 4, 0, -1)
    a, b = prepare(clean, LOOK), prepare(dirty, LOOK)
    assert a.image.shape == b.image.shape
    assert (a.image == b.image).all()
    x, y = (np.array([260.0, 395.0]) * a.scale + a.offset).astype(int)
    assert a.image[y, x] > 127


@pytest.mark.parametrize(
    "blank",
    [
        np.zeros((50, 80), np.uint8),
        np.full((50, 80), 255, np.uint8),
        np.full((1, 1), 7, np.uint8),
        np.full((20, 3000), 90, np.uint8),
        np.tile(np.linspace(90, 250, 400).astype(np.uint8), (300, 1)),
        np.random.default_rng(2).normal(180, 5, (300, 500)).astype(np.uint8),
    ],
)
def test_blank_pages(blank: NDArray[np.uint8]) -> None:
    assert prepare(blank, LOOK).blank


def test_a_single_point() -> None:
    image = np.full((60, 60), 255, np.uint8)
    cv2.circle(image, (30, 30), 4, 0, -1)
    prepared = prepare(image, LOOK)
    assert not prepared.blank
    assert prepared.image.max() > 200


def test_a_formula_that_is_too_wide_is_scaled_to_fit() -> None:
    preprocessing = Preprocessing(max_width=160)
    prepared = prepare(page(), preprocessing)
    assert prepared.image.shape[1] <= 160


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (500, 1), (2, 2), (3000, 20), (20, 3000)])
def test_odd_shapes_of_noise_stay_within_bounds(shape: tuple[int, int]) -> None:
    noise = np.random.default_rng(4).integers(0, 256, shape, np.uint8)
    height, width = prepare(noise, LOOK).image.shape
    assert height <= padded_size(LOOK.max_height, 1)[0]
    assert width <= padded_size(1, LOOK.max_width)[1]


def test_a_picture_of_64_megapixels_is_read_in_bounded_memory() -> None:
    huge = np.repeat(np.repeat(page(), 62, axis=0), 22, axis=1)  # 8060 x 8140
    tracemalloc.start()
    started = time.perf_counter()
    prepared = prepare(huge, LOOK)
    assert tracemalloc.get_traced_memory()[1] < 8 * huge.size
    assert time.perf_counter() - started < 60  # not minutes
    tracemalloc.stop()
    assert not prepared.blank


@pytest.mark.parametrize(("pen", "darkest"), [(7, 128), (8, 192)])
def test_a_loop_that_a_thick_pen_nearly_closes_stays_open(pen: int, darkest: int) -> None:
    gray = np.full((160, 220), 255, np.uint8)
    for x in (40, 80):  # two strokes that tell how high symbols are
        cv2.line(gray, (x, 40), (x, 104), 0, pen, cv2.LINE_AA)
    turn = np.linspace(0, 2 * np.pi, 60)
    loop = np.stack([150 + 5.5 * np.cos(turn), 80 + 8.25 * np.sin(turn)], 1)
    cv2.polylines(gray, [np.round(loop * 16).astype(np.int32)], True, 0, pen, cv2.LINE_AA, 4)
    prepared = prepare(gray, Preprocessing(symbol_height=26))
    x, y = np.array([150, 80]) * prepared.scale + prepared.offset
    assert prepared.image[int(y), int(x)] < darkest
    assert prepared.image[int(y), int(x - 5.5 * prepared.scale)] > 128


def test_where_thick_strokes_of_a_lone_symbol_cross_is_ink() -> None:
    """Cut out tightly, on a screen: the crossing is a quarter as wide as the picture."""
    strokes = [np.array([[25, 25], [105, 115]]), np.array([[105, 25], [25, 115]])]
    cross = [stroke.astype(np.float32) for stroke in strokes]
    thin, thick = (255 - draw(cross, (140, 130), pen) for pen in (4.0, 20.0))
    assert same(thin, thick, 0.55)
    assert same(thin, 255 - thick, 0.55)


def test_a_shaded_box_on_a_screen_is_ground() -> None:
    """As high as thick strokes are wide, and lighter than they are."""
    plain = np.pad(page(), ((100, 100), (50, 50)), constant_values=255)
    screen = plain.copy()
    screen[100:-100, 50:-50] = np.minimum(page(), 225)
    assert same(plain, screen, 0.6)
