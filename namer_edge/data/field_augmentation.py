"""Field augmentation: ink drawn as a picture under a field condition, and prepared as on a device.

Unlike a scan, what the runtime leaves of borders, printed lines and marks stays in the picture, and
the formula has the size that the runtime measures. The half of the ranges for reporting is never
drawn, so that the field bench stays a test.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.errors import PictureError
from namer_edge_runtime.ink.render import draw
from namer_edge_runtime.ink.strokes import Strokes, bounds
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.preprocessing import Preprocessing, opencv_affine

from .field.conditions import Condition, conditions

LARGEST = 150_000
"""Pixels that the writing covers at most, which bounds the time."""
SIZES = (0.5, 2.0)
"""Least and largest size of a formula as it was planned that is kept."""
NEAR = 0.15
"""Distance in symbol heights within which ink counts as found."""
FOUND = 0.85
"""Least share of the formula's ink that the runtime must have found."""
MOST = 3.0
"""Most ink where the formula is, of what it has itself; more would hide it."""


@dataclass(frozen=True)
class FieldSample:
    """A formula under a field condition, as the model sees it."""

    image: NDArray[np.uint8]
    """[H, W] or [H, W, 3] of the batch."""
    positions: NDArray[np.float64]
    """[V, 2] (x, y) of the visual nodes in it."""


def field_sample(
    strokes: Strokes,
    positions: NDArray[np.floating],
    size: tuple[int, int],
    preprocessing: Preprocessing,
    rng: np.random.Generator,
    condition: Condition | None = None,
) -> FieldSample | None:
    """Strokes in pixels of the model's input under a `condition`, by default a random one of the
    packaged pictures, in an input [height, width] of `size`.

    The formula lies anywhere in it; None where the runtime misses part of the formula or finds it
    far smaller or larger than planned, so that there is nothing to learn.
    """
    if condition is None:
        pictures = [one for one in conditions() if one.kind == "picture"]
        condition = pictures[int(rng.integers(len(pictures)))]
    picture = condition.picture(strokes, "tune", rng, LARGEST)
    try:
        value = picture.pixels if picture.quality >= 100 else picture.file
        prepared = prepare_input(value, preprocessing)
    except PictureError:
        return None
    if prepared.blank:
        return None
    seen = prepared.image if prepared.color is None else prepared.color
    ink = [prepared.from_input(picture.moved(stroke)) for stroke in strokes]
    points, planned = np.concatenate(ink), np.concatenate(strokes)
    low, extent = points.min(0), np.maximum(np.ptp(points, axis=0), 1.0)
    free = np.array(size[::-1]) - 2 * preprocessing.margin
    scale = min(1.0, float((free / extent).min()))
    grown = scale * np.sqrt(np.prod(extent / np.maximum(np.ptp(planned, axis=0), 1.0)))
    if not SIZES[0] <= grown <= SIZES[1]:
        return None
    rows, columns = np.nonzero(prepared.image)
    if scale == 1 and (np.array([np.ptp(columns), np.ptp(rows)]) <= free).all():
        # All of it has room, what was left beside the formula too.
        low = np.minimum(low, [columns.min(), rows.min()])
        extent = np.maximum(points.max(0), [columns.max(), rows.max()]) - low
    shift = preprocessing.margin + np.maximum(free - scale * extent, 0) * rng.uniform(0, 1, 2)
    shift -= scale * low
    if scale == 1:
        shift = np.round(shift)  # no pixel is interpolated
    matrix = opencv_affine(scale * np.eye(2), shift)
    image = np.asarray(cv2.warpAffine(seen, matrix, size[::-1]), np.uint8)
    drawn = [(scale * stroke + shift).astype(np.float32) for stroke in ink]
    if not _legible(drawn, image, preprocessing):
        return None
    moved = prepared.from_input(picture.moved(positions)) * scale + shift
    return FieldSample(image, moved)


def _legible(strokes: Strokes, image: NDArray[np.uint8], preprocessing: Preprocessing) -> bool:
    """Whether ink of the image is near that of the strokes, and not all over them."""
    gray = image if image.ndim == 2 else image.max(axis=2)
    own = draw(strokes, (gray.shape[0], gray.shape[1]), preprocessing.pen_width)
    side = 2 * round(NEAR * preprocessing.symbol_height) + 1
    near = np.asarray(cv2.dilate(gray, np.ones((side, side), np.uint8)))
    expected = own > 128
    if not expected.any() or (near[expected] > 64).mean() < FOUND:
        return False
    x0, y0, x1, y1 = (max(0, int(edge)) for edge in bounds(strokes))
    ink = gray[y0 : y1 + 1, x0 : x1 + 1]
    return bool((ink > 64).sum() <= MOST * (own > 64).sum())
