"""Stroke width of an ink map, from its area and outline."""

import cv2
import numpy as np
from numpy.typing import NDArray


def measured_width(ink: NDArray[np.uint8], mask: NDArray[np.bool_], components: int) -> float:
    """Mean width, in pixels, of the strokes in an ink map [H, W] inside `mask`.

    A line of length L and width w with round ends has the area A = w·L + π/4·w² and the outline
    P = 2·L + π·w, so π/4·n·w² - P/2·w + A = 0 for n components. The outline is
    measured by Crofton's formula, which holds for every direction, unlike a count of pixels.
    """
    flags = mask.view(np.uint8)
    area = cv2.mean(ink, flags)[0] / 255 * cv2.countNonZero(flags)
    framed = np.asarray(cv2.copyMakeBorder(flags, 1, 1, 1, 1, cv2.BORDER_CONSTANT), np.uint8)
    outline = (
        np.pi
        / 8
        * (
            _different(framed[:, 1:], framed[:, :-1])
            + _different(framed[1:], framed[:-1])
            + _different(framed[1:, 1:], framed[:-1, :-1]) / np.sqrt(2)
            + _different(framed[1:, :-1], framed[:-1, 1:]) / np.sqrt(2)
        )
    )
    inside = outline**2 / 4 - np.pi * components * area
    if inside <= 0:  # round components only: each is a disc
        return float(np.sqrt(4 * area / (np.pi * components)))
    return float((outline / 2 - np.sqrt(inside)) / (np.pi / 2 * components))


def widest(mask: NDArray[np.uint8]) -> float:
    """Width, in pixels, of the widest place of a mask [H, W] that has an outside."""
    return 2 * float(cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_3).max())


def _different(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> int:
    """Number of pixels that differ."""
    return cv2.countNonZero(cv2.bitwise_xor(one, other))
