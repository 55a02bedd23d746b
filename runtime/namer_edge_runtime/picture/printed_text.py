"""Printed text beside handwriting: letters on baselines straighter than any hand's."""

import numpy as np
from numpy.typing import NDArray

from ..ink.strokes import typical_height
from .components import ConnectedComponents, gaps

PRINT = "printed text is left out"
LETTERS, MOST = 7, 150
"""Least number of letters of a printed line, and most of a picture in which lines are searched."""
LEAST, SMALL = 6, 0.12
"""Least height of a letter in pixels, and in heights of a typical symbol."""
STRAIGHT, SAME = 0.035, 0.06
"""Shares of a letter's height that letters are off the baseline, and that letters without ascender
or descender differ in height, at most; a pixel is never too much."""
ON_LINE, ALIKE, EQUAL = 0.6, 0.4, 0.8
"""Least shares of a line's components that stand on its baseline, and of those that are of one
height; greatest share that are of one width, as holes in a row are."""
STEEP = 0.12
"""Greatest slope of a baseline."""
SPACE = 1.5
"""Greatest space between words, in heights of the highest letter."""
GAP = 0.6
"""Least distance of handwriting from a printed line, in the same heights."""


def without_printed_text(clean: ConnectedComponents) -> ConnectedComponents:
    """The components without printed lines, where others are left that are no print."""
    rest = np.ones(len(clean), np.bool_)
    boxes = clean.boxes
    while rest.any() and (line := _printed_line(boxes[rest])) is not None:
        rest[np.flatnonzero(rest)[line]] = False
    if rest.all() or not rest.any():
        return clean
    height = float((boxes[~rest, 3] - boxes[~rest, 1]).max())
    apart = gaps(boxes[rest], boxes[~rest]).min() > GAP * height
    return clean.only(rest) if apart else clean


def _printed_line(boxes: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """Which components [n, 4] (x0, y0, x1, y1) are a printed line; None where no line is."""
    width, height = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    usual = typical_height(np.stack([width, height], axis=1))
    letters = np.flatnonzero((height >= max(LEAST, SMALL * usual)) & (width < 4 * height))
    if not LETTERS <= len(letters) <= MOST:
        return None
    x, foot, tall = boxes[letters, 0], boxes[letters, 3], height[letters]
    one, other = np.nonzero(x[None] - x[:, None] > 3 * tall[:, None])
    slope = (foot[other] - foot[one]) / (x[other] - x[one])
    one, slope = one[np.abs(slope) < STEEP], slope[np.abs(slope) < STEEP]
    if not len(one):
        return None
    away = foot[None] - (foot[one, None] + slope[:, None] * (x[None] - x[one, None]))
    on_line = np.abs(away) <= np.maximum(1, STRAIGHT * tall)
    best = int(on_line.sum(1).argmax())
    standing = on_line[best]
    if standing.sum() < LETTERS:
        return None
    highest = float(tall[standing].max())
    base = foot[one[best]] + slope[best] * (boxes[:, 0] - x[one[best]])
    middle = (boxes[:, 1] + boxes[:, 3]) / 2
    near = (middle < base + 0.4 * highest) & (middle > base - 1.4 * highest)
    line = near & _joined(boxes, letters[standing], near, SPACE * highest)
    own = line[letters] & standing
    counted = int((line[letters] & (tall > 0.5 * np.median(tall[own]))).sum())
    heights, widths = (_most_alike(sides) for sides in (tall[own], width[letters][own]))
    if own.sum() < max(LETTERS, ON_LINE * counted) or heights < ALIKE or widths > EQUAL:
        return None
    return line


def _most_alike(lengths: NDArray[np.float64]) -> float:
    """The largest share of lengths that one of them equals."""
    away = np.abs(lengths[:, None] - lengths[None])
    return float((away <= np.maximum(1, SAME * lengths)).mean(0).max())


def _joined(
    boxes: NDArray[np.float64], first: NDArray[np.intp], near: NDArray[np.bool_], space: float
) -> NDArray[np.bool_]:
    """The components `near` a line that no wider space parts from the middle one of `first`."""
    order = np.flatnonzero(near)[np.argsort(boxes[near, 0])]
    reach = np.maximum.accumulate(boxes[order, 2])
    part = np.concatenate([[0], np.cumsum(boxes[order[1:], 0] > reach[:-1] + space)])
    middle = first[np.argsort(boxes[first, 0])][len(first) // 2]
    joined = np.zeros(len(boxes), np.bool_)
    joined[order[part == part[order == middle][0]]] = True
    return joined
