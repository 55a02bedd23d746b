"""Ink that no file says is upside down or mirrored is read upright where that is surer."""

from dataclasses import replace

import numpy as np
import pytest

from namer_edge_runtime.ink.direction import mirroring
from namer_edge_runtime.ink.strokes import as_strokes
from namer_edge_runtime.inputs import LoadedInput
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import WRITTEN, written

MIRRORS = [(1, 1), (1, -1), (-1, 1), (-1, -1)]


@pytest.mark.parametrize("mirror", MIRRORS)
def test_hands_write_down_and_to_the_right(mirror: tuple[int, int]) -> None:
    strokes = as_strokes(
        np.array(stroke) * mirror
        for stroke in ([(0, 0), (1, 9)], [(8, 2), (6, 9)], [(14, 6), (20, 5)], [(22, 0), (22, 9)])
    )
    assert mirroring(strokes).factors == mirror


def test_ink_without_a_direction_stays() -> None:
    assert mirroring(as_strokes([[(3, 3)]])).factors == (1, 1)
    assert mirroring(as_strokes([[(0, 3), (9, 3)]])).factors == (1, 1)


@pytest.mark.parametrize("mirror", MIRRORS)
def test_mirrored_ink_is_drawn_as_its_mirror_image(mirror: tuple[float, float]) -> None:
    look = Preprocessing(26.0)
    for number in range(0, len(WRITTEN), 5):
        strokes = written(number).strokes
        other = as_strokes(stroke * np.array(mirror) for stroke in strokes)
        plain = LoadedInput(strokes, None).prepare(look)
        for turn in (0.0, 0.3):
            seen = replace(LoadedInput(other, None), mirror=mirror, turn=turn).prepare(look)
            points = np.concatenate(other)
            np.testing.assert_allclose(seen.to_input(seen.from_input(points)), points, atol=1e-3)
            if not turn:
                assert (seen.image == plain.image).all()


def test_a_root_runs_up_but_not_clearly() -> None:
    root = [(0, 6), (2, 9), (4, 0), (14, 0)]
    digit = [(7, 3), (8, 3), (7, 8.9)]
    assert mirroring(as_strokes([root, digit])).factors == (1, 1)
    up = [[(x, 9), (x + 1, 0)] for x in range(0, 30, 6)]
    assert mirroring(as_strokes(up)) == ((1, -1), True)
    assert mirroring(as_strokes(up[:2])) == ((1, -1), False)
