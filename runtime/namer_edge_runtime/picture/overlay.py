"""A picture overlaid with the recognized tokens at their positions and the path through them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

FONT = cv2.FONT_HERSHEY_SIMPLEX
FONT_HEIGHT = 22.0
"""Pixels of a capital in this font at scale 1."""
PATH = (60, 110, 230)
SURE, UNSURE = np.array((0, 140, 60)), np.array((220, 30, 30))
"""RGB of a token's mark at score 1 and 0."""
FADED = 0.45
"""How much of the ink's contrast is left under the marks."""


@dataclass(frozen=True)
class Mark:
    """One token of the overlay."""

    text: str
    score: float
    x: float
    y: float
    """In pixels of the picture."""


def overlay(
    ground: NDArray[np.uint8], marks: Sequence[Mark], path: Sequence[int], size: float
) -> NDArray[np.uint8]:
    """RGB [H, W, 3]: the gray picture [H, W], faded, with tokens and path.

    Args:
        ground: dark ink on light, or light on dark; the marks are drawn over either.
        marks: the tokens; green where they are sure, red where not.
        path: places in `marks` in the order that the path visits them, relations again where they
            are closed; arrows lead from one to the next.
        size: height of the letters in pixels.
    """
    image = np.repeat((255 - (255 - ground) * FADED).astype(np.uint8)[:, :, None], 3, axis=2)
    thick = max(1, round(size / 12))
    points = [(round(mark.x), round(mark.y)) for mark in marks]
    for source, target in pairwise(path):
        if source != target:
            start, end = points[source], points[target]
            tip = min(0.3, 0.6 * size / max(1.0, float(np.hypot(*np.subtract(end, start)))))
            cv2.arrowedLine(image, start, end, PATH, thick, cv2.LINE_AA, 0, tip)
    for mark, (x, y) in zip(marks, points, strict=True):
        color = SURE * mark.score + UNSURE * (1 - mark.score)
        rgb = tuple(int(level) for level in color.round())
        cv2.circle(image, (x, y), 2 * thick, rgb, -1, cv2.LINE_AA)
        # OpenCV's font holds ASCII only; other letters become a box.
        text = "".join(letter if letter.isascii() else "[]" for letter in mark.text)
        place = (x + 2 * thick, max(round(size), y - 2 * thick))
        cv2.putText(image, text, place, FONT, size / FONT_HEIGHT, rgb, thick, cv2.LINE_AA)
    return image
