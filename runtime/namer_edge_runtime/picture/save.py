"""Writing of pictures to files."""

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from ..atomic import atomic_file


def save_picture(path: Path, picture: NDArray[np.uint8]) -> None:
    """A picture [H, W] (gray) or [H, W, 3] (blue, green, red), written atomically as a PNG.

    Raises `UsageError` where it cannot be written.
    """
    with atomic_file(path) as file:
        file.write(cv2.imencode(".png", picture)[1].tobytes())
