"""Downscaling of pictures by whole numbers, which is fast."""

import cv2
import numpy as np
from numpy.typing import NDArray


def shrunk(picture: NDArray[np.uint8], longest: int) -> tuple[NDArray[np.uint8], int]:
    """The picture of the means of n × n blocks, and n, the least with no side above `longest`.

    Incomplete blocks at the right and lower edge are left out, unless there are no others.
    """
    times = -(-max(picture.shape) // longest)
    if times == 1:
        return picture, 1
    height, width = (max(1, side // times) for side in picture.shape)
    whole = picture[: height * times, : width * times]
    small = cv2.resize(whole, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8), times
