"""Printed text beside handwriting is left out; handwriting alone and print alone stay."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from namer_edge_runtime.ink.inkml import iterate_ink
from namer_edge_runtime.ink.render import draw
from namer_edge_runtime.ink.strokes import bounds, symbol_height
from namer_edge_runtime.picture.prepare import prepare
from namer_edge_runtime.picture.printed_text import PRINT

from .test_prepare import LOOK, page

FONTS = [cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX]


def printed(height: int, font: int, size: float, pen: int, angle: float = 0) -> NDArray[np.uint8]:
    """A page `height` pixels high with a line of text at its top."""
    paper = np.full((height, page().shape[1] + 300), 255, np.uint8)
    cv2.putText(
        paper, "Solve for the unknown, then sum:", (20, 60), font, size, 0, pen, cv2.LINE_AA
    )
    turn = cv2.getRotationMatrix2D((0, 0), angle, 1)
    turned = cv2.warpAffine(paper, turn, paper.shape[::-1], borderValue=255)
    return np.asarray(turned, np.uint8)


@pytest.mark.parametrize("font", FONTS)
@pytest.mark.parametrize(("size", "pen", "angle"), [(0.8, 1, 0), (1.2, 2, -3), (1.2, 4, 1)])
def test_a_printed_line_above_the_formula_is_left_out(
    font: int, size: float, pen: int, angle: float
) -> None:
    picture = printed(page().shape[0] + 180, font, size, pen, angle)
    picture[180:, 150:-150] = page()
    prepared, wanted = prepare(picture, LOOK), prepare(page(), LOOK)
    assert PRINT in prepared.notes
    assert prepared.image.shape == wanted.image.shape
    assert np.abs(prepared.image.astype(int) - wanted.image).mean() < 3


@pytest.mark.parametrize("font", FONTS)
def test_print_alone_is_the_formula(font: int) -> None:
    prepared = prepare(printed(120, font, 1.2, 2), LOOK)
    assert PRINT not in prepared.notes
    assert prepared.image.any()


@pytest.mark.parametrize("height", [14, 24, 60])
def test_no_handwriting_is_taken_for_print(shared_data: Path, height: int) -> None:
    inks = list(iterate_ink(shared_data / "crohme" / "test2013.zip"))[::10]
    for _, ink in inks:
        strokes = getattr(ink, "strokes", ())
        if not strokes or not symbol_height(strokes):
            continue
        x0, y0, x1, y1 = bounds(strokes)
        scale = height / symbol_height(strokes)
        moved = [((stroke - (x0, y0)) * scale + 20).astype(np.float32) for stroke in strokes]
        size = int((y1 - y0) * scale) + 40, int((x1 - x0) * scale) + 40
        assert PRINT not in prepare(255 - draw(moved, size, 2.2), LOOK).notes
