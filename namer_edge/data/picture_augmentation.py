"""Augmentation of pictures: prepared as on a device, with the linear part of ink augmentation.

Lines are found in the picture and drawn again at the augmented size, so that the pen width stays
real. Augmentation that bends or moves single symbols needs strokes and does not apply.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.preprocessing import Prepared, Preprocessing, opencv_affine, padded_size

from .augment import Augmentation, linear_map, room_for
from .formula import Formula


@dataclass(frozen=True)
class Shown:
    """An augmented picture at the size of its batch."""

    image: NDArray[np.uint8]
    """[H, W] or [H, W, 3] of the batch."""
    size: tuple[int, int]
    """The picture's own height and width."""
    positions: NDArray[np.float64]
    """[V, 2] (x, y) of the visual nodes in it."""


@dataclass(frozen=True)
class PlacedPicture:
    """A picture whose augmented size is known; it is opened by `shown`."""

    formula: Formula
    extent: NDArray[np.float64]
    """[2] width and height of its ink in pixels of the model's input."""
    matrix: NDArray[np.float64] | None
    """[2, 2] picture → model's input; None if augmentation is off."""
    pen_width: float

    def size(self, preprocessing: Preprocessing) -> tuple[int, int]:
        """Padded height and width (pixels), margin included."""
        width, height = np.ceil(self.extent - 1e-6).astype(int) + 2 * preprocessing.margin
        return padded_size(int(height), int(width))

    def shown(
        self,
        preprocessing: Preprocessing,
        batch: tuple[int, int],
        size: tuple[int, int],
        share: NDArray[np.float64],
    ) -> Shown:
        """The picture in a batch of height and width `batch`, padded to `size`; `share` [2] of the
        free space lies before the ink. Raises `PictureError` if it cannot be opened."""
        if self.matrix is None:
            plain = self._as_on_the_device(preprocessing, batch)
            if plain is not None:
                return plain
        picture = self.formula.picture
        assert picture is not None
        matrix = np.eye(2) * picture.scale(preprocessing) if self.matrix is None else self.matrix
        zoom = float(np.sqrt(np.linalg.det(matrix)))
        drawn = replace(
            preprocessing, symbol_height=picture.symbol * zoom, pen_width=self.pen_width
        )
        prepared = prepare_input(self.formula.source, drawn)
        x0, y0, x1, y1 = picture.box
        middle = np.array([x0 + x1, y0 + y1]) / 2
        room = np.array([size[1], size[0]]) - 2 * preprocessing.margin - self.extent
        target = preprocessing.margin + np.maximum(room, 0) * share + self.extent / 2
        # Prepared input → picture → target.
        onwards = matrix / prepared.scale
        shift = target - onwards @ prepared.from_input(middle)
        image = cv2.warpAffine(
            _seen(prepared),
            opencv_affine(onwards, shift),
            (batch[1], batch[0]),
            flags=cv2.INTER_LINEAR,
        )
        positions = (self.formula.positions - middle) @ matrix.T + target
        return Shown(np.asarray(image, np.uint8), size, positions)

    def _as_on_the_device(
        self, preprocessing: Preprocessing, batch: tuple[int, int]
    ) -> Shown | None:
        """The picture as the runtime prepares it; None if it is larger than measured."""
        prepared = prepare_input(self.formula.source, preprocessing)
        height, width = prepared.image.shape
        if height > batch[0] or width > batch[1]:
            return None
        seen = _seen(prepared)
        image = np.zeros((*batch, *seen.shape[2:]), np.uint8)
        image[:height, :width] = seen
        return Shown(image, (height, width), prepared.from_input(self.formula.positions))


def place_picture(
    formula: Formula,
    preprocessing: Preprocessing,
    augmentation: Augmentation,
    rng: np.random.Generator,
) -> PlacedPicture:
    """Draws the augmentation of a formula's picture, which determines its size."""
    picture = formula.picture
    assert picture is not None
    x0, y0, x1, y1 = picture.box
    scale = picture.scale(preprocessing)
    box = np.array([x1 - x0, y1 - y0])
    if augmentation.off:
        return PlacedPicture(formula, box * scale, None, preprocessing.pen_width)
    matrix = linear_map(augmentation, rng).astype(np.float64) * scale
    pen = preprocessing.pen_width * float(np.exp(rng.uniform(-1, 1) * augmentation.pen))
    extent = np.maximum(np.abs(matrix) @ box, 1.0)
    shrink = min(1.0, float((room_for(preprocessing) / extent).min()))
    return PlacedPicture(formula, extent * shrink, matrix * shrink, pen)


def _seen(prepared: Prepared) -> NDArray[np.uint8]:
    return prepared.image if prepared.color is None else prepared.color
