"""Removal of printed lines from ruled and squared paper; ink that crosses them stays."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from .downscale import shrunk
from .histogram import counts, quantile, spread

COARSE = 640
"""Longest side in pixels of the downscaled picture in which lines are searched for."""
STRIP, NARROWEST = 16, 4
"""Pixels there across one strip of the picture, which gives one profile, usually and at least."""
MOST_STRIPS, LEAST_STRIPS = 32, 8
STEEPEST, STEP = 0.12, 0.015
"""Slope up to which a line counts as level, and the steps in which slopes are tried."""
HIGHEST = 9
"""Greatest height of a line in pixels of that picture."""
SEED, SPAN = 0.55, 0.75
"""Share of the strips in which a straight line shows where one may be, and in which a line shows on
its curve where one is."""
CUT = 0.25
"""Least share of the strips that a line runs through before it leaves the picture."""
MOST_SEEDS = 400
CORNER = 0.03
"""Share of the width that a line of an even grid may be in the picture for."""
NEAR, STRAIGHT = 2, 1.5
"""Coarse pixels that a line may stray from its curve, in the first search and in the last."""
DEGREE = 2
"""Lines are parabolas: paper is seldom flat."""
FAINTEST = 3.0
"""Level, of 255, below which lines are ignored, and levels of grain that they must exceed it by."""
CLEAR = 3.5
"""Standard deviations of the grain in a profile above which something shows in it."""
MANY = 3
"""Number of evenly spaced lines across the whole picture that are printed however dark they are."""
UNEVEN = 0.3
"""Share of their usual distance that the distances of such lines may differ by."""
FAINT = 0.7
"""One or two lines are printed if they are lighter than this share of the ink; others might be
bars."""
BARE = 0.3
"""Quantile of the levels along a line that tells its own, since ink may run along most of it."""
LIKE = 1.3
"""Greatest ratio of a line's level to the usual one; a darker line has ink along it."""
UNLIKE = 1.6
"""Ratio to the usual line's level from which a candidate is no printed line."""
FAN = 0.04
"""The slopes of printed lines differ at most by this from the usual one."""
OFF = 3
"""Full-size pixels that the center of a line may lie beside its curve."""
DARKER = 1.5
"""Ratio of darkness to a line from which a pixel in its band is ink."""
WIDEST = 10
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

    @property
    def middle(self) -> float:
        """Row of its center in the middle of the picture."""
        return float(np.median(self.rows))

    @property
    def slope(self) -> float:
        return float(self.rows[-1] - self.rows[0]) / len(self.rows)


def without_ruling(ink: NDArray[np.uint8], grids_only: bool = False) -> NDArray[np.uint8]:
    """An ink map [H, W] without the lines printed on the paper; itself where there are none.

    With `grids_only`, these are `MANY` at even distances, however faint they are.

    1. The picture is cut into upright strips, the mean of each is a profile from top to bottom, in
       which grain averages out. A line shows in the profiles of nearly all strips, at places that
       lie on a curve.
    2. What shows on nearly the whole width and all along its curve is printed: when there are many
       such lines, or when they are fainter than the ink. A fraction's bar is neither.
    3. Its band is emptied but for what is darker than the line, and for ink that goes on at both
       sides of it.
    """
    ground, grain = _ground(ink)
    coarse, times = shrunk(ink, COARSE)
    turned = ink.T, np.ascontiguousarray(coarse.T)
    flat = _lines(ink, coarse, times, ground, grain)
    upright = _lines(*turned, times, ground, grain)
    if not flat and not upright:
        return ink
    across, down = _levels(flat, ink.shape), _levels(upright, ink.T.shape).T
    rest = ink[(across == 0) & (down == 0) & (ink > ground + max(FAINTEST, 4 * grain))]
    dark = float(np.quantile(rest, 0.8)) - ground if len(rest) else 0.0
    printed = [
        (lines, levels, direction)
        for lines, levels, direction in ((flat, across, 1), (upright, down, -1))
        if len(rest) and _are_printed(lines, 0.0 if grids_only else dark)
    ]
    plain = ink
    bands = []
    both = np.zeros(ink.shape, np.uint16)  # where lines cross, they are as dark as both
    for _, levels, _ in printed:
        both += levels
    for lines, levels, direction in printed:
        most = np.maximum(DARKER * levels, levels + CLEAR * grain) + (both - levels) + ground
        plain = np.where((levels > 0) & (plain < most), np.uint8(ground), plain)
        thickness = max(line.above + line.below + 1 for line in lines)
        bands.append((levels > 0, _usual(lines), thickness, direction))
    bridged = plain
    for band, level, thickness, direction in bands:
        closed = _morphed(plain, cv2.MORPH_CLOSE, (thickness + 3, 3)[::direction])
        if level > FAINT * dark:  # ink that runs along a line sticks out of it at one side
            beside = _morphed(plain, cv2.MORPH_DILATE, (2 * thickness + 1, 1)[::direction])
            closed = np.maximum(closed, np.minimum(beside, ink))
        bridged = np.where(band, np.maximum(bridged, closed), bridged)
    return bridged


