"""Stroke planes: how ink was written, beside its picture."""

from itertools import pairwise

import numpy as np
import pytest

from namer_edge_runtime.errors import ModelFileError
from namer_edge_runtime.ink.planes import ORDER, stroke_planes
from namer_edge_runtime.ink.render import draw, render
from namer_edge_runtime.ink.strokes import Strokes, as_strokes
from namer_edge_runtime.inputs import LoadedInput, open_input, prepare_input
from namer_edge_runtime.preprocessing import STROKE_PLANES, Preprocessing

from ..handwriting import WRITTEN, written

PLAIN = Preprocessing(26.0)
SEEING = Preprocessing(26.0, stroke_planes=True)
SIZE = (48, 96)


def painted(strokes: Strokes) -> np.ndarray:
    return stroke_planes(strokes, draw(strokes, SIZE, 2.0))


def test_direction_place_and_order_are_told() -> None:
    right, down = as_strokes([[(10, 10), (80, 10)], [(30, 20), (30, 44)]])
    cos, sin, place, order = painted([right, down]).astype(int)
    assert (cos[10, 45], sin[10, 45]) == (255, 128)
    assert (cos[32, 30], sin[32, 30]) == (128, 255)
    assert place[10, 11] < 10
    assert place[10, 79] > 245
    assert place[10, 45] == pytest.approx(128, abs=3)
    assert order[10, 45] == 1
    assert order[32, 30] == pytest.approx(1 + 254 / (ORDER - 1), abs=1)


def test_values_lie_on_the_ink_and_nowhere_else() -> None:
    for number in range(len(WRITTEN)):
        prepared = render(written(number).strokes, SEEING)
        assert prepared.strokes is not None
        assert prepared.strokes.shape == (STROKE_PLANES, *prepared.image.shape)
        inked = prepared.image > 0
        assert not prepared.strokes[:, ~inked].any()
        assert (prepared.strokes[:, inked] > 0).mean() > 0.99


def test_reversed_strokes_point_the_other_way() -> None:
    (stroke,) = as_strokes([[(10, 10), (60, 30), (80, 12)]])
    there, back = (painted([way]).astype(int) for way in (stroke, stroke[::-1].copy()))
    inked = there[0] > 0
    assert np.abs(there[:3] + back[:3] - 256)[:, inked].mean() < 3
    assert (there[3] == back[3]).all()


def test_how_densely_a_pen_is_sampled_plays_no_part() -> None:
    corners = np.array([(10, 10), (60, 30), (80, 12)], np.float32)
    dense = np.concatenate(
        [np.linspace(a, b, 50, endpoint=False) for a, b in pairwise(corners)]
        + [corners[-1:], corners[-1:]]  # the pen rests at the end
    ).astype(np.float32)
    image = draw([corners], SIZE, 2.0)
    sparse, fine = (stroke_planes([points], image).astype(int) for points in (corners, dense))
    assert np.abs(sparse - fine).max() <= 2


def test_a_later_stroke_lies_above_and_a_dot_has_no_direction() -> None:
    across, through, dot = as_strokes([[(10, 20), (80, 20)], [(40, 5), (40, 40)], [(70, 36)]])
    cos, sin, place, order = painted([across, through, dot]).astype(int)
    assert order[20, 40] == pytest.approx(1 + 254 / (ORDER - 1), abs=1)
    assert (cos[36, 70], sin[36, 70], place[36, 70]) == (128, 128, 128)


@pytest.mark.parametrize("stroke", [[(-50, -50), (500, 500)], [(5, 5)] * 3, [(0, 0), (1e-9, 0)]])
def test_ink_beyond_the_picture_and_of_no_length_is_painted(stroke: list[tuple[int, int]]) -> None:
    assert painted(as_strokes([stroke])).any()


def test_only_looks_with_stroke_planes_have_them() -> None:
    strokes = written(0).strokes
    plain, seeing = render(strokes, PLAIN), render(strokes, SEEING)
    assert plain.strokes is None
    assert (plain.image == seeing.image).all()
    assert (plain.planes(PLAIN.inputs) == plain.image[None]).all()
    assert (seeing.planes(SEEING.inputs)[0] == plain.image).all()
    assert "stroke_planes" not in PLAIN.to_json()
    assert Preprocessing.from_json(SEEING.to_json()) == SEEING
    assert (PLAIN.inputs, Preprocessing(channels=3).inputs, SEEING.inputs) == (
        1,
        3,
        1 + STROKE_PLANES,
    )
    with pytest.raises(ModelFileError, match="three channels"):
        Preprocessing.from_json({**SEEING.to_json(), "channels": 3})


def test_pictures_and_blank_pages_have_zeros() -> None:
    picture = 255 - render(written(0).strokes, PLAIN).image
    for value in (picture, []):
        planes = prepare_input(value, SEEING).planes(SEEING.inputs)
        assert planes.shape[0] == 1 + STROKE_PLANES
        assert not planes[1:].any()


def test_ink_that_is_turned_or_drawn_larger_keeps_its_planes() -> None:
    opened = open_input(written(0).strokes)
    assert isinstance(opened, LoadedInput)
    turned = opened.turned(np.pi / 2).prepare(SEEING)
    level = opened.prepare(SEEING)
    assert turned.strokes is not None
    assert level.strokes is not None
    inked = [prepared.image > 0 for prepared in (level, turned)]
    sines = turned.strokes[1][inked[1]].astype(int) - 128
    cosines = level.strokes[0][inked[0]].astype(int) - 128
    assert sines.mean() == pytest.approx(cosines.mean(), abs=5)  # what went right goes down
