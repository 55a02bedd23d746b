"""The report on a teacher as one picture: distances by token, and formulas with arrows."""

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.picture.overlay import FONT, FONT_HEIGHT

from .canvas import Canvas, Color
from .teacher_report import PositionPair, Spread, TeacherReport

WIDTH = 1400
LINE = 24
LETTERS = 13.0
NAMES, CELLS = 190, 70
"""Pixels of a token's name, and per cell of distance."""
INK, MEDIAN, FAR = (40, 40, 40), (70, 130, 200), (190, 215, 240)
NEAR, OUTSIDE = (20, 120, 50), (215, 20, 20)
WINDOW = 5
FORMULAS, CLASSES = 5, 25


def teacher_picture(report: TeacherReport) -> NDArray[np.uint8]:
    """[H, W, 3] RGB: for each group and frequent token the median distance and, lighter, the ninth
    decile; then formulas with arrows from the ink's positions to the teacher's, red outside the
    5 x 5 window."""
    spreads = [*report.groups.items(), *list(report.classes.items())[:CLASSES]]
    rows = [_text("Distance between the teacher's cell and the ink's: median, and 90 % (light)")]
    rows += [_bar(name, spread) for name, spread in spreads]
    rows.append(
        _text(f"From the ink's position to the teacher's; red: outside {WINDOW} x {WINDOW}")
    )
    step = max(1, len(report.formulas) // FORMULAS)
    for pair in report.formulas[::step][:FORMULAS]:
        rows += [_text(" ".join(pair.formula.tokens)), _arrows(pair)]
    width = max(row.shape[1] for row in rows)
    filled = [
        np.pad(row, ((0, 0), (0, width - row.shape[1]), (0, 0)), constant_values=255)
        for row in rows
    ]
    return np.vstack(filled)


def _text(text: str) -> NDArray[np.uint8]:
    row = np.full((LINE, WIDTH, 3), 255, np.uint8)
    _word(row, text, 8, INK)
    return row


def _word(row: NDArray[np.uint8], text: str, x: int, color: Color) -> None:
    scale = LETTERS / FONT_HEIGHT
    cv2.putText(row, text, (x, LINE - 7), FONT, scale, color, 1, cv2.LINE_AA)


def _bar(name: str, spread: Spread) -> NDArray[np.uint8]:
    row = _text(f"{name} ({spread.count})")
    for distance, color in ((spread.p90, FAR), (spread.median, MEDIAN)):
        end = min(WIDTH - 240, NAMES + max(2, round(distance * CELLS)))
        row[3 : LINE - 3, NAMES:end] = color
    _word(row, f"{spread.within[WINDOW]:.0f} % in {WINDOW} x {WINDOW}", WIDTH - 230, INK)
    return row


def _arrows(pair: PositionPair) -> NDArray[np.uint8]:
    canvas = Canvas.of(pair.prepared.image)
    for ink, taught, distance in zip(
        pair.ink.tolist(), pair.taught.tolist(), pair.distances.tolist(), strict=True
    ):
        color = NEAR if distance <= WINDOW // 2 else OUTSIDE
        start, end = canvas.place(*ink), canvas.place(*taught)
        canvas.dot(start, color)
        if start != end:
            canvas.arrow(start, end, color, max(1, canvas.cell // 14))
    return canvas.pixels
