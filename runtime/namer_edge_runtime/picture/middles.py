"""The middles of drawn lines: where a pen went, however thick it was."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from .blobs import connected
from .pen import measured_width

AROUND = 0.5
"""Deviation in pens of the mean round a pixel, whose difference from it counts twice where ink is
`crowded`."""
CREST = 0.6
"""A pixel lies on the middle of a line where no neighbour is this much further from the edge."""
SMOOTH = 1.0
"""Deviation in pixels of the blur that takes the steps of pixels out of edges, less for fine
pens."""
STEADY = 1.5
"""The same for the distance from the middles, which takes the tremor out of them."""
DOT = 1.6
"""Pieces of ink smaller than this many pens both ways are dots."""
DOT_RADIUS = 0.75
"""Half-width of a drawn dot in pens: the renderer's."""
OVERSAMPLING = 2


@dataclass(frozen=True)
class Middles:
    """Where the pen went in an ink map, and how large what it wrote is; lengths in its pixels."""

    distance: NDArray[np.float32]
    """[H, W] to the nearest middle."""
    dots: NDArray[np.float32]
    """[n, 2] (x, y) middles of dots."""
    bounds: tuple[float, float, float, float]
    """x0, y0, x1, y1 round all middles."""
    sizes: NDArray[np.float64]
    """[pieces, 2] width and height of the connected pieces, from middle to middle."""

    @classmethod
    def of(cls, ink: NDArray[np.uint8], pen: float, level: int, crowded: bool = False) -> "Middles":
        """Of an ink map [H, W] with some blank pixels round its ink, written with a pen of about
        `pen` pixels. What is above `level` is ink; of fainter ink, its darker half. In `crowded`
        ink loops and gaps that are hardly wider than the pen are opened first."""
        if crowded:
            around = cv2.GaussianBlur(ink, (0, 0), max(0.5, AROUND * pen))
            ink = np.asarray(cv2.addWeighted(ink, 2, around, -1, 0), np.uint8)
        soft = cv2.GaussianBlur(ink, (0, 0), max(0.3, min(SMOOTH, pen / 4)))
        _, mask = cv2.threshold(soft, min(level, int(soft.max()) // 2), 1, cv2.THRESH_BINARY)
        depth = cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_5)
        depth = cv2.GaussianBlur(depth, (0, 0), SMOOTH)
        highest = cv2.dilate(depth, np.ones((3, 3), np.uint8))
        crest = cv2.compare(np.add(depth, np.float32(CREST)), highest, cv2.CMP_GT)
        crest = cv2.bitwise_and(crest, crest, mask=mask)
        x0, y0, across, along = cv2.boundingRect(crest)
        labels, stats, centres = connected(np.asarray(mask, np.uint8))
        count = len(stats) - 1
        full = np.full(mask.shape, 255, np.uint8)
        width = measured_width(full, mask > 0, count)
        # Middles of lines an even number of pixels wide are two pixels wide themselves.
        thick = max(1.0, measured_width(full, crest > 0, count))
        sizes = stats[1:, 2:4].astype(np.float64)
        small = 1 + np.flatnonzero(sizes.max(1) < DOT * width)
        for number in small:
            x, y, w, h = stats[number, :4]
            box = slice(y, y + h), slice(x, x + w)
            crest[box][labels[box] == number] = 0
        away = cv2.distanceTransform(cv2.bitwise_not(crest), cv2.DIST_L2, cv2.DIST_MASK_5)
        # Where there are only dots, no line is anywhere, and that is too far to reckon with.
        away = np.minimum(away, np.float32(sum(mask.shape)))
        return cls(
            np.asarray(cv2.GaussianBlur(away, (0, 0), STEADY) + (thick - 1) / 2, np.float32),
            centres[small].astype(np.float32) + 0.5,
            (float(x0), float(y0), float(x0 + across), float(y0 + along)),
            np.maximum(sizes - width, 0),
        )

    def drawn(
        self, scale: float, offset: tuple[float, float], size: tuple[int, int], pen: float
    ) -> NDArray[np.uint8]:
        """The same lines with another pen: 255 on 0, [height, width] of `size`, whose pixels are
        ours · `scale` + `offset`; `pen` is in its pixels."""
        k = scale * OVERSAMPLING
        height, width = (side * OVERSAMPLING for side in size)
        # Pixel centres lie at half integers in our coordinates and at integers in OpenCV's.
        shift = [OVERSAMPLING * o + k / 2 - 0.5 for o in offset]
        away = cv2.warpAffine(
            self.distance,
            np.array([[k, 0, shift[0]], [0, k, shift[1]]]),
            (width, height),
            flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )
        pen *= OVERSAMPLING
        cover = np.clip(255 * (pen / 2 + 0.5 - away * k), 0, 255).astype(np.uint8)
        for x, y in self.dots * k + shift:
            centre = round(float(x - k / 2) * 16), round(float(y - k / 2) * 16)
            cv2.circle(cover, centre, round(DOT_RADIUS * pen * 16), 255, -1, cv2.LINE_AA, 4)
        return np.asarray(cv2.resize(cover, size[::-1], interpolation=cv2.INTER_AREA), np.uint8)
