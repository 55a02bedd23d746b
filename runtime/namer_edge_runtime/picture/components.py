"""Connected components of the ink in a picture, and removal of those that are dirt."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..ink.strokes import typical_height
from .stroke_width import measured_width

THICK = 2.4
"""Components at the picture's edge this many times as thick as the pen are the edge of the paper,
a finger or a shadow."""
BEADED, STRIP, NARROW, PART = 1.5, 0.2, 0.1, 0.5
"""Of a row of holes that run together, as of a spiral: least thickness in pens, share of the
picture beside its edge in which it lies, greatest width and least length as shares of the edge."""

FINE, LINE = 2.0, 10
"""Pixels: pens below this width are fine where a component is longer than the second."""

SOFT = 3
"""Pixels round a component that hold its soft edges."""


@dataclass(frozen=True)
class ConnectedComponents:
    """An ink map with the components that are kept."""

    image: NDArray[np.uint8]
    """[H, W], 255 ink, 0 background, dropped components included."""
    labels: NDArray[np.integer]
    """[H, W] number of the component at each pixel, 0 for the background."""
    stats: NDArray[np.int32]
    """[components + 1, 5] x, y, width, height and area of each number."""
    numbers: NDArray[np.intp]
    """Numbers of the kept components."""
    level: int
    """Level that the pixels of components exceed."""

    @classmethod
    def of(cls, image: NDArray[np.uint8], level: int) -> "ConnectedComponents":
        """Finds all components of the pixels above `level`."""
        _, mask = cv2.threshold(image, level, 1, cv2.THRESH_BINARY)
        labels, stats, _ = connected(np.asarray(mask, np.uint8))
        return cls(image, labels, stats, np.arange(1, len(stats)), level)

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """[H, W] whether a pixel belongs to a kept component."""
        if len(self) == len(self.stats) - 1:
            return self.labels > 0
        counts = np.zeros(len(self.stats), np.bool_)
        counts[self.numbers] = True
        return counts[self.labels]

    @cached_property
    def pen(self) -> float:
        """Mean stroke width in pixels; 0 without components."""
        return measured_width(self.image, self.mask, len(self)) if len(self) else 0.0

    @cached_property
    def height(self) -> float:
        """Height of a typical symbol; 0 without components."""
        return typical_height(self.sizes)

    @property
    def sizes(self) -> NDArray[np.float64]:
        """[components, 2] width and height of each kept component."""
        return self.stats[self.numbers, 2:4].astype(np.float64)

    @property
    def boxes(self) -> NDArray[np.float64]:
        """[components, 4] x0, y0, x1, y1 of each kept component, the last two exclusive."""
        low = self.stats[self.numbers, :2].astype(np.float64)
        return np.concatenate([low, low + self.sizes], axis=1)

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """x0, y0, x1, y1 of the box round them all, the last two exclusive."""
        corner, size = self.stats[self.numbers, :2], self.stats[self.numbers, 2:4]
        (x0, y0), (x1, y1) = corner.min(0), (corner + size).max(0)
        return int(x0), int(y0), int(x1), int(y1)

    def without_specks(self, share: float) -> "ConnectedComponents":
        """The components without those smaller in both directions than this share of the pen width.

        Single pixels are dropped too, unless the pen is so fine that they may be dots.
        """
        sides = self.sizes.max(1, initial=0)
        fine = self.pen < FINE and sides.max(initial=0) > LINE
        single = self.stats[self.numbers, 4] == 1
        return self.only((sides >= share * self.pen) & (~single | fine))

    def without_strays(self, small: float, far: float) -> "ConnectedComponents":
        """The components without stray dots, which are grains of the paper.

        Those are below `small` pixels in both directions, and further than `far` pixels in x or y
        from every larger component.
        """
        dots = self.sizes.max(1, initial=0) < small
        if not dots.any() or dots.all():
            return self
        boxes, kept = self.boxes, ~dots
        kept[dots] = gaps(boxes[dots], boxes[~dots]).min(1) <= far
        return self.only(kept)

    def edges_of_paper(self) -> NDArray[np.bool_] | None:
        """The mask [H, W] of components that touch the picture's edge and are `THICK`, dilated by
        the pen width; None where there are none."""
        height, width = self.image.shape
        x, y, w, h = self.stats[self.numbers, :4].T
        touching = (x == 0) | (y == 0) | (x + w == width) | (y + h == height)
        beside = (x + w < STRIP * width) | (x > (1 - STRIP) * width)
        above = (y + h < STRIP * height) | (y > (1 - STRIP) * height)
        row = beside & (h > PART * height) & (w < NARROW * height)
        row |= above & (w > PART * width) & (h < NARROW * width)
        touching |= row
        if not touching.any():
            return None
        elsewhere = self.only(~touching).without_specks(1.0)
        if not len(elsewhere):
            return None
        pen = elsewhere.pen
        inside = cv2.distanceTransform(self.mask.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_3)
        widest = np.zeros(len(self.stats), np.float32)
        edge = np.isin(self.labels, self.numbers[touching])
        np.maximum.at(widest, self.labels[edge], inside[edge])
        thick = touching & (2 * widest[self.numbers] > np.where(row, BEADED, THICK) * pen)
        if not thick.any():
            return None
        dirt = np.isin(self.labels, self.numbers[thick]).astype(np.uint8)
        round_it = 2 * int(np.ceil(pen)) + 1
        return np.asarray(cv2.dilate(dirt, np.ones((round_it, round_it), np.uint8))) > 0

    def of_image(self, image: NDArray[np.uint8]) -> "ConnectedComponents":
        """The components of what is left of them in an image [H, W]."""
        return ConnectedComponents.of(np.where(self.mask, image, np.uint8(0)), self.level)

    def only(self, kept: NDArray[np.bool_]) -> "ConnectedComponents":
        """Keeps the components for which `kept` [components] is true."""
        if kept.all():
            return self
        return replace(self, numbers=self.numbers[kept])

    @property
    def alone(self) -> NDArray[np.uint8]:
        """The ink map with nothing but the kept components and their soft edges."""
        round_it = np.ones((2 * SOFT + 1, 2 * SOFT + 1), np.uint8)
        near = cv2.dilate(self.mask.view(np.uint8), round_it)
        return np.where(near > 0, self.image, np.uint8(0))


def gaps(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """[n, m] how far boxes [n, 4] are from boxes [m, 4] in x or y, whichever is further; negative
    where they overlap."""
    low, high = one[:, None, :2] - other[:, 2:], other[:, :2] - one[:, None, 2:]
    return np.asarray(np.maximum(low, high).max(2))


def usual_side(stats: NDArray[np.int32]) -> float:
    """The longest side up to which half of the ink lies; of components [n, 5], as in `stats`."""
    sides = stats[:, 2:4].max(1)
    order = np.argsort(sides)
    ink = np.cumsum(stats[order, 4])
    return float(sides[order][np.searchsorted(ink, ink[-1] / 2)]) if len(ink) else 0.0


def connected(
    mask: NDArray[np.uint8],
) -> tuple[NDArray[np.integer], NDArray[np.int32], NDArray[np.float64]]:
    """Labels [H, W], stats [components + 1, 5] and centers [components + 1, 2] of a mask [H, W].

    Labels and stats are those of `ConnectedComponents`.
    """
    try:  # twice as quick as with numbers of 32 bits
        _, labels, stats, centers = _numbered(mask, cv2.CV_16U)
    except cv2.error:  # more components than 16 bits can count
        _, labels, stats, centers = _numbered(mask, cv2.CV_32S)
    return labels, stats, centers


def _numbered(mask: NDArray[np.uint8], kind: int) -> Any:
    return cv2.connectedComponentsWithStatsWithAlgorithm(mask, 8, kind, cv2.CCL_DEFAULT)
