"""Preprocessing constants of a model: symbol height, pen width, margins and padding.

Ink is bright (255) on a background of 0. Training and recognition use the same `Preprocessing`,
which the model file carries.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bounded import bounded, check_numbers, from_json
from .errors import ModelFileError

STROKE_PLANES = 4
"""Input planes that show how ink was written; `ink.planes` paints them."""
CELL = 8
"""Pixels of the model's input for one cell of the VAT map (F8)."""
STRIDE = 16
"""The coarsest feature map (F16) has one cell for 16 × 16 pixels: padded sizes divide by it."""


@dataclass(frozen=True)
class Preprocessing:
    """Preprocessing constants of a model, all lengths in pixels of the model's input."""

    symbol_height: float = bounded(20.0, 4, 512)
    """Height that a typical symbol is scaled to."""
    pen_width: float = bounded(2.0, 0.1, 64)
    """Width of a drawn stroke."""
    margin: int = bounded(8, 0, 64)
    """Blank pixels kept on each side of the ink."""
    max_height: int = bounded(512, 160, 2048)
    max_width: int = bounded(2048, 160, 8192)
    """Larger inputs are scaled down to fit, which bounds memory."""
    channels: int = bounded(1, 1, 3)
    """3 where pictures are read in color; ink is the same in all of them."""
    stroke_planes: bool = False
    """Whether the model also reads how pen strokes were written; pictures have zeros there."""

    def __post_init__(self) -> None:
        """Raises `UsageError` for what is no number from 0 on."""
        check_numbers(self)

    @property
    def inputs(self) -> int:
        """Number of planes that the model reads."""
        return self.channels + STROKE_PLANES * self.stroke_planes

    def to_json(self) -> dict[str, Any]:
        """The fields; `stroke_planes` only where true, so that older versions read the others."""
        value = asdict(self)
        if not self.stroke_planes:
            del value["stroke_planes"]
        return value

    @classmethod
    def from_json(cls, value: Any) -> "Preprocessing":
        """Preprocessing from its JSON object, which a model file holds under `look`.

        Raises `ModelFileError`, with the field's name in the file, for unknown keys and values out
        of bounds.
        """
        preprocessing = from_json(cls, value, "look")
        if preprocessing.channels == 2:
            raise ModelFileError("look.channels is 2: must be 1 or 3")
        if preprocessing.stroke_planes and preprocessing.channels != 1:
            raise ModelFileError(
                "look.stroke_planes is true beside three channels: one or the other"
            )
        return preprocessing


def padded_length(length: int) -> int:
    """The next length (pixels) of the size ladder: steps of 16, 32 from 128, 64 from 512 on.

    Few sizes keep engines that compile for each shape quick, and give batches without padding of
    their own: a picture gets the same padding alone and in a batch, hence the same answer.
    """
    step = STRIDE if length <= 128 else 2 * STRIDE if length <= 512 else 4 * STRIDE
    return max(2 * STRIDE, -(-length // step) * step)


def padded_size(height: int, width: int) -> tuple[int, int]:
    """Height and width (pixels) that a picture of this size is padded to."""
    return padded_length(height), padded_length(width)


@dataclass(frozen=True)
class Prepared:
    """The input of a model, and the map from the coordinates of what it was made of."""

    image: NDArray[np.uint8]
    """[H, W], ink 255 on 0, padded to `padded_size`."""
    scale: float
    """Model pixels for one unit of the input."""
    offset: tuple[float, float]
    """Model pixels (x, y) of the input's origin: model = R(turn) · mirror · input · scale +
    offset."""
    blank: bool = False
    """Whether there is no ink, so that nothing can be recognized."""
    color: NDArray[np.uint8] | None = None
    """[H, W, 3] the same picture in color, for a model of three channels."""
    turn: float = 0.0
    """Angle in radians by which the input was turned about its origin, from x towards y."""
    mirror: tuple[float, float] = (1.0, 1.0)
    """Factors, 1 or -1, by which x and y of the input were multiplied before."""
    strokes: NDArray[np.uint8] | None = None
    """[STROKE_PLANES, H, W] of `ink.planes`, for a model that reads them."""
    notes: tuple[str, ...] = ()
    """Parts of the picture that were left out, one sentence each."""

    def planes(self, inputs: int) -> NDArray[np.uint8]:
        """The input planes [inputs, H, W] of a model that reads so many."""
        return planes(self.image if self.color is None else self.color, inputs, self.strokes)

    def to_input(self, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """Model pixels [N, 2] (x, y) → coordinates of the input."""
        level = turned((np.asarray(points, np.float64) - self.offset) / self.scale, -self.turn)
        return level * self.mirror

    def from_input(self, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """Coordinates of the input [N, 2] (x, y) → model pixels."""
        upright = np.asarray(points, np.float64) * self.mirror
        return turned(upright, self.turn) * self.scale + self.offset


def planes(
    image: NDArray[np.uint8], inputs: int, strokes: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """Input planes [inputs, H, W] of a model, from an image [H, W] or [H, W, 3].

    One or three planes hold the picture, gray in each alike; with `1 + STROKE_PLANES` of them the
    `strokes` [STROKE_PLANES, H, W] follow it, zeros for None.
    """
    if inputs == 1 + STROKE_PLANES:
        if strokes is None:
            strokes = np.zeros((STROKE_PLANES, *image.shape), np.uint8)
        return np.concatenate([image[None], strokes])
    if image.ndim == 3:
        return np.ascontiguousarray(image.transpose(2, 0, 1))
    return np.ascontiguousarray(np.broadcast_to(image, (inputs, *image.shape)))


def turned(points: NDArray[np.floating], angle: float) -> NDArray[np.float64]:
    """Points [N, 2] (x, y) turned about the origin by `angle` radians, from x towards y."""
    return np.asarray(points, np.float64) @ turning(angle).T


def turning(angle: float) -> NDArray[np.float64]:
    """The matrix [2, 2] that turns (x, y) by `angle` radians, from x towards y."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])


def opencv_affine(matrix: NDArray[np.floating], shift: NDArray[np.floating]) -> NDArray[np.float64]:
    """The matrix [2, 3] with which `cv2.warpAffine` maps (x, y) to `matrix` · (x, y) + `shift`.

    Pixel centers lie at half integers in coordinates of this package, at integers in OpenCV's.
    """
    return np.column_stack([matrix, matrix @ (0.5, 0.5) + shift - 0.5])
