"""Pictures made smaller by a whole number, which is the quick way."""

import cv2
import numpy as np
from numpy.typing import NDArray


def shrunk(picture: NDArray[np.uint8], longest: int) -> tuple[NDArray[np.uint8], int]:
    """The mean of each block of n × n pixels, n the least for which no side passes `longest`; and
    n. What is left of the last blocks is not seen, unless there is no other."""
    times = -(-max(picture.shape) // longest)
    if times == 1:
        return picture, 1
    height, width = (max(1, side // times) for side in picture.shape)
    whole = picture[: height * times, : width * times]
    small = cv2.resize(whole, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8), times
