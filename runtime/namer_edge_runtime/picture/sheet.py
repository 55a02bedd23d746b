"""The sheet that is written on, cut out of dark borders, frames and the desk round it."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from .downscale import shrunk
from .stroke_width import widest

OUTSIDE = "what lies round the sheet is left out"
COARSE = 320
"""Longest side in pixels at which a sheet is looked for, at most."""
DARKER, CONTRAST = 0.6, 50
"""Surroundings have at most this share of the sheet's brightness, beside its edge, and are so many
levels of 255 darker: a shadow is lighter or has no edge."""
AT_EDGE = 0.04
"""Share of the picture's outermost pixels that are dark, at least, where there are surroundings."""
LEAST, FULL = 0.08, 0.7
"""Share of the picture that a sheet takes, and share of the sheet that is bare paper, at least."""
PLAIN = 0.7
"""Share of the surroundings that is dark, at least."""
RECTANGULAR = 0.85
"""Share of the smallest rectangle round a sheet that it fills, at least."""
WIDER = 3.0
"""The widest bare place of a sheet is so many times as wide as the widest ink on it, at least."""
PEN, INKY, INKED, GRAIN = 13, 0.6, 0.004, 0.12
"""There is ink in a shadow where more than the third share of the surroundings is darker than the
second of what lies within the first number of pixels, and by more than the last share of the
paper's brightness: the grain of a dark desk is not."""
FAINT, WRITTEN = 0.9, 0.002
"""Where nothing on the sheet is dark, the second share of it, at least, has less than the first of
its brightness, as written with a pencil."""
BESIDE = 5
"""Pixels of the coarse picture beside the sheet's edge that are compared."""


@dataclass(frozen=True)
class Sheet:
    """A sheet, cut out of its picture."""

    image: NDArray[np.uint8]
    """[H, W] gray, with paper instead of the surroundings."""
    outside: NDArray[np.bool_]
    """[H, W] where the surroundings were."""
    corner: tuple[int, int]
    """x, y of its first pixel in the picture."""


def find_sheet(gray: NDArray[np.uint8]) -> Sheet | None:
    """The sheet in a gray picture [H, W]; None where it fills the picture, as most do.

    1. Otsu's threshold parts bright from dark, in a coarse picture. The convex hull of the largest
       bright region is a sheet where it is nearly all bare and what lies round it is dark, with a
       sharp edge between.
    2. Else the same with bright and dark exchanged: a board on a light wall.
    """
    coarse, times = shrunk(gray, COARSE)
    for light in (True, False):
        found = _hull(coarse if light else 255 - coarse)
        if found is not None:
            return _cut_out(gray, coarse, found, times)
    return None


def _hull(gray: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """The mask [h, w], 1 on a bright sheet with dark surroundings; None where there is none."""
    edge = np.concatenate([gray[0], gray[-1], gray[:, 0], gray[:, -1]])
    if int(gray.max()) - int(edge.min()) <= CONTRAST:
        return None
    level, bright = cv2.threshold(gray, 0, 1, cv2.THRESH_OTSU)
    if (edge <= level).mean() < AT_EDGE:
        return None
    _, labels, stats, _ = cv2.connectedComponentsWithStats(bright)
    if stats[1:, 4].max(initial=0) < FULL * LEAST * gray.size:
        return None
    # The largest by its box: a frame round the formula parts what lies inside from the sheet.
    bare = (labels == 1 + (stats[1:, 2] * stats[1:, 3]).argmax()).astype(np.uint8)
    contours, _ = cv2.findContours(bare, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    hull = np.zeros_like(gray)
    corners = cv2.convexHull(np.vstack(contours))
    cv2.fillConvexPoly(hull, corners, 1)
    area = int(hull.sum())
    bare = np.asarray(bright, np.uint8) & hull
    if area < LEAST * gray.size or area == gray.size or bare.sum() < FULL * area:
        return None
    _, sides, _ = cv2.minAreaRect(corners)
    if area < RECTANGULAR * (sides[0] + 1) * (sides[1] + 1):
        return None
    outside = hull == 0
    if (bright[outside] == 0).mean() < PLAIN:
        return None
    filled = np.zeros_like(gray)
    cv2.drawContours(filled, contours, -1, 1, cv2.FILLED)
    dark = np.asarray(filled, np.uint8) & np.asarray(1 - bright, np.uint8)
    if dark.any() and widest(np.pad(bare, 1)) < WIDER * widest(np.pad(dark, 1)):
        return None
    away = cv2.distanceTransform(outside.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_3)
    within = cv2.distanceTransform(hull, cv2.DIST_L2, cv2.DIST_MASK_3)
    ground = cv2.morphologyEx(gray, cv2.MORPH_CLOSE, np.ones((PEN, PEN), np.uint8))
    beyond = gray[(away > 1.5) & (away <= BESIDE)]
    beyond = beyond if len(beyond) else gray[outside]
    paper = float(np.median(gray[(within > 1.5) & (within <= BESIDE)]))
    far = away > PEN
    written = (gray < INKY * ground) & (gray + GRAIN * paper < ground)
    if far.any() and written[far].mean() > INKED:
        return None
    desk = float(np.median(beyond))
    inner = gray[(within > BESIDE) & (filled > 0)]
    if not dark.any() and (inner < FAINT * paper).sum() < WRITTEN * area:
        return None
    return hull if desk < DARKER * paper and paper - desk > CONTRAST else None


def _cut_out(
    gray: NDArray[np.uint8], coarse: NDArray[np.uint8], hull: NDArray[np.uint8], times: int
) -> Sheet:
    size = (hull.shape[1] * times, hull.shape[0] * times)
    inner = cv2.erode(hull, np.ones((3, 3), np.uint8), borderValue=1)
    whole = cv2.resize(inner, size, interpolation=cv2.INTER_NEAREST)
    height, width = gray.shape
    missing = max(0, height - size[1]), max(0, width - size[0])
    inside = np.pad(whole, ((0, missing[0]), (0, missing[1])), mode="edge")[:height, :width]
    x, y, w, h = cv2.boundingRect(inside)
    box = slice(y, y + h), slice(x, x + w)
    # Beyond the sheet, its ground goes on as it ends.
    light, share = (cv2.blur(one.astype(np.float32), (PEN, PEN)) for one in (coarse * inner, inner))
    ground = (light / np.maximum(share, 1e-6)).astype(np.uint8)
    _, nearest = cv2.distanceTransformWithLabels(
        1 - inner, cv2.DIST_L2, cv2.DIST_MASK_5, labelType=cv2.DIST_LABEL_PIXEL
    )
    levels = np.zeros(int(nearest.max()) + 1, np.uint8)
    levels[nearest[inner > 0]] = ground[inner > 0]
    beyond = cv2.resize(levels[nearest], size, interpolation=cv2.INTER_LINEAR)
    beyond = np.pad(beyond, ((0, missing[0]), (0, missing[1])), mode="edge")[:height, :width]
    outside = inside[box] == 0
    return Sheet(np.where(outside, beyond[box], gray[box]), outside, (x, y))