def _ground(ink: NDArray[np.uint8]) -> tuple[float, float]:
    """The level of the bare paper, and the standard deviation of its grain."""
    levels = counts(ink)
    ground = quantile(levels, 0.5)
    return float(ground), 1.4826 * quantile(spread(levels, ground), 0.5)


def _morphed(ink: NDArray[np.uint8], operation: int, kernel: tuple[int, ...]) -> NDArray[np.uint8]:
    return np.asarray(cv2.morphologyEx(ink, operation, np.ones(kernel, np.uint8)), np.uint8)


def _lines(
    ink: NDArray[np.uint8], coarse: NDArray[np.uint8], times: int, ground: float, grain: float
) -> list[Line]:
    """The level lines that run through nearly the whole width and are alike; `coarse` is the ink,
    `times` smaller."""
    courses = _courses(coarse, times, ink.shape[1])
    lines = [line for rows in courses if (line := _line(ink, rows, ground, grain)) is not None]
    if not lines:
        return []
    usual = _usual(lines)
    slope = float(np.median([line.slope for line in lines]))
    lines = [
        replace(line, level=min(line.level, LIKE * usual))
        for line in lines
        if line.level < UNLIKE * usual and abs(line.slope - slope) < FAN
    ]
    lines.sort(key=lambda line: line.middle)
    if len(lines) < MANY:
        return lines
    lines = _one_each(lines, slope)
    if not _evenly_apart(lines):
        return lines
    above, below = np.median([(line.above, line.below) for line in lines], axis=0).astype(int) + 1
    more = []
    for rows in _missing(lines):
        line = _line(ink, rows, ground, grain)
        if line is None:
            continue
        has_ink = line.level >= LIKE * usual  # a box or a bar runs along it
        more.append(Line(rows, usual, int(above), int(below)) if has_ink else line)
    return lines + more


def _one_each(lines: list[Line], slope: float) -> list[Line]:
    """Of lines nearer to each other than half the usual distance, that of the usual slope."""
    near = float(np.median(np.diff([line.middle for line in lines]))) / 2
    kept: list[Line] = []
    for line in sorted(lines, key=lambda line: abs(line.slope - slope)):
        if all(abs(line.middle - other.middle) >= near for other in kept):
            kept.append(line)
    return sorted(kept, key=lambda line: line.middle)


def _missing(lines: list[Line]) -> Iterator[NDArray[np.intp]]:
    """[W] row in each column, where a line is missing between evenly spaced ones, or beyond them
    in the picture's corners."""
    gaps = np.diff([line.middle for line in lines])
    usual = float(np.median(gaps))
    for first, second, gap in zip(lines, lines[1:], gaps, strict=False):
        count = round(gap / usual)
        for step in range(1, count):
            yield first.rows + np.rint((second.rows - first.rows) * (step / count)).astype(np.intp)
    most = int(abs(lines[0].slope) * len(lines[0].rows) / 2 / usual) + 1
    for step in range(1, most + 1):
        yield lines[0].rows - round(step * usual)
        yield lines[-1].rows + round(step * usual)


