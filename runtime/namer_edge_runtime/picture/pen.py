"""How thick the pen was, and the same ink drawn with another."""

import cv2
import numpy as np
from numpy.typing import NDArray

LEAST_LEFT = 0.35
"""Thinning leaves at least this share of a blob's own greatest half-width standing, so that ink
of uneven width does not break."""


def measured_width(ink: NDArray[np.uint8], mask: NDArray[np.bool_], blobs: int) -> float:
    """Mean width, in pixels, of the strokes in an ink map [H, W] inside `mask`.

    A line of length L and width w with round ends has the area A = w·L + π/4·w² and the outline
    P = 2·L + π·w, so π/4·n·w² - P/2·w + A = 0 for n of them. The outline is measured by Crofton's
    formula, which is true for every direction, unlike counting pixels.
    """
    area = float(ink[mask].sum()) / 255
    framed = np.pad(mask, 1)
    outline = (
        np.pi
        / 8
        * (
            np.count_nonzero(framed[:, 1:] != framed[:, :-1])
            + np.count_nonzero(framed[1:] != framed[:-1])
            + np.count_nonzero(framed[1:, 1:] != framed[:-1, :-1]) / np.sqrt(2)
            + np.count_nonzero(framed[1:, :-1] != framed[:-1, 1:]) / np.sqrt(2)
        )
    )
    inside = outline**2 / 4 - np.pi * blobs * area
    if inside <= 0:  # round blobs only: each is a disc
        return float(np.sqrt(4 * area / (np.pi * blobs)))
    return float((outline / 2 - np.sqrt(inside)) / (np.pi / 2 * blobs))


def redraw(ink: NDArray[np.uint8], wanted: float) -> NDArray[np.uint8]:
    """The ink map with its edges moved so that its strokes become `wanted` pixels wide.

    Edges move along the distance to the edge, so lines keep their middle. Where that thins,
    no blob loses more than it can spare.
    """
    mask = (ink > 127).astype(np.uint8)
    count, labels = cv2.connectedComponents(mask, connectivity=8)
    if count < 2:
        return ink
    width = measured_width(mask * 255, mask > 0, count - 1)
    outside = cv2.distanceTransform(1 - mask, cv2.DIST_L2, cv2.DIST_MASK_5)
    move = (wanted - width) / 2
    if move >= 0:
        # Half a pixel lies between the centres on either side of an edge and the edge itself.
        signed = outside - 0.5 - move
        signed[mask > 0] = -1
    else:
        inside = cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_5)
        widest = np.zeros(count, np.float32)
        np.maximum.at(widest, np.asarray(labels, np.intp).ravel(), inside.ravel())
        spare = np.minimum(-move, (1 - LEAST_LEFT) * widest)
        signed = np.where(mask > 0, 0.5 - inside, outside - 0.5) + spare[labels]
    return np.rint(255 * np.clip(0.5 - signed, 0, 1)).astype(np.uint8)
