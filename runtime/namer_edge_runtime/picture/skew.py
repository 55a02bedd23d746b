"""Skew: the slope of a line of writing, told from the long axis of its ink."""

import cv2
import numpy as np
from numpy.typing import NDArray

LEAST, MOST = np.radians(8), np.radians(45)
"""Least slope that costs accuracy, and greatest slope of a line of writing."""
LONG = 2.0
"""Least ratio of the spread of ink along its axis to that across it (standard deviations)."""


def skew(image: NDArray[np.uint8]) -> float:
    """Angle in radians by which the ink (bright on 0) of a picture [H, W] falls from left to right,
    negative where it rises: that of the longer axis of its second moments.

    0 where that is between `-LEAST` and `LEAST` or beyond `MOST`, and where the ink is not `LONG`.
    """
    moments = cv2.moments(image)
    across, down, both = moments["mu20"], moments["mu02"], 2 * moments["mu11"]
    spread = float(np.hypot(across - down, both))
    angle = float(np.arctan2(both, across - down)) / 2
    if across + down + spread < LONG**2 * (across + down - spread):
        return 0.0
    return angle if LEAST <= abs(angle) <= MOST else 0.0
