"""Scan augmentation: ink drawn as a scan of random size and pen, and prepared as on a device."""

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.ink.render import draw
from namer_edge_runtime.ink.strokes import Strokes
from namer_edge_runtime.picture.prepare import Lines, drawn_width
from namer_edge_runtime.preprocessing import Preprocessing

SYMBOLS = (13.0, 130.0)
"""Least and largest height in pixels of a typical symbol in a scan; half are under 24."""
PENS = (0.015, 0.13)
"""Least and largest pen width as a share of that height, at least a pixel; half are over 0.075."""
MOST_PIXELS = 500_000
"""Most pixels of a scan, which bounds the time."""
BLUR = 0.05
"""Largest deviation of the blur as a share of a symbol's height."""
GRAIN = 6.0
"""Largest deviation of the grain, of 255."""


def scanned(
    strokes: Strokes,
    size: tuple[int, int],
    pen_width: float,
    preprocessing: Preprocessing,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Strokes in pixels of the model's input → the input [height, width] of `size`, 255 on 0, with
    the artifacts of lines found in a picture.

    Strokes keep their position and size, whatever size the runtime would measure.
    """
    largest = np.sqrt(MOST_PIXELS / (size[0] * size[1]))
    symbol = _skewed(SYMBOLS[0], SYMBOLS[1], rng)
    zoom = float(min(symbol / preprocessing.symbol_height, largest))
    symbol = zoom * preprocessing.symbol_height
    pen = max(1.0, symbol * _skewed(PENS[1], PENS[0], rng))
    height, width = (int(np.ceil(side * zoom)) for side in size)
    ink = draw([stroke * np.float32(zoom) for stroke in strokes], (height, width), pen)
    lines = Lines.find(_on_paper(ink, symbol, rng), preprocessing)
    if lines is None:  # too faint to be found
        return draw(strokes, size, pen_width)
    corner = lines.corner[0] / zoom, lines.corner[1] / zoom
    drawn = drawn_width(round(pen_width, 1))
    return lines.drawn(1 / (lines.fine * zoom), corner, size, drawn)


def _skewed(often: float, rarely: float, rng: np.random.Generator) -> float:
    """A number between the two, half of the time within a quarter of the way (on the logarithm)
    from `often`: small symbols and thick pens are misread most and need most training."""
    return float(often * (rarely / often) ** rng.random() ** 2)


def _on_paper(ink: NDArray[np.uint8], symbol: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """A gray picture of the ink with random background, contrast, blur and grain."""
    blur = float(rng.uniform(0, BLUR) * symbol)
    if blur > 0.3:
        ink = np.asarray(cv2.GaussianBlur(ink, (0, 0), blur), np.uint8)
    ground, contrast = rng.uniform(180, 255), rng.uniform(0.5, 1.0)
    gray = ground * (1 - contrast / 255 * ink.astype(np.float32))
    if rng.random() < 0.5:
        gray += rng.normal(0, rng.uniform(0, GRAIN), ink.shape).astype(np.float32)
    return np.clip(gray, 0, 255).astype(np.uint8)
