"""Ink is told from its ground however faint, rough or compressed it is."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from namer_edge_runtime.picture.background import INK, ink_map
from namer_edge_runtime.picture.prepare import prepare

from .test_prepare import LOOK, page

Gray = NDArray[np.uint8]


def away(picture: Gray, clean: Gray) -> float:
    """Mean difference, in levels, of two pictures as they are prepared."""
    one, other = prepare(picture, LOOK), prepare(clean, LOOK)
    assert one.image.shape == other.image.shape
    return float(np.abs(one.image.astype(int) - other.image).mean())


@pytest.mark.parametrize("quality", [10, 20, 40])
def test_what_jpeg_leaves_beside_ink_is_no_ground(quality: int) -> None:
    gray = np.pad(np.where(page() < 128, np.uint8(50), np.uint8(222)), 40, constant_values=222)
    _, file = cv2.imencode(".jpg", gray, [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert away(np.asarray(cv2.imdecode(file, 0), np.uint8), gray) < 6


def test_little_ink_counts_more_than_wide_faint_stains() -> None:
    picture = np.pad(page(), ((40, 900), (40, 900)), constant_values=255)
    stained = picture.astype(np.float64)
    for y in range(300, 1000, 20):
        stained[y : y + 12] *= 0.95
    assert away(stained.astype(np.uint8), picture) < 4


@pytest.mark.parametrize("share", [0.35, 0.5])
def test_ink_of_a_fainter_pen_is_ink(share: float) -> None:
    picture = page()
    lacking = 255 - picture
    lacking[:, 200:] = lacking[:, 200:] * share
    assert away(255 - lacking, picture) < 4


@pytest.mark.parametrize("level", [110, 160, 200])
@pytest.mark.parametrize("reach", [-6, 10])
def test_a_highlighter_below_the_ink_is_none(level: int, reach: int) -> None:
    clean = np.pad(page(), 120, constant_values=250)
    height, width = clean.shape
    marked, radius = clean.copy(), page().shape[0] // 2 + reach
    for x in (150, width - 150):
        cv2.circle(marked, (x, height // 2), radius, level, -1, cv2.LINE_AA)
    marked[height // 2 - radius : height // 2 + radius, 150 : width - 150] = level
    ink = clean < 128
    assert away(np.where(ink, np.minimum(clean, marked), marked), clean) < 4


def test_what_shows_through_is_none() -> None:
    picture = np.pad(page(), 60, constant_values=255)
    behind = np.minimum(255, 205 + picture[::-1, ::-1].astype(int)).astype(np.uint8)
    both = prepare(np.minimum(picture, behind), LOOK)
    ink = cv2.dilate(prepare(picture, LOOK).image, np.ones((5, 5), np.uint8)) > 0
    assert both.image.shape == ink.shape
    assert not both.image[~ink].any()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_texture_of_a_pencil_is_smoothed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    clean = page(1.0, 5.0)
    lacking = (255 - clean) * np.where(rng.random(clean.shape) < 0.3, 0.2, 0.6)
    strokes, holes = [], []
    for picture in (clean, (255 - lacking).astype(np.uint8)):
        found = ink_map(picture)
        assert found is not None
        mask = (found.image > INK).astype(np.uint8)
        _, nesting = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
        strokes.append((nesting[0][:, 3] < 0).sum())
        holes.append((nesting[0][:, 3] >= 0).sum())
    assert strokes[0] == strokes[1]
    assert holes[1] <= holes[0] + 2
