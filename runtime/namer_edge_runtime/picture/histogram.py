"""Histograms of gray pictures, and quantiles of what they count."""

import cv2
import numpy as np
from numpy.typing import NDArray


def counts(picture: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The histogram [256] of brightness."""
    return cv2.calcHist([picture], [0], None, [256], [0, 256]).ravel().astype(np.int64)


def quantile(counted: NDArray[np.int64], share: float) -> int:
    """The value that this share of the counted pixels does not exceed."""
    total = np.cumsum(counted)
    return int(np.searchsorted(total, share * total[-1]))


def spread(counted: NDArray[np.int64], middle: int) -> NDArray[np.int64]:
    """The histogram [256] of absolute differences from `middle`."""
    away = np.zeros(256, np.int64)
    np.add.at(away, np.abs(np.arange(256) - middle), counted)
    return away
