"""Removal of printed lines from ruled and squared paper; ink that crosses them stays."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from .downscale import shrunk

COARSE = 512
"""Longest side in pixels of the downscaled picture in which lines are searched for."""
PIECE = 1 / 16
"""Share of the picture's width that a line is straight and level for, near enough."""
SPAN = 0.85
"""Share of the picture's width that a printed line runs through at least."""
CUT = 0.2
"""The same for a line that leaves the picture at its upper or lower edge."""
STEEPEST = 0.1
"""Slope up to which a line counts as level."""
LEAST = 0.4
"""Share of a line's columns in which it must lie on its curve, bare of ink."""
STRAIGHT = 1.5
"""Coarse pixels that a line may stray from its curve."""
DEGREE = 2
"""Lines are parabolas: paper is seldom flat."""
FAINTEST = 8
"""Level, of 255, below which lines are ignored."""
MANY = 3
"""So many lines across the whole picture, evenly apart, are printed however dark they are."""
UNEVEN = 0.3
"""Share of their usual distance that the distances of such lines may differ by."""
FAINT = 0.7
"""One or two across it are when they are lighter than this share of the ink: they might be bars."""
OFF = 3
"""Full-size pixels that the center of a line may lie beside its curve."""
DARKER = 1.5
"""Ratio of darkness to a line from which a pixel in its band is ink."""
WIDEST = 8
"""Most full-size pixels of a printed line on each side of its center."""


@dataclass(frozen=True)
class Line:
    """A printed line, from side to side."""

    rows: NDArray[np.intp]
    """[W] row of its center in each column, outside the picture where the line has left it."""
    level: float
    """Its typical level, of 255."""
    above: int
    below: int
    """Pixels that it extends on each side of its center."""


@dataclass(frozen=True)
class _Family:
    """The level lines of a picture."""

    band: NDArray[np.bool_]
    """[H, W] where they are."""
    level: float
    thickness: int


