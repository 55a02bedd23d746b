"""Strokes in pieces are measured, drawn and shared out as the strokes they are pieces of."""

from collections.abc import Callable

import numpy as np
import pytest

from namer_edge_runtime.ink.pieces import groups, whole
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.ink.stroke_assignment import assign_strokes
from namer_edge_runtime.ink.strokes import Strokes, as_strokes, symbol_height
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import WRITTEN, written


def cut(strokes: Strokes, size: int, shared: int) -> Strokes:
    """Pieces of `size` points, neighbors with as many `shared` ones."""
    return [
        stroke[begin : begin + size + shared]
        for stroke in strokes
        for begin in range(0, max(1, len(stroke) - shared), size)
    ]


def erased(strokes: Strokes) -> Strokes:
    """What an eraser of a tenth of a symbol's height leaves that went over each stroke twice."""
    radius = symbol_height(strokes) / 20
    left = []
    for stroke in strokes:
        share = np.linspace(0, len(stroke) - 1, 20 * len(stroke))
        fine = np.column_stack([np.interp(share, np.arange(len(stroke)), s) for s in stroke.T])
        centers = fine[[len(fine) // 3, 2 * len(fine) // 3]]
        gone = (np.hypot(*np.moveaxis(fine[:, None] - centers, -1, 0)) < radius).any(1)
        runs = np.split(np.arange(len(fine)), np.flatnonzero(np.diff(gone)) + 1)
        left += [fine[run] for run in runs if not gone[run[0]]]
    return as_strokes(left)


@pytest.mark.parametrize(
    "broken",
    [
        lambda strokes: cut(strokes, 1, 1),
        lambda strokes: cut(strokes, 5, 1),
        lambda strokes: cut(strokes, 4, 0),
        lambda strokes: cut(strokes, 1, 0),
        erased,
    ],
    ids=["segments", "sharing points", "apart", "single points", "erased"],
)
def test_pieces_are_drawn_at_the_size_of_their_strokes(
    broken: Callable[[Strokes], Strokes],
) -> None:
    alike = 0
    for number in range(len(WRITTEN)):
        strokes = written(number).strokes
        pieces = broken(strokes)
        drawn = (
            render(pieces, Preprocessing(26.0)).scale / render(strokes, Preprocessing(26.0)).scale
        )
        alike += 0.8 < drawn < 1.25
    assert alike >= 0.9 * len(WRITTEN)


def test_strokes_that_are_whole_stay_as_they_are() -> None:
    for number in range(len(WRITTEN)):
        strokes = written(number).strokes
        assert [len(stroke) for stroke in whole(strokes)] == [len(stroke) for stroke in strokes]


def test_pieces_of_a_stroke_belong_to_one_symbol() -> None:
    strokes = as_strokes([[(x, 0) for x in range(20)], [(8, y) for y in range(8, 40)]])
    pieces = cut(strokes, 4, 1)
    places = np.array([(9.5, 0), (8, 24)])
    first, second = groups(pieces)
    assert assign_strokes(pieces, ["-", "1"], places) == [tuple(first), tuple(second)]
    assert len(first) + len(second) == len(pieces)


def test_rows_of_small_writing_are_no_strokes_in_pieces() -> None:
    letter = np.array([[0, 1], [0.3, 0], [0.6, 1]], np.float32)
    rows = [
        letter + np.array([0.7 * column, 3 * row], np.float32)
        for row in range(6)
        for column in range(40)
    ]
    assert len(whole(rows)) == len(rows)


@pytest.mark.parametrize("rows", [20, 60])
def test_a_long_page_is_not_in_pieces(rows: int) -> None:
    """Measured by the height of all, each stroke begins near to where the one before ended."""
    ticks = [[(x, y), (x + 2, y + 9)] for y in range(0, 30 * rows, 30) for x in (0, 14, 28)]
    assert len(groups(as_strokes(ticks))) == len(ticks)
