"""An enlarged picture to draw on: colored cells, words and arrows at cells."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.picture.overlay import FADED, FONT, FONT_HEIGHT
from namer_edge_runtime.preprocessing import CELL

Color = tuple[int, int, int]
"""RGB."""
Point = tuple[int, int]
"""(x, y) in pixels of the canvas."""
WIDE, HIGH, LARGEST = 1400, 800, 6
"""Largest width and height in pixels of an enlarged picture, and largest factor."""
BORDER = 5
"""Blank cells on the left and right, for <sos> and <eos>."""


@dataclass(frozen=True)
class Canvas:
    """An RGB picture, changed in place, with positions of the cells of the H/8 grid."""

    pixels: NDArray[np.uint8]
    """[H, W, 3]."""
    cell: int
    """Pixels per cell."""

    @classmethod
    def of(cls, image: NDArray[np.uint8]) -> "Canvas":
        """The model's input [H, W] (ink 255 on 0) as faded dark ink on white, enlarged."""
        height, width = image.shape
        times = max(1, min(LARGEST, WIDE // width, HIGH // height))
        large = image.repeat(times, 0).repeat(times, 1)
        gray = (255 - large * FADED).astype(np.uint8)
        border = BORDER * CELL * times
        gray = np.pad(gray, ((0, 0), (border, border)), constant_values=255)
        return cls(np.repeat(gray[:, :, None], 3, axis=2), CELL * times)

    @property
    def letters(self) -> float:
        """Height of letters in pixels."""
        return max(9.0, 0.5 * self.cell)

    def place(self, row: float, column: float) -> Point:
        """The center of a cell."""
        return (
            round((column + BORDER + 0.5) * self.cell),
            round((row + 0.5) * self.cell),
        )

    def heat(self, amounts: NDArray[np.floating], color: Color) -> None:
        """Tints the cells of a grid [h, w] (H/8 or another) by amounts 0 … 1."""
        border = BORDER * self.cell
        inside = self.pixels[:, border : self.pixels.shape[1] - border]
        size = (inside.shape[1], inside.shape[0])
        # Nearest: cells of the network are not interpolated.
        share = np.asarray(
            cv2.resize(amounts.astype(np.float32), size, interpolation=cv2.INTER_NEAREST)
        )[:, :, None]
        inside[:] = np.round(inside * (1 - 0.7 * share) + np.array(color) * 0.7 * share)

    def word(self, text: str, at: Point, color: Color, size: float | None = None) -> None:
        """Draws `text` with its lower left corner at a point, on a light background."""
        height = self.letters if size is None else size
        scale, thick = height / FONT_HEIGHT, max(1, round(height / 11))
        (width, high), _ = cv2.getTextSize(text, FONT, scale, thick)
        x = int(np.clip(at[0], 0, max(0, self.pixels.shape[1] - width)))
        y = int(np.clip(at[1], high + 1, self.pixels.shape[0] - 2))
        ground = self.pixels[max(0, y - high - 1) : y + 2, x : x + width]
        ground[:] = np.round(255 - (255 - ground.astype(np.float64)) * 0.35)
        cv2.putText(self.pixels, text, (x, y), FONT, scale, color, thick, cv2.LINE_AA)

    def dot(self, at: Point, color: Color) -> None:
        cv2.circle(self.pixels, at, max(2, self.cell // 8), color, -1, cv2.LINE_AA)

    def strike(self, at: Point, color: Color) -> None:
        """Draws a cross over a point."""
        arm, thick = self.cell // 3, max(1, self.cell // 16)
        for slope in (-1, 1):
            start, end = (at[0] - arm, at[1] - slope * arm), (at[0] + arm, at[1] + slope * arm)
            cv2.line(self.pixels, start, end, color, thick, cv2.LINE_AA)

    def arrow(self, start: Point, end: Point, color: Color, thick: int) -> None:
        length = max(1.0, float(np.hypot(*np.subtract(end, start))))
        tip = min(0.3, 0.35 * self.cell / length)
        cv2.arrowedLine(self.pixels, start, end, color, thick, cv2.LINE_AA, 0, tip)