def without_ruling(ink: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """An ink map [H, W] without the lines printed on the paper; itself where there are none.

    1. A line shows where the ink is as dark for a sixteenth of the width without a break.
    2. What shows on nearly the whole width, straight or evenly bent, is printed: when there are
       many such lines, or when they are fainter than the ink. A fraction's bar is neither.
    3. Its band is emptied but for what is darker than the line, and for ink that goes on at both
       sides of it.
    """
    coarse, times = shrunk(ink, COARSE)
    level = _printed(ink, coarse, times)
    upright = _printed(ink.T, np.ascontiguousarray(coarse.T), times)
    if level is None and upright is None:
        return ink
    plain = ink
    if level is not None:
        plain = _emptied(plain, level.band, level.level)
    if upright is not None:
        plain = _emptied(plain, upright.band.T, upright.level)
    bridged = plain
    if level is not None:
        bridged = _bridged(bridged, plain, level.band, (level.thickness + 3, 3))
    if upright is not None:
        bridged = _bridged(bridged, plain, upright.band.T, (3, upright.thickness + 3))
    return bridged


def _emptied(ink: NDArray[np.uint8], band: NDArray[np.bool_], level: float) -> NDArray[np.uint8]:
    return np.where(band & (ink < DARKER * level), np.uint8(0), ink)


def _bridged(
    ink: NDArray[np.uint8],
    plain: NDArray[np.uint8],
    band: NDArray[np.bool_],
    kernel: tuple[int, int],
) -> NDArray[np.uint8]:
    """The ink of `plain` on both sides of the band, gone on with inside it."""
    closed = cv2.morphologyEx(plain, cv2.MORPH_CLOSE, np.ones(kernel, np.uint8))
    return np.where(band, np.maximum(ink, np.asarray(closed, np.uint8)), ink)


def _printed(ink: NDArray[np.uint8], coarse: NDArray[np.uint8], times: int) -> _Family | None:
    """The level lines that are printed, not written; `coarse` is the ink, `times` smaller."""
    courses = _courses(coarse, times, ink.shape[1])
    lines = [line for rows in courses if (line := _line(ink, rows)) is not None]
    if not lines:
        return None
    band = np.zeros(ink.shape, np.bool_)
    columns = np.arange(ink.shape[1])
    for line in lines:
        for step in range(-line.above, line.below + 1):
            rows = line.rows + step
            inside = (rows >= 0) & (rows < len(ink))
            band[rows[inside], columns[inside]] = True
    level = float(np.median([line.level for line in lines]))
    rest = ink[~band & (ink > FAINTEST)]
    if not len(rest):
        return None
    faint = level <= FAINT * np.quantile(rest, 0.8)
    if not (faint or (len(lines) >= MANY and _evenly_apart(lines))):
        return None
    return _Family(band, level, max(line.above + line.below + 1 for line in lines))


def _evenly_apart(lines: list[Line]) -> bool:
    gaps = np.diff(np.sort([np.median(line.rows) for line in lines]))
    return float(np.ptp(gaps)) <= UNEVEN * float(np.median(gaps))


def _courses(coarse: NDArray[np.uint8], times: int, width: int) -> list[NDArray[np.intp]]:
    """[width] full-size row in each column, for everything level that runs through nearly the
    whole width."""
    size = coarse.shape[::-1]
    piece = max(9, round(size[0] * PIECE))
    thicker = cv2.dilate(coarse, np.ones((3, 1), np.uint8))
    long = cv2.morphologyEx(thicker, cv2.MORPH_OPEN, np.ones((1, piece), np.uint8))
    if (long.max(0) > FAINTEST).mean() < SPAN:
        return []
    shown = (long > FAINTEST).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(shown)
    found = []
    for number in range(1, count):
        x, y, w, h, _ = (int(value) for value in stats[number])
        leaves = (x == 0 or x + w == size[0]) and (y == 0 or y + h == size[1])
        if w < (CUT if leaves else SPAN) * size[0] or h > STEEPEST * size[0] + 6:
            continue
        own = labels[y : y + h, x : x + w] == number
        thick = own.sum(0)
        centers = y + (own * np.arange(h)[:, None]).sum(0) / np.maximum(thick, 1)
        columns = np.arange(x, x + w)
        # Where ink runs along the line, it is thicker than elsewhere.
        bare = (thick > 0) & (thick <= np.quantile(thick[thick > 0], 0.25) + 1)
        used = bare
        for _ in range(2):
            if used.sum() <= DEGREE:
                break
            curve = np.polynomial.Polynomial.fit(columns[used], centers[used], DEGREE)
            used = (np.abs(curve(columns) - centers) < STRAIGHT) & bare
            if used.mean() < LEAST:
                break
        else:
            places = (np.arange(width) + 0.5) / times - 0.5
            rows = (curve(places) + 0.5) * times - 0.5
            found.append(np.rint(rows).astype(np.intp))
    return found


def _line(ink: NDArray[np.uint8], rows: NDArray[np.intp]) -> Line | None:
    """The line along these rows [W], with its level and thickness; None where there is no ink."""
    columns = np.flatnonzero((rows >= 0) & (rows < len(ink)))
    if not len(columns):
        return None
    steps = np.arange(-WIDEST, WIDEST + 1)
    places = np.clip(rows[columns] + steps[:, None], 0, len(ink) - 1)
    profile = np.median(ink[places, columns], axis=1)
    near = slice(WIDEST - OFF, WIDEST + OFF + 1)
    middle = WIDEST - OFF + int(profile[near].argmax())
    level = float(profile[middle])
    if level < FAINTEST:
        return None
    above = below = 0
    while middle - above > 0 and profile[middle - above] > 0.1 * level:
        above += 1
    while middle + below < len(profile) - 1 and profile[middle + below] > 0.1 * level:
        below += 1
    if above + below > WIDEST * 1.5:
        return None
    return Line(rows + int(steps[middle]), level, above + 1, below + 1)
