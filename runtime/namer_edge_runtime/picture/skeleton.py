"""The middles of drawn lines: where a pen went, however thick it was."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from .components import connected
from .stroke_width import measured_width

CREST = 0.6
"""A pixel lies on the middle of a line where no neighbor is this much further from the edge."""
SMOOTH = 1.0
"""Deviation in pixels of the blur that takes the steps of pixels out of edges, less for fine
pens."""
STEADY = 1.5
"""The same for the distance from the middles, which takes the tremor out of them."""
DOT = 1.6
"""Pieces of ink smaller than this many pens both ways are dots."""
DOT_RADIUS = 0.75
"""Half-width of a drawn dot in pens: the renderer's."""
FILLED = 1.1
"""Pixels this many half pens away from the edge of the ink, and more, are middles too: there the
ink of several lines has run together, and one line would not tell."""
OVERSAMPLING = 2
"""Pixels of a drawing for each of the picture that it is made for, both ways."""


@dataclass(frozen=True)
class Middles:
    """Where the pen went in an ink map, and how large what it wrote is; lengths in its pixels."""

    crest: NDArray[np.uint8]
    """[H, W] 255 on the middles of lines, 0 elsewhere."""
    thickness: float
    """How wide these are, in pixels."""
    dots: NDArray[np.float32]
    """[n, 2] (x, y) middles of dots."""
    bounds: tuple[float, float, float, float]
    """x0, y0, x1, y1 round all middles."""
    sizes: NDArray[np.float64]
    """[pieces, 2] width and height of the connected pieces, from middle to middle."""

    @classmethod
    def of(cls, ink: NDArray[np.uint8], pen: float, level: int) -> "Middles":
        """Of an ink map [H, W] with some blank pixels round its ink, written with a pen of about
        `pen` pixels. What is above `level` is ink; of fainter ink, its darker half."""
        soft = cv2.GaussianBlur(ink, (0, 0), max(0.3, min(SMOOTH, pen / 4)))
        _, mask = cv2.threshold(soft, min(level, int(soft.max()) // 2), 1, cv2.THRESH_BINARY)
        depth = cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_5)
        depth = cv2.GaussianBlur(depth, (0, 0), SMOOTH)
        highest = cv2.dilate(depth, np.ones((3, 3), np.uint8))
        crest = cv2.compare(np.add(depth, np.float32(CREST)), highest, cv2.CMP_GT)
        crest = cv2.bitwise_and(crest, crest, mask=mask)
        x0, y0, across, along = cv2.boundingRect(crest)
        labels, stats, centers = connected(np.asarray(mask, np.uint8))
        count = len(stats) - 1
        full = np.full(mask.shape, 255, np.uint8)
        width = measured_width(full, mask > 0, count)
        # Middles of lines an even number of pixels wide are two pixels wide themselves.
        thickness = max(1.0, measured_width(full, crest > 0, count))
        filled = np.asarray(depth > FILLED * width / 2, np.uint8)
        crest = cv2.bitwise_or(crest, 255 * filled)
        sizes = stats[1:, 2:4].astype(np.float64)
        small = 1 + np.flatnonzero(sizes.max(1) < DOT * width)
        for number in small:
            x, y, w, h = stats[number, :4]
            box = slice(y, y + h), slice(x, x + w)
            crest[box][labels[box] == number] = 0
        return cls(
            np.asarray(crest, np.uint8),
            thickness,
            centers[small].astype(np.float32) + 0.5,
            (float(x0), float(y0), float(x0 + across), float(y0 + along)),
            np.maximum(sizes - width, 0),
        )

    @cached_property
    def distance(self) -> NDArray[np.float32]:
        """[H, W] to the nearest middle."""
        away = cv2.distanceTransform(cv2.bitwise_not(self.crest), cv2.DIST_L2, cv2.DIST_MASK_5)
        # Where there are only dots, no line is anywhere, and that is too far to reckon with.
        away = np.minimum(away, np.float32(sum(away.shape)))
        away = cv2.GaussianBlur(away, (0, 0), STEADY)
        return np.asarray(away + (self.thickness - 1) / 2, np.float32)

    def drawn(
        self, scale: float, offset: tuple[float, float], size: tuple[int, int], pen: float
    ) -> NDArray[np.uint8]:
        """The same lines with another pen: 255 on 0, [height, width] of `size`, whose pixels are
        ours · `scale` + `offset`; `pen` is in its pixels."""
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
    """A picture where its coordinates · `scale` + `offset` are, on a drawing `OVERSAMPLING` times
    [height, width] of `size`, `beyond` outside it; `shown` makes the picture of that size of it."""
    k = scale * OVERSAMPLING
    # Pixel centers lie at half integers in our coordinates and at integers in OpenCV's.
    shift = [OVERSAMPLING * o + k / 2 - 0.5 for o in offset]
    return cv2.warpAffine(
        picture,
        np.array([[k, 0, shift[0]], [0, k, shift[1]]]),
        (size[1] * OVERSAMPLING, size[0] * OVERSAMPLING),
        flags=cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,  # up to 8 times as quick as going on with the edge
        borderValue=beyond,
    )


def shown(drawing: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A drawing `OVERSAMPLING` times smaller, by areas."""
    size = [side // OVERSAMPLING for side in drawing.shape[::-1]]
    return np.asarray(cv2.resize(drawing, size, interpolation=cv2.INTER_AREA), np.uint8)
