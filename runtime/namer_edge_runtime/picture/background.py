"""Background removal: an ink map of a gray picture, independent of its illumination."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from .components import connected, usual_side
from .downscale import shrunk
from .histogram import counts, quantile, spread
from .ruled_paper import without_ruling
from .steps import Steps, Unseen
from .stroke_width import widest

RULING = "the printed lines of the paper are left out"
COARSE, COARSEST = 512, 128
"""Longest side, in pixels, at which light and shadow are looked at, at most, and at which ink and
ground are told apart."""
WIDEST_PEN = 1 / 8
"""Share of the picture's longer side; what is wider than this is taken for a shadow."""
WIDEST_ON_SCREEN = 1 / 3
"""The same share for areas as dark as ink (within `INKY` of the contrast) where more than `EVEN` of
the picture has one brightness: screens have no shadows, but thick strokes may cross there."""
EVEN, INKY = 0.5, 0.25
LAYER, FAINTLY, LIGHT, UNDER = 2.2, 0.12, 0.7, 0.1
"""Least width of a layer below the ink, as a highlighter's, in that of the widest stroke; least and
greatest level, in that of the ink; and least share of the ink that lies on the layer or near it."""
RINGING = 5
"""Pixels of a median that tells the ground from grain and ringing."""
INK = 100
"""Level of the ink map, of 255, from which a pixel counts as ink where components are measured."""
ROUGH = 0.04
"""Share that a closing of 3 pixels adds to rough ink, at least, and"""
HOLES, LEAST = 1.5, 13
"""holes for each component of rough ink, and number of components that are assumed at least."""
SMOOTHING, MOST_SMOOTHINGS = 1.0, 3
"""Standard deviation in pixels that rough ink is smoothed with, and how often at most."""
FAINT, DARK, BESIDE = 70, 160, 5
"""Levels of a fainter pen's ink, from the first on where nothing in a square of the last in pixels
reaches the second; what is fainter shows through from another page."""
LONG = 0.3
"""Longest side of such ink, in that of typical ink, that tells it from dirt."""
FAINTEST = 14
"""Contrast of ink to ground, in 1/255 of the ground's brightness, below which a page is blank."""
DARKEST = np.uint8(16)
"""Grounds darker than this are taken for this bright: their grain would look like ink."""
NOISE = 4.0
"""Standard deviations of the ground's grain that are not yet ink."""


@dataclass(frozen=True)
class InkMap:
    """An ink map, and whether its ink was the darker side."""

    image: NDArray[np.uint8]
    """[H, W], 255 ink, 0 ground, soft edges kept."""
    dark_ink: bool
    """Whether the ink was darker than its ground."""
    notes: tuple[str, ...] = ()
    """Notes of what was left out."""


def ink_map(
    gray: NDArray[np.uint8],
    steps: Steps | None = None,
    outside: NDArray[np.bool_] | None = None,
) -> InkMap | None:
    """The ink map of a gray picture [H, W], without ink where it is `outside` the sheet; None where
    there is no ink.

    1. Which of the two is the ink: it is the minority, so it pulls the third moment of the
       brightness, taken about the local median, to its side. Light ink is turned to dark.
    2. The ground's brightness round each pixel: a closing, which fills whatever is narrower than
       the widest pen and keeps the edges of shadows.
    3. Ink is what the pixel lacks to its ground, as a share of the ground: half as much light
       halves both.
    4. Lines printed on the paper are taken out (`ruled_paper.py`).
    5. The grain of the ground is cut off and typical ink becomes 255; where ink comes out rough, as
       of a pencil or in noise, it is smoothed before. Fainter ink of a second pen becomes 255, too.
    """
    coarse, _ = shrunk(gray, COARSE)
    dark_ink = _is_dark(_shrunk(coarse))
    if not dark_ink:
        gray, coarse = 255 - gray, 255 - coarse
    ink = _missing_light(gray, _ground(coarse))
    if outside is not None:
        ink[outside] = 0
    steps = steps or Unseen()
    steps.add(
        f"What the ink, {'darker' if dark_ink else 'lighter'} than its ground, lacks", 255 - ink
    )
    plain = without_ruling(ink)
    if plain is not ink:  # and thicker ones between them, as of millimeter paper
        plain = without_ruling(plain, grids_only=True)
    notes = () if plain is ink else (RULING,)
    if notes:
        steps.add("The lines of the paper taken out", 255 - plain)
    image = _smoothed(plain)
    if image is not None:
        image = _evened(image)
        steps.add("Grain cut off, ink full", 255 - image)
    return None if image is None else InkMap(image, dark_ink, notes)


