"""A picture in color, as a model of three channels reads it: how far from the paper each is."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ..preprocessing import Prepared, turning

WINDOW = 51
"""Pixels of the look: a square of this side is more paper than ink, so its median is paper."""
MARKED = 100
"""Level of the drawn lines from which a pixel is ink, for measuring how strong it is."""
STRONG = 200
"""What ink comes to, in the color in which it differs most from the paper."""
FAINTEST = 12
"""Ink that differs less than this is not made stronger still: noise would be, too."""


def colored(picture: NDArray[np.uint8], prepared: Prepared) -> NDArray[np.uint8]:
    """`picture` [H, W, 3] (RGB), brought to where `prepared` has it: [h, w, 3], 0 on paper.

    Black ink on white is bright in all three, red ink leaves red dark. Paper is the median of the
    neighborhood, so shadows go; what is brighter than the paper counts like what is darker.
    """
    full, size = picture.shape[1::-1], prepared.image.shape[::-1]
    # Scaled down by areas first, or thin lines would fall between the samples.
    smaller = [max(1, round(side * min(prepared.scale, 1.0))) for side in full]
    scaled = cv2.resize(picture, smaller, interpolation=cv2.INTER_AREA)
    matrix = prepared.scale * turning(prepared.turn) * np.divide(full, smaller)
    # Pixel centers lie at half integers in our coordinates and at integers in OpenCV's.
    shift = matrix @ (0.5, 0.5) + prepared.offset - 0.5
    placed = cv2.warpAffine(
        scaled,
        np.column_stack([matrix, shift]),
        size,
        flags=cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    away = cv2.absdiff(placed, cv2.medianBlur(placed, WINDOW))
    strongest = away.max(axis=2)[prepared.image > MARKED]
    level = float(np.median(strongest)) if len(strongest) else STRONG
    return np.asarray(cv2.convertScaleAbs(away, alpha=STRONG / max(level, FAINTEST)), np.uint8)
