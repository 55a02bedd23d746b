"""Frames, underlines, blots and far-off ink are left out, and told; symbols stay."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from namer_edge_runtime.picture.foreign_ink import (
    BLOT,
    DOTTED,
    FAR,
    FRAME,
    SCRIBBLE,
    UNDERLINE,
)
from namer_edge_runtime.picture.prepare import EDGE, prepare

from .test_prepare import LOOK, STROKES, page

Gray = NDArray[np.uint8]
ROOM = 150


def sheet() -> Gray:
    return np.pad(page(), ROOM, constant_values=255)


def boxed() -> Gray:
    picture = sheet()
    cv2.rectangle(picture, (ROOM, ROOM), (ROOM + 365, ROOM + 125), 0, 4)
    return picture


def circled_open() -> Gray:
    picture = sheet()
    cv2.ellipse(picture, (ROOM + 182, ROOM + 62), (230, 95), 0, 130, 486, 0, 4, cv2.LINE_AA)
    return picture


def selected() -> Gray:
    picture = sheet()
    for x in range(ROOM - 10, ROOM + 380, 16):
        for y in (ROOM - 10, ROOM + 134):
            cv2.line(picture, (x, y), (x + 8, y), 0, 2)
    for y in range(ROOM - 2, ROOM + 130, 16):
        for x in (ROOM - 10, ROOM + 382):
            cv2.line(picture, (x, y), (x, y + 8), 0, 2)
    return picture


def dotted() -> Gray:
    picture = sheet()
    for x in range(15, picture.shape[1], 40):
        for y in range(15, picture.shape[0], 40):
            if picture[y - 6 : y + 7, x - 6 : x + 7].min() == 255:
                cv2.circle(picture, (x, y), 2, 60, -1)
    return picture


def circled() -> Gray:
    picture = sheet()
    cv2.ellipse(picture, (ROOM + 182, ROOM + 62), (230, 95), 0, 0, 360, 0, 4, cv2.LINE_AA)
    return picture


def underlined() -> Gray:
    picture = sheet()
    for y in (ROOM + 120, ROOM + 134):
        cv2.line(picture, (ROOM + 20, y), (ROOM + 350, y + 2), 0, 4, cv2.LINE_AA)
    return picture


def punched() -> Gray:
    picture = sheet()
    for y in (60, 350):
        cv2.circle(picture, (60, y), 22, 30, -1, cv2.LINE_AA)
    return picture


def spiral() -> Gray:
    picture = sheet()
    for x in range(20, picture.shape[1] - 20, 40):
        cv2.circle(picture, (x, 20), 8, 30, -1, cv2.LINE_AA)
    return picture


def run_together(along: bool) -> Gray:
    picture = sheet() if along else np.ascontiguousarray(sheet().T)
    for y in range(2, picture.shape[0] - 4, 7):
        cv2.circle(picture, (25, y), 4, 30, -1, cv2.LINE_AA)
    return picture if along else np.ascontiguousarray(picture.T)


def crossed_out(swing: float = 40) -> Gray:
    picture = sheet()
    time = np.linspace(0, 1, 400)
    x = ROOM - 110 + 80 * time
    y = ROOM + 60 + 35 * np.sin(time * swing)
    points = np.rint(np.stack([x, y], axis=1)).astype(np.int32)
    cv2.polylines(picture, [points], False, 0, 4, cv2.LINE_AA)
    return picture


def numbered() -> Gray:
    picture = np.pad(sheet(), ((0, 150), (0, 0)), constant_values=255)
    cv2.putText(picture, "7", (320, picture.shape[0] - 40), 0, 1.5, 0, 4, cv2.LINE_AA)
    return picture


@pytest.mark.parametrize(
    ("picture", "note"),
    [
        *((boxed(), FRAME), (circled(), FRAME), (underlined(), UNDERLINE), (punched(), BLOT)),
        *((spiral(), BLOT), (crossed_out(), BLOT), (numbered(), FAR)),
        *(
            (circled_open(), FRAME),
            (selected(), DOTTED),
            (dotted(), DOTTED),
            (crossed_out(24), SCRIBBLE),
            (run_together(True), EDGE),
            (run_together(False), EDGE),
        ),
    ],
    ids=[
        *("box", "circle", "underlines", "holes", "spiral", "crossed out", "page number"),
        *("open circle", "selection", "dotted paper", "crossed out by few lines"),
        *("spiral that runs together", "spiral above that runs together"),
    ],
)
def test_what_is_no_formula_is_left_out_and_told(picture: Gray, note: str) -> None:
    wanted, prepared = prepare(sheet(), LOOK), prepare(picture, LOOK)
    assert wanted.notes == ()
    assert prepared.notes == (note,)
    assert prepared.image.shape == wanted.image.shape
    assert np.abs(prepared.image.astype(int) - wanted.image).mean() < 4


@pytest.mark.parametrize("shape", ["theta", "root", "plus minus", "fraction", "equals"])
def test_symbols_are_no_frames_and_no_underlines(shape: str) -> None:
    picture = np.full((300, 500), 255, np.uint8)

    def line(*points: tuple[int, int]) -> None:
        cv2.polylines(picture, [np.array(points, np.int32)], False, 0, 4, cv2.LINE_AA)

    if shape == "theta":
        cv2.ellipse(picture, (250, 150), (40, 70), 0, 0, 360, 0, 4, cv2.LINE_AA)
        line((225, 150), (275, 150))
    elif shape == "root":
        line((60, 170), (90, 220), (120, 60), (420, 60))
        line((180, 100), (240, 200))
        line((240, 100), (180, 200))
        line((320, 100), (320, 200))
    elif shape == "plus minus":
        line((200, 120), (300, 120))
        line((250, 70), (250, 170))
        line((200, 190), (300, 190))
    elif shape == "fraction":
        line((100, 150), (400, 150))
        line((200, 60), (200, 120))
        line((260, 60), (260, 120))
        line((250, 180), (250, 240))
    else:
        line((100, 130), (400, 130))
        line((100, 170), (400, 170))
    assert prepare(picture, LOOK).notes == ()


def test_ink_as_it_is_written_has_no_notes() -> None:
    assert len(STROKES) == 5
    for scale in (0.5, 1.0, 2.0):
        assert prepare(page(scale), LOOK).notes == ()