def _ground(coarse: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Brightness of the ground at each pixel, ink being dark."""
    levels = counts(coarse)
    if levels.argmax() < coarse.max():  # grain, or what JPEG leaves beside ink
        coarse = np.asarray(cv2.medianBlur(coarse, RINGING), np.uint8)
    closed = _closed(coarse, _kernel(coarse, WIDEST_PEN))
    closed = _with_layers(coarse, closed)
    if levels.max() <= EVEN * coarse.size:
        return closed
    darkest, brightest = int(coarse.min()), int(closed.max())
    inky = closed < darkest + INKY * (brightest - darkest)
    if not inky.any():
        return closed
    return np.where(inky, _closed(coarse, _kernel(coarse, WIDEST_ON_SCREEN)), closed)


def _with_layers(coarse: NDArray[np.uint8], ground: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The ground with the layers on it that are written over, as a highlighter's."""
    ink = _missing_light(coarse, ground)
    dark = quantile(counts(ink) * np.arange(256, dtype=np.int64) ** 4, 0.5)
    if dark < 2 * FAINTEST:
        return ground
    written = (ink > LIGHT * dark).view(np.uint8)  # without the holes that grain leaves in it
    small = np.ones((3, 3), np.uint8)
    strong = np.asarray(cv2.morphologyEx(written, cv2.MORPH_CLOSE, small), np.uint8)
    if strong.all():
        return ground
    kernel = max(9, int(LAYER * widest(strong))) | 1
    below = _closed(coarse, kernel)
    levels = _missing_light(below, ground)
    layer = (levels > max(FAINTEST, FAINTLY * dark)) & (levels < LIGHT * dark)
    if not layer.any():
        return ground
    near, wide = (
        np.asarray(cv2.dilate(layer.view(np.uint8), np.ones((side, side), np.uint8)), np.uint8)
        for side in (kernel, 2 * _kernel(coarse, WIDEST_PEN))
    )
    if cv2.countNonZero(strong & wide) < UNDER * cv2.countNonZero(strong):
        return ground
    below = np.asarray(cv2.erode(below, small), np.uint8)  # beside its soft edge, too
    return np.where(near > 0, np.minimum(ground, below), ground)


def _closed(coarse: NDArray[np.uint8], kernel: int) -> NDArray[np.uint8]:
    """Brightness with everything narrower than `kernel` filled in.

    The picture goes on beyond its edges as it ends there, so that a dark edge is ground however
    narrow it is.
    """
    edges = cv2.copyMakeBorder(coarse, *(kernel,) * 4, borderType=cv2.BORDER_REPLICATE)
    closed = cv2.morphologyEx(edges, cv2.MORPH_CLOSE, np.ones((kernel, kernel), np.uint8))
    return np.asarray(closed, np.uint8)[kernel:-kernel, kernel:-kernel]


def _kernel(picture: NDArray[np.uint8], widest: float) -> int:
    """Odd, and wider than a pen of `widest` shares of the picture's longer side."""
    return max(9, int(max(picture.shape) * widest)) | 1


def _shrunk(gray: NDArray[np.uint8]) -> NDArray[np.uint8]:
    factor = COARSEST / max(gray.shape)
    if factor >= 1:
        return gray
    size = (max(1, round(gray.shape[1] * factor)), max(1, round(gray.shape[0] * factor)))
    return np.asarray(cv2.resize(gray, size, interpolation=cv2.INTER_AREA), np.uint8)


def _is_dark(coarse: NDArray[np.uint8]) -> bool:
    """Whether the ink is darker than its ground."""
    local = cv2.medianBlur(coarse, 2 * _kernel(coarse, WIDEST_PEN) + 1)
    away = coarse.astype(np.float32) - local
    return float((away * away * away).sum()) <= 0


def _missing_light(gray: NDArray[np.uint8], closed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """255 · (1 - gray / ground), 0 where the pixel is brighter than its ground."""
    low, high = int(closed.min()), int(closed.max())
    if high - low <= 2:  # even light, as on every screen: one table says it all
        levels = np.arange(256, dtype=np.float32)
        table = np.clip(255 * (1 - levels / max(high, 1)), 0, 255)
        return np.asarray(cv2.LUT(gray, np.rint(table).astype(np.uint8)), np.uint8)
    size = (gray.shape[1], gray.shape[0])
    ground = np.asarray(cv2.resize(closed, size, interpolation=cv2.INTER_LINEAR), np.uint8)
    lacking = cv2.divide(cv2.subtract(ground, gray), np.maximum(ground, DARKEST), scale=255)
    return np.asarray(lacking, np.uint8)


def stretched(ink: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """The ink without the grain of its ground, typical ink at 255; None without contrast."""
    levels = counts(ink)
    ground = quantile(levels, 0.5)
    floor = ground + NOISE * 1.4826 * quantile(spread(levels, ground), 0.5)
    # By their contrast's square, or wide faint things would outweigh thin ink.
    above = levels * np.arange(256) ** 2
    above[: int(max(floor, FAINTEST / 2)) + 1] = 0
    if not above.any():
        return None
    typical = quantile(above, 0.5)
    if typical < FAINTEST or typical - floor < FAINTEST / 2:
        return None
    brightness = np.arange(256, dtype=np.float32)
    table = np.clip((brightness - floor) * (255 / (typical - floor)), 0, 255)
    return np.asarray(cv2.LUT(ink, np.rint(table).astype(np.uint8)), np.uint8)


def _smoothed(plain: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """The ink `stretched`, and smoothed where it is rough and that helps."""
    first = image = stretched(plain)
    for _ in range(MOST_SMOOTHINGS):
        if image is not None and not _rough(image):
            return image
        plain = np.asarray(cv2.GaussianBlur(plain, (0, 0), SMOOTHING), np.uint8)
        image = stretched(plain)
    return first if image is None or _rough(image) else image


def _rough(image: NDArray[np.uint8]) -> bool:
    """Whether the ink has holes and a ragged outline."""
    mask = cv2.threshold(image, INK, 1, cv2.THRESH_BINARY)[1]
    kernel = np.ones((3, 3), np.uint8)
    closed = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, kernel)
    if cv2.countNonZero(closed) <= (1 + ROUGH) * cv2.countNonZero(mask):
        return False
    _, nesting = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    holes = int((nesting[0][:, 3] >= 0).sum())
    return holes > HOLES * max(LEAST, cv2.connectedComponents(closed)[0] - 1)


def _evened(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The ink map with the ink of a fainter pen as dark as the other."""
    near = np.asarray(cv2.dilate(image, np.ones((BESIDE, BESIDE), np.uint8)))
    faint = ((image > FAINT) & (near < DARK)).view(np.uint8)
    if not faint.any():
        return image
    _, dark, _ = connected((image >= DARK).view(np.uint8))
    labels, stats, _ = connected(faint)
    written = stats[:, 2:4].max(1) >= LONG * usual_side(dark[1:])
    written[0] = False
    levels = np.zeros(len(stats))
    np.maximum.at(levels, labels[faint > 0], image[faint > 0])
    gain = np.where(written, 255 / np.maximum(levels, 1), 1.0).astype(np.float32)
    # With their soft edges.
    spread = cv2.dilate(gain[labels], np.ones((3, 3), np.uint8))
    spread[near >= DARK] = 1
    return np.asarray(np.minimum(image * spread, 255), np.uint8)