def _levels(lines: list[Line], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """[H, W] level of the line that runs there, 0 where there is none."""
    levels = np.zeros(shape, np.uint8)
    columns = np.arange(shape[1])
    for line in lines:
        for step in range(-line.above, line.below + 1):
            rows = line.rows + step
            inside = (rows >= 0) & (rows < len(levels))
            place = rows[inside], columns[inside]
            levels[place] = np.maximum(levels[place], np.uint8(line.level))
    return levels


def _usual(lines: list[Line]) -> float:
    """The median level of the lines."""
    return float(np.median([line.level for line in lines]))


def _are_printed(lines: list[Line], dark: float) -> bool:
    """Whether lines are no bars of a formula in ink of the level `dark`."""
    if not lines:
        return False
    return _usual(lines) <= FAINT * dark or (len(lines) >= MANY and _evenly_apart(lines))


def _evenly_apart(lines: list[Line]) -> bool:
    """Whether the lines lie on a grid of even distances, some of which may be missing."""
    gaps = np.diff(np.sort([line.middle for line in lines]))
    usual = float(np.median(gaps))
    missing = np.maximum(1, np.rint(gaps / usual))
    return float(np.ptp(gaps / missing)) <= UNEVEN * usual and missing.mean() < 1.5


def _courses(coarse: NDArray[np.uint8], times: int, width: int) -> list[NDArray[np.intp]]:
    """[width] full-size row in each column, for everything level that runs through nearly the
    whole width."""
    height, across = coarse.shape
    count = min(MOST_STRIPS, max(LEAST_STRIPS, across // STRIP))
    if across < NARROWEST * count or height < HIGHEST:
        return []
    ends = np.hstack([coarse[:, : across // count], coarse[:, -(across // count) :]])
    if int(ends.max()) - int(ends.min()) < FAINTEST / 2:  # lines run from side to side
        return []
    profiles = _profiles(coarse, count)
    shows = profiles > 0
    if not shows[:, [0, -1]].any() or shows.any(0).mean() < SPAN:
        return []
    tried = np.full((1, count), np.inf)
    found = np.full((1, count), np.inf)
    for straight in _seeds(shows, across / count):
        if np.abs(tried - straight).mean(1).min() < NEAR + 1:
            continue
        tried = np.vstack([tried, straight])
        rows = _fitted(profiles, straight)
        if rows is not None and np.abs(found - rows).mean(1).min() >= NEAR + 1:
            found = np.vstack([found, rows])
    places = (np.arange(width) + 0.5) / times / across * count - 0.5
    curves = (np.polynomial.Polynomial.fit(np.arange(count), rows, DEGREE) for rows in found[1:])
    return [np.rint((curve(places) + 0.5) * times - 0.5).astype(np.intp) for curve in curves]


def _profiles(coarse: NDArray[np.uint8], count: int) -> NDArray[np.float32]:
    """[H, count] how far each strip's mean rises above the rows around, 0 where that is grain."""
    means = cv2.resize(
        coarse.astype(np.float32), (count, coarse.shape[0]), interpolation=cv2.INTER_AREA
    )
    low = cv2.morphologyEx(means, cv2.MORPH_OPEN, np.ones((HIGHEST, 1), np.uint8))
    raised = means - low
    usual = float(np.median(raised))
    spread = 1.4826 * float(np.median(np.abs(raised - usual)))
    least = usual + max(FAINTEST / 2, CLEAR * spread)
    return np.where(raised > least, raised, np.float32(0))


def _seeds(shows: NDArray[np.bool_], strip: float) -> list[NDArray[np.float64]]:
    """[count] row in each strip, for each straight line that shows in enough strips; the one that
    shows in most comes first."""
    height, count = shows.shape
    near = np.ascontiguousarray(cv2.dilate(shows.view(np.uint8), np.ones((3, 1), np.uint8)).T)
    found = []
    for shifts, inside in _slopes(height, count, strip):
        hits = np.zeros(height, np.uint8)
        for column, shift in zip(near, shifts.tolist(), strict=True):
            if shift >= 0:
                hits[: height - shift] += column[shift:]
            else:
                hits[-shift:] += column[: height + shift]
        share = hits / inside
        rows = np.flatnonzero((share >= SEED) & (inside >= CUT * count))
        found += [(share[row], row + shifts.astype(np.float64)) for row in rows.tolist()]
    found.sort(key=lambda one: -one[0])
    return [rows for _, rows in found[:MOST_SEEDS]]


@lru_cache(maxsize=8)
def _slopes(
    height: int, count: int, strip: float
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """For each slope [count] rows that a line lies further down in each strip, and [height] strips
    in which one through that row of the middle is inside the picture, at least 1."""
    slopes = np.arange(-STEEPEST, STEEPEST + STEP / 2, STEP)
    shifts = np.rint(slopes[:, None] * strip * (np.arange(count) - (count - 1) / 2)).astype(np.intp)
    shifts = np.clip(shifts, -height, height)
    rows = np.arange(height)[:, None]
    return [
        (s, np.maximum(1, ((rows + s >= 0) & (rows + s < height)).sum(1)).astype(np.intp))
        for s in shifts
    ]


def _fitted(
    profiles: NDArray[np.float32], straight: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """[count] row of the curve near a straight line that shows in `SPAN` of its strips; None where
    none does."""
    height, count = profiles.shape
    strips = np.arange(count)
    powers = np.vander(strips / count - 0.5, DEGREE + 1, increasing=True)
    steps = np.arange(-NEAR, NEAR + 1)
    rows = straight
    for turn in range(4):
        near = np.rint(rows).astype(int) + steps[:, None]
        inside = (near >= 0) & (near < height)
        weights = np.where(inside, profiles[np.clip(near, 0, height - 1), strips], 0)
        highest = weights.max(0)
        shown = highest > 0
        if shown.sum() < max(4, SEED * inside[NEAR].sum()):
            return None
        if turn:  # ink beside a line must not draw it off
            weights = np.minimum(weights, np.quantile(highest[shown], BARE))
        centers = (weights * near).sum(0)[shown] / weights.sum(0)[shown]
        if turn == 3:
            true = np.abs(centers - rows[shown]) < STRAIGHT
            return rows if true.sum() >= SPAN * inside[NEAR].sum() else None
        basis = powers[:, : 3 if turn and shown.sum() >= LEAST_STRIPS else 2]
        for kept in (np.ones(len(centers), np.bool_), None):
            if kept is None:
                away = np.abs(centers - rows[shown])
                kept = away <= max(0.4, float(np.median(away)))
            fitted = np.linalg.lstsq(basis[shown][kept], centers[kept])[0]
            rows = basis @ fitted
    return None


def _line(
    ink: NDArray[np.uint8], rows: NDArray[np.intp], ground: float, grain: float
) -> Line | None:
    """The line along these rows [W], with its level and thickness; None where there is no ink."""
    columns = np.flatnonzero((rows >= 0) & (rows < len(ink)))
    if len(columns) <= CORNER * len(rows):
        return None
    steps = np.arange(-WIDEST, WIDEST + 1)
    places = np.clip(rows[columns] + steps[:, None], 0, len(ink) - 1)
    profile = np.quantile(ink[places, columns], BARE, axis=1)
    profile = profile - min(profile[:WIDEST].min(), profile[WIDEST + 1 :].min())
    near = slice(WIDEST - OFF, WIDEST + OFF + 1)
    middle = WIDEST - OFF + int(profile[near].argmax())
    level = float(profile[middle])
    noise = 1.3 * grain / np.sqrt(len(columns))
    if level < max(FAINTEST, CLEAR * noise):
        return None
    least = max(0.15 * level, 2 * noise, 1.0)
    above = below = 0
    while middle - above > 0 and profile[middle - above] > least:
        above += 1
    while middle + below < len(profile) - 1 and profile[middle + below] > least:
        below += 1
    if above + below > WIDEST * 1.5:
        return None
    along = ink[np.clip(rows[columns] + steps[middle], 0, len(ink) - 1), columns]
    level = float(np.quantile(along, 0.6)) - ground
    return Line(rows + int(steps[middle]), max(level, 1.0), above, below)
