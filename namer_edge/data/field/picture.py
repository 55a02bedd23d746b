"""A formula as a picture that somebody hands in, under a field condition."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.ink.strokes import Strokes

from . import camera, pens, sheet
from .paper import Paper, Ruling, develop
from .ranges import Half, drawn

LARGEST = 800_000
"""Pixels that the writing covers at most, with a symbol's height round it."""

WRITTEN: dict[str, type] = {
    "erased": pens.Erased,
    "second_pen": pens.SecondPen,
    "underline": pens.Underline,
    "frame": pens.Frame,
    "crossed_out": pens.CrossedOut,
    "far_writing": pens.FarWriting,
    "highlighter": pens.Highlighter,
    "show_through": pens.ShowThrough,
}
"""Ingredients that write round the formula, in order."""
PHOTOGRAPHED: dict[str, type] = {
    "crease": sheet.Crease,
    "stain": sheet.Stain,
    "holes": sheet.Holes,
    "printed_text": sheet.PrintedText,
    "thing": sheet.Thing,
    "thumb": sheet.Thumb,
    "desk": sheet.Desk,
    "view": camera.View,
    "slope": camera.Slope,
    "shadow": camera.Shadow,
    "glare": camera.Glare,
    "vignette": camera.Vignette,
    "cast": camera.Cast,
    "border": sheet.Border,
    "screen": camera.Screen,
    "blur": camera.Blur,
    "noise": camera.Noise,
}
"""Ingredients that turn the page into a picture, in order."""
ROOMY = ("holes", "printed_text", "thing", "thumb")
"""Ingredients that need room on the page."""
INGREDIENTS: dict[str, type] = {
    "pen": pens.Pen,
    "paper": Paper,
    "ruling": Ruling,
    **WRITTEN,
    **PHOTOGRAPHED,
    "jpeg": camera.Jpeg,
}
"""The tables of a picture's condition in `conditions.toml`."""


@dataclass(frozen=True)
class FieldPicture:
    """A picture and where it shows the ink."""

    pixels: NDArray[np.uint8]
    """[H, W, 3] RGB."""
    quality: int
    """Quality of JPEG; 100 is PNG."""
    map: NDArray[np.float64]
    """[3, 3] homogeneous, from the ink's coordinates to the picture's."""

    @property
    def file(self) -> bytes:
        """The picture as PNG or JPEG."""
        bgr = cv2.cvtColor(self.pixels, cv2.COLOR_RGB2BGR)
        if self.quality >= 100:
            return bytes(cv2.imencode(".png", bgr)[1])
        return bytes(cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, self.quality])[1])

    def moved(self, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """Points [N, 2] of the ink where the picture shows them."""
        whole = np.column_stack([points, np.ones(len(points))]) @ self.map.T
        return whole[:, :2] / whole[:, 2:]


def field_picture(
    strokes: Strokes,
    ranges: Mapping[str, Mapping[str, Any]],
    half: Half,
    rng: np.random.Generator,
    largest: float = LARGEST,
) -> FieldPicture:
    """Strokes in any unit as a picture under the condition that `ranges` describe, by the names of
    `INGREDIENTS`."""
    parts: dict[str, Any] = {
        name: drawn(kind, ranges[name], half, rng)
        for name, kind in INGREDIENTS.items()
        if name in ranges
    }
    pen: pens.Pen = parts.get("pen") or pens.Pen()
    page = pen.writing(strokes, largest)
    for name in WRITTEN:
        if name in parts:
            parts[name].write(page, rng)
    paper: Paper = parts.get("paper") or Paper()
    room = np.sum([np.zeros(4), *(parts[n].room(page.symbol) for n in ROOMY if n in parts)], axis=0)
    spare = (0, 0)
    if "view" in parts and "desk" not in parts:  # beyond a sheet on a desk the desk goes on
        x0, y0, x1, y1 = page.bounds
        sides = room + page.symbol * np.array([paper.left, paper.top, paper.right, paper.below])
        spare = parts["view"].spare(np.array([x1 - x0, y1 - y0]) + sides[:2] + sides[2:])
    shot = develop(page, paper, parts.get("ruling"), room + spare * 2, rng)
    shot.spare = spare
    for name in PHOTOGRAPHED:
        if name in parts:
            parts[name](shot, rng)
    jpeg: camera.Jpeg = parts.get("jpeg") or camera.Jpeg(100)
    pixels = np.clip(np.rint(shot.pixels), 0, 255).astype(np.uint8)
    return FieldPicture(pixels, jpeg.quality, shot.map @ page.map)
