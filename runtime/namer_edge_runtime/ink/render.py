"""The renderer of strokes that training, evaluation and recognition share."""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from ..errors import InkError
from ..preprocessing import Prepared, Preprocessing, padded_size
from .pieces import whole
from .planes import stroke_planes
from .stray import without_stray
from .strokes import Stroke, bounds, symbol_height

OVERSAMPLING = 2
"""Strokes are drawn anti-aliased at this many times the size and then averaged down, so that pens
may be as fine as half a pixel step."""
FRACTION_BITS = 4
"""OpenCV draws between pixels in steps of 1/16."""


def render(strokes: Sequence[Stroke], preprocessing: Preprocessing) -> Prepared:
    """Strokes in any unit, drawn for a model's preprocessing.

    A typical symbol becomes `preprocessing.symbol_height` pixels high, less where the formula would
    pass the size limits. Pieces of strokes are joined and stray dots left out. Raises `InkError`
    where there is no stroke.
    """
    if not strokes:
        raise InkError("there are no strokes: nothing to draw")
    strokes = without_stray(whole(strokes))
    height = symbol_height(strokes)
    x0, y0, x1, y1 = bounds(strokes)
    scale = preprocessing.symbol_height / height if height > 0 else 1.0
    room = 2 * preprocessing.margin
    sides = (preprocessing.max_width - room, x1 - x0), (preprocessing.max_height - room, y1 - y0)
    scale = min([scale, *(most / side for most, side in sides if side > 0)])
    # Ink scaled to fit must not exceed its limit by a rounding error, and so by a pixel.
    height, width = (int(np.ceil(side * scale - 1e-6)) for side in (y1 - y0, x1 - x0))
    size = padded_size(height + room, width + room)
    offset = (
        (size[1] - (x1 + x0) * scale) / 2,
        (size[0] - (y1 + y0) * scale) / 2,
    )
    placed = [
        stroke * stroke.dtype.type(scale) + np.array(offset, stroke.dtype) for stroke in strokes
    ]
    image = draw(placed, size, preprocessing.pen_width)
    written = stroke_planes(placed, image) if preprocessing.stroke_planes else None
    return Prepared(image, scale, offset, strokes=written)


def draw(strokes: Sequence[Stroke], size: tuple[int, int], pen_width: float) -> NDArray[np.uint8]:
    """Strokes in pixels → image [height, width] of `size`, ink 255 on 0, anti-aliased.

    A stroke of a single point, or one that never leaves it, becomes a dot.
    """
    height, width = size
    canvas = np.zeros((height * OVERSAMPLING, width * OVERSAMPLING), np.uint8)
    thickness = max(1, round(pen_width * OVERSAMPLING))
    unit = OVERSAMPLING * (1 << FRACTION_BITS)
    # Pixel centers lie at half integers in our coordinates and at integers in OpenCV's.
    points = [
        np.round(stroke * unit - (1 << FRACTION_BITS) / 2).astype(np.int32) for stroke in strokes
    ]
    lines = [p for p in points if (p != p[0]).any()]
    cv2.polylines(canvas, lines, False, 255, thickness, cv2.LINE_AA, FRACTION_BITS)
    for p in points:
        if (p == p[0]).all():
            radius = round(0.75 * thickness * (1 << FRACTION_BITS))
            center = (int(p[0, 0]), int(p[0, 1]))
            cv2.circle(canvas, center, radius, 255, -1, cv2.LINE_AA, FRACTION_BITS)
    return cv2.resize(canvas, (width, height), interpolation=cv2.INTER_AREA).astype(np.uint8)
