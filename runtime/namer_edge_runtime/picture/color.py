"""The input of a model of three channels: each pixel's difference from the paper's color."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ..preprocessing import Prepared, opencv_affine, turning

WINDOW = 51
"""Side in model pixels of the median filter: so large a square holds more paper than ink."""
MARKED = 100
"""Level of the drawn lines from which a pixel is ink when its strength is measured."""
STRONG = 200
"""Median strength that ink is scaled to, in the channel that differs most from the paper."""
FAINTEST = 12
"""Weaker ink is scaled as if it had this strength, since noise is amplified with it."""


def colored(picture: NDArray[np.uint8], prepared: Prepared) -> NDArray[np.uint8]:
    """The colors [h, w, 3] of a picture [H, W, 3] (RGB) aligned with `prepared`, 0 on paper.

    Black ink on white is bright in all three, red ink leaves red dark. Paper is the median of the
    neighborhood, so shadows go; what is brighter than the paper counts like what is darker.
    """
    full, size = picture.shape[1::-1], prepared.image.shape[::-1]
    # Scaled down by areas first, or thin lines would fall between the samples.
    smaller = [max(1, round(side * min(prepared.scale, 1.0))) for side in full]
    scaled = cv2.resize(picture, smaller, interpolation=cv2.INTER_AREA)
    matrix = prepared.scale * turning(prepared.turn) * np.divide(full, smaller)
    placed = cv2.warpAffine(
        scaled,
        opencv_affine(matrix, np.array(prepared.offset)),
        size,
        flags=cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    away = cv2.absdiff(placed, cv2.medianBlur(placed, WINDOW))
    strongest = away.max(axis=2)[prepared.image > MARKED]
    level = float(np.median(strongest)) if len(strongest) else STRONG
    return np.asarray(cv2.convertScaleAbs(away, alpha=STRONG / max(level, FAINTEST)), np.uint8)
