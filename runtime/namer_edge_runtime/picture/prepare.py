"""Grey picture → what the model reads: its ink, symbol height, pen and padding."""

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from ..ink.render import draw
from ..ink.strokes import DOT, typical_height
from .blobs import Blobs
from .ground import ink_map, stretched
from .look import Look, Prepared, padded_size
from .pen import measured_width, redraw

MOST_PIXELS = 6_000_000
"""Larger pictures are scaled down to this first, which bounds time."""
INK = 100
"""Level of the ink map, of 255, from which a pixel counts as ink when blobs are measured."""
SPECK = 0.6
"""Blobs smaller in both directions than this share of the pen's width are dirt."""
MOST_CLEANINGS = 3
"""Times that edges of the paper are looked for; faint ones show when stronger ones are gone."""
STRAY = 2.0
"""Dots this many symbol heights away from all other ink are dirt too."""
SAME_PEN = 0.12
"""Relative difference of pen widths that is left as it is."""
FINEST, COARSEST = 3.0, 2.0
"""The pen is changed at a resolution of two to three times the model's."""
LEAST_LINE = 1.5
"""Width in pixels that the finest line keeps there, so that it does not break."""


@dataclass(frozen=True)
class _Ink:
    """The cleaned ink, cut out of the picture."""

    image: NDArray[np.uint8]
    corner: tuple[int, int]
    """x, y of the cut-out's first pixel."""
    symbol: float
    """Height in pixels of a typical symbol, from the middle of its lines."""
    pen: float


def prepare(grey: NDArray[np.uint8], look: Look) -> Prepared:
    """A grey picture [H, W] in the look of a model; positions lead back to the picture's pixels.

    1. Very large pictures are scaled down.
    2. Ink is told from ground (`ground.py`); a page without ink gives `blank`.
    3. Dirt is dropped (`blobs.py`): edges of the paper, specks much smaller than the pen is wide,
       dots far from everything else.
    4. A typical symbol's height is taken from the blobs, as from strokes in `ink/strokes.py`, and
       scaled to `look.symbol_height`, or less where the formula would pass the size limits.
    5. The pen is brought to `look.pen_width` (`pen.py`).
    6. The ink is set in the middle of its `padded_size`.
    """
    factor = min(1.0, (MOST_PIXELS / grey.size) ** 0.5)
    if factor < 1:
        size = [max(1, round(length * factor)) for length in grey.shape]
        grey = np.asarray(cv2.resize(grey, size[::-1], interpolation=cv2.INTER_AREA), np.uint8)
    found = ink_map(grey)
    ink = None if found is None else _measured(found.image)
    if ink is None:
        return blank_page()
    scale = _scale(ink, look)
    height, width = (max(0.0, side - ink.pen) * scale for side in ink.image.shape)
    room = 2 * look.margin
    image = np.zeros(padded_size(int(np.ceil(height)) + room, int(np.ceil(width)) + room), np.uint8)
    edge = int(np.ceil((look.pen_width + 2) / scale))
    drawn = _drawn(np.pad(ink.image, edge), scale, ink.pen, drawn_width(look.pen_width))
    top, left = ((a - b) // 2 for a, b in zip(image.shape, drawn.shape, strict=True))
    _paste(image, drawn, top, left)
    x, y = ink.corner
    offset = left - (x - edge) * scale, top - (y - edge) * scale
    return Prepared(image, scale * factor, offset)


def blank_page() -> Prepared:
    """What is made of a picture without ink."""
    return Prepared(np.zeros(padded_size(1, 1), np.uint8), 1.0, (0.0, 0.0), blank=True)


@lru_cache
def drawn_width(pen_width: float) -> float:
    """Width, as measured on pictures, of what the renderer draws with a pen of `pen_width`.

    Anti-aliased lines come out wider than asked for, so training pictures are the yardstick.
    """
    angles = np.linspace(0, 2 * np.pi, 33)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1) * 40 + 64
    image = draw([circle.astype(np.float32)], (128, 128), pen_width)
    return measured_width(image, image > INK, 1)


def _measured(image: NDArray[np.uint8]) -> _Ink | None:
    """Drops dirt, cuts the ink out and measures it; None where nothing is left."""
    clean = Blobs.of(image, INK)
    for _ in range(MOST_CLEANINGS):
        dirt = clean.edges_of_paper()
        if dirt is None:
            break
        # Dark edges set the level that ink was measured by; without them faint ink shows.
        again = stretched(np.where(dirt, np.uint8(0), clean.image))
        if again is None:
            return None
        clean = Blobs.of(again, INK)
    clean = clean.without_specks(SPECK)
    if not len(clean):
        return None
    pen = clean.pen
    symbol = typical_height(np.maximum(clean.sizes - pen, 0))
    clean = clean.without_strays(DOT * symbol + pen, STRAY * symbol)
    x0, y0, x1, y1 = clean.bounds
    return _Ink(np.ascontiguousarray(clean.image[y0:y1, x0:x1]), (x0, y0), symbol, pen)


def _scale(ink: _Ink, look: Look) -> float:
    """Model pixels for one pixel of the ink."""
    height, width = (max(1.0, side - ink.pen) for side in ink.image.shape)
    # Dots alone say nothing of a symbol's height; their pen does.
    scale = look.symbol_height / ink.symbol if ink.symbol > 0 else look.pen_width / ink.pen
    room = 2 * look.margin
    return min(scale, (look.max_width - room) / width, (look.max_height - room) / height)


def _drawn(ink: NDArray[np.uint8], scale: float, pen: float, wanted: float) -> NDArray[np.uint8]:
    """The ink map at the model's scale, its pen of `pen` pixels brought to `wanted`."""
    height, width = (max(1, round(side * scale)) for side in ink.shape)
    if abs(pen * scale / wanted - 1) <= SAME_PEN:
        return _resized(ink, height, width)
    ratio = min(max(1 / scale, COARSEST), FINEST)
    thinner = LEAST_LINE / (ratio * scale) - pen
    if thinner > 0 and ratio * scale < 1:
        kernel = int(np.ceil(thinner)) + 1
        ink = np.asarray(cv2.dilate(ink, np.ones((kernel, kernel), np.uint8)), np.uint8)
    fine = _resized(ink, round(height * ratio), round(width * ratio))
    return _resized(redraw(fine, wanted * ratio), height, width)


def _resized(image: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    shrinks = height < image.shape[0] or width < image.shape[1]
    how = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(image, (width, height), interpolation=how), np.uint8)


def _paste(image: NDArray[np.uint8], drawn: NDArray[np.uint8], top: int, left: int) -> None:
    """Puts `drawn` into `image`; what sticks out is blank edge and falls away."""
    height, width = drawn.shape
    y0, x0 = max(0, top), max(0, left)
    y1, x1 = min(image.shape[0], top + height), min(image.shape[1], left + width)
    image[y0:y1, x0:x1] = drawn[y0 - top : y1 - top, x0 - left : x1 - left]
