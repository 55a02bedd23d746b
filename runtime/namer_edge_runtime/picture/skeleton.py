"""Skeleton of drawn lines: the ridge of the distance transform of their ink."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..preprocessing import opencv_affine
from .components import connected
from .stroke_width import measured_width

RIDGE = 0.6
"""A pixel lies on the ridge where no neighbor is this many pixels further from the edge."""
SMOOTH = 1.0
"""Standard deviation in pixels of the blur that smooths edges, less for fine pens."""
STEADY = 1.5
"""Standard deviation of the blur that smooths the distance from the skeleton."""
DOT = 1.6
"""Components smaller than this many pen widths in both directions are dots."""
DOT_RADIUS = 0.75
"""Radius of a drawn dot in pen widths, as the renderer draws it."""
FILLED = 1.1
"""Pixels at least this many half pen widths from the edge belong to the ridge too: there several
lines have merged, which a single line would hide."""
OVERSAMPLING = 2
"""Pixels of a drawing for each pixel of its picture, in both directions."""


@dataclass(frozen=True)
class Skeleton:
    """The path of the pen in an ink map, and the sizes of its components, in pixels of the map."""

    ridge: NDArray[np.uint8]
    """[H, W] 255 on the center lines, 0 elsewhere."""
    thickness: float
    """Mean width of the ridge itself, in pixels."""
    dots: NDArray[np.float32]
    """[n, 2] (x, y) centers of dots."""
    bounds: tuple[float, float, float, float]
    """x0, y0, x1, y1 of the box round the ridge."""
    sizes: NDArray[np.float64]
    """[components, 2] width and height of each, between its outermost center lines."""

    @classmethod
    def of(cls, ink: NDArray[np.uint8], pen: float, level: int) -> "Skeleton":
        """The skeleton of an ink map [H, W] that has a blank edge and a pen width of about `pen`.

        Pixels above `level` are ink, or above half the maximum where that is lower.
        """
        soft = cv2.GaussianBlur(ink, (0, 0), max(0.3, min(SMOOTH, pen / 4)))
        _, mask = cv2.threshold(soft, min(level, int(soft.max()) // 2), 1, cv2.THRESH_BINARY)
        depth = cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_5)
        depth = cv2.GaussianBlur(depth, (0, 0), SMOOTH)
        highest = cv2.dilate(depth, np.ones((3, 3), np.uint8))
        ridge = cv2.compare(np.add(depth, np.float32(RIDGE)), highest, cv2.CMP_GT)
        ridge = cv2.bitwise_and(ridge, ridge, mask=mask)
        x0, y0, across, along = cv2.boundingRect(ridge)
        labels, stats, centers = connected(np.asarray(mask, np.uint8))
        count = len(stats) - 1
        full = np.full(mask.shape, 255, np.uint8)
        width = measured_width(full, mask > 0, count)
        # The ridge of a line an even number of pixels wide is two pixels wide.
        thickness = max(1.0, measured_width(full, ridge > 0, count))
        filled = np.asarray(depth > FILLED * width / 2, np.uint8)
        ridge = cv2.bitwise_or(ridge, 255 * filled)
        sizes = stats[1:, 2:4].astype(np.float64)
        small = 1 + np.flatnonzero(sizes.max(1) < DOT * width)
        for number in small:
            x, y, w, h = stats[number, :4]
            box = slice(y, y + h), slice(x, x + w)
            ridge[box][labels[box] == number] = 0
        return cls(
            np.asarray(ridge, np.uint8),
            thickness,
            centers[small].astype(np.float32) + 0.5,
            (float(x0), float(y0), float(x0 + across), float(y0 + along)),
            np.maximum(sizes - width, 0),
        )

    @cached_property
    def distance(self) -> NDArray[np.float32]:
        """[H, W] distance to the nearest pixel of the ridge."""
        away = cv2.distanceTransform(cv2.bitwise_not(self.ridge), cv2.DIST_L2, cv2.DIST_MASK_5)
        # Without a ridge, as for dots alone, OpenCV's distances are too large to compute with.
        away = np.minimum(away, np.float32(sum(away.shape)))
        away = cv2.GaussianBlur(away, (0, 0), STEADY)
        return np.asarray(away + (self.thickness - 1) / 2, np.float32)

    def drawn(
        self, scale: float, offset: tuple[float, float], size: tuple[int, int], pen: float
    ) -> NDArray[np.uint8]:
        """The lines drawn with a pen of `pen` pixels: [height, width] of `size`, 255 on 0.

        Coordinates of the drawing are those of the skeleton · `scale` + `offset`.
        """
        k = scale * OVERSAMPLING
        away = placed(self.distance, scale, offset, size, beyond=sum(self.distance.shape))
        shift = [OVERSAMPLING * o for o in offset]
        pen *= OVERSAMPLING
        cover = np.clip(255 * (pen / 2 + 0.5 - away * k), 0, 255).astype(np.uint8)
        for x, y in self.dots * k + shift:
            center = round(float(x - 0.5) * 16), round(float(y - 0.5) * 16)
            cv2.circle(cover, center, round(DOT_RADIUS * pen * 16), 255, -1, cv2.LINE_AA, 4)
        return shown(cover)


def placed(
    picture: NDArray[Any],
    scale: float,
    offset: tuple[float, float],
    size: tuple[int, int],
    beyond: float = 0,
) -> NDArray[Any]:
    """A picture at its coordinates · `scale` + `offset`, `OVERSAMPLING` times as large as `size`.

    `size` is (height, width), and `beyond` the value outside the picture; `shown` scales the result
    down to `size`.
    """
    k = scale * OVERSAMPLING
    return cv2.warpAffine(
        picture,
        opencv_affine(k * np.eye(2), OVERSAMPLING * np.array(offset)),
        (size[1] * OVERSAMPLING, size[0] * OVERSAMPLING),
        flags=cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,  # up to 8 times as quick as going on with the edge
        borderValue=beyond,
    )


def shown(drawing: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A drawing scaled down by `OVERSAMPLING`, as the mean of areas."""
    size = [side // OVERSAMPLING for side in drawing.shape[::-1]]
    return np.asarray(cv2.resize(drawing, size, interpolation=cv2.INTER_AREA), np.uint8)
