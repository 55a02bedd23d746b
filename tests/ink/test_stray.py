"""Stray dots, an odd unit and a far-off origin leave the picture of a formula as it is."""

import numpy as np
import pytest

from namer_edge_runtime.ink.render import render
from namer_edge_runtime.ink.stray import without_stray
from namer_edge_runtime.ink.strokes import as_strokes, bounds, symbol_height
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import WRITTEN, written

LOOK = Preprocessing(26.0)


def test_a_dot_far_off_is_left_out_and_one_nearby_stays() -> None:
    strokes = written(0).strokes
    unit = symbol_height(strokes)
    x0, y0, x1, y1 = bounds(strokes)
    plain = render(strokes, LOOK)
    for place in ((x1 + 4 * unit, y1), (x0, y0 - 9 * unit)):
        drawn = render([*strokes, *as_strokes([[place]])], LOOK)
        assert np.array_equal(drawn.image, plain.image)
        assert drawn.offset == plain.offset
    near = as_strokes([[(x1 + unit, y1)], [(x1 + 2 * unit, y1)], [(x1 + 3 * unit, y1)]])
    assert len(without_stray([*strokes, *near])) == len(strokes) + len(near)


def test_ink_of_dots_alone_stays() -> None:
    dots = as_strokes([[(0, 0)], [(900, 0)]])
    assert len(without_stray(dots)) == len(dots)


@pytest.mark.parametrize(
    ("scale", "origin"), [(1e-8, 0), (1e-30, 0), (1e12, 0), (1, 1.7e9), (1, -1e12), (1e-3, 1e6)]
)
def test_unit_and_origin_do_not_matter(scale: float, origin: float) -> None:
    for number in range(0, len(WRITTEN), 4):
        strokes = written(number).strokes
        moved = as_strokes(stroke.astype(np.float64) * scale + origin for stroke in strokes)
        drawn, plain = (render(ink, LOOK).image.astype(int) for ink in (moved, strokes))
        assert drawn.shape == plain.shape
        assert np.abs(drawn - plain).mean() < 0.5
