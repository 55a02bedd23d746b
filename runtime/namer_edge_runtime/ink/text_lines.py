"""Text line segmentation: where a page of several formulas may be cut between two lines.

It works on shapes, each the points [n, 2] (x, y) of a stroke or of the contour of a connected
component, in one unit, y growing downwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from ..preprocessing import turned
from .strokes import extents, typical_height

Shapes = Sequence[NDArray[np.floating]]

SLOPES = np.radians(np.arange(-8.0, 8.5, 0.5))
"""Slopes of the straight cuts that are tried."""
CLEAR = 0.12
"""Least gap between two lines, in symbol heights."""
FLAT = 3.0
"""A shape so many times wider than high may be a fraction bar, where it is `LEAST_BAR` symbol
heights wide."""
LEAST_BAR = 0.4
EQUALS, ALIKE = 0.6, 2.5
"""Two bars that are at most so many symbol heights apart, and neither so many times wider than the
other, are an equals sign."""
REACH = 0.5, 0.35
"""Numerator and denominator are at most the first, in symbol heights, and the second of the bar's
width away from it, and never more than its width."""
TOUCHING = 0.08
"""Symbol heights that a bar may be away from the rest of its symbol."""
SHORT, APART = 1.6, 0.5
"""A bar below this width, in symbol heights, is a part of what it is near to, as of T or ±, where
the other side is this much, and three times as far, away from it."""
BODY = 0.3
"""Height in symbol heights from which a shape is no dot."""
MOST_CUTS = 64
"""Cuts that are looked at, the widest of all."""
MANY = 4
"""Symbols, and symbol heights of width, from which a side tells how it slopes."""
WEIGHTS = {
    "constant": -2.52,
    "gap": 3.13,
    "lower symbols against higher ones": 6.81,
    "width of the narrower side": -1.18,
    "share of it beside the other": 1.37,
    "number of symbols, where fewer": 1.79,
    "height of the lower side": -1.26,
    "height of the higher side, over 4": -1.02,
    "tilt": -2.25,
    "symbols of the narrower side against the other's": 0.79,
    "height of the narrower side": 1.0,
}
"""Weight of each feature of a cut, lengths as logarithms of symbol heights: fitted on the training
ink of CROHME, alone and composed to pages."""
SCORE_WEIGHT, LEAST_SCORE = -0.41, 8e-7
"""Weight of the logarithm of the uncut score, and the least score that counts."""
LEAST_LOG_ODDS, LEAST_AMONG_LINES = 0.0, -1.8
"""Least log-odds of a cut in a whole page, and in a part of a page that was cut before. A single
formula is split only without doubt."""


@dataclass(frozen=True)
class Cut:
    """A straight cut through the white between the shapes of a page."""

    above: NDArray[np.bool_]
    """[shapes] which of them lie above it."""
    log_odds: float
    """That two lines are parted, as far as the shapes tell."""

    def holds(self, score: float, among_lines: bool = False) -> bool:
        """Whether it parts two lines although, uncut, both sides are read with this score; more
        readily `among_lines`, where what is cut is a part of a page that has several."""
        least = LEAST_AMONG_LINES if among_lines else LEAST_LOG_ODDS
        return self.log_odds + SCORE_WEIGHT * log(max(score, LEAST_SCORE)) > least


def best_cut(shapes: Shapes) -> Cut | None:
    """The likeliest cut between two lines, or None where there can be none.

    A cut is straight, slopes by at most 8 degrees and leaves a gap of at least `CLEAR`; both sides
    hold a symbol, and no fraction bar has its numerator above and its denominator below. How
    likely it is, is a logistic regression on gap, sizes and extents of both sides (`WEIGHTS`).
    """
    if len(shapes) < 2:
        return None
    height = typical_height(extents(shapes))
    if height <= 0:
        return None
    points = np.concatenate(shapes).astype(np.float64) / height
    starts = np.cumsum([0, *map(len, shapes[:-1])])
    found = [
        Cut(above, page.log_odds(gap))
        for gap, slope, above in _straight(points, starts)
        if (page := _Page.of(points, starts, slope, above)).parted()
    ]
    return max(found, key=lambda cut: cut.log_odds, default=None)


def _straight(
    points: NDArray[np.float64], starts: NDArray[np.intp]
) -> list[tuple[float, float, NDArray[np.bool_]]]:
    """Gap, slope and upper side of the ways to part the shapes straight, the widest first."""
    across = np.outer(np.cos(SLOPES), points[:, 1]) - np.outer(np.sin(SLOPES), points[:, 0])
    low = np.minimum.reduceat(across, starts, axis=1)
    high = np.maximum.reduceat(across, starts, axis=1)
    order = low.argsort(axis=1, kind="stable")
    reached = np.maximum.accumulate(np.take_along_axis(high, order, 1), axis=1)[:, :-1]
    gaps = np.take_along_axis(low, order, 1)[:, 1:] - reached
    widest: dict[bytes, tuple[float, float, NDArray[np.bool_]]] = {}
    for slope, place in np.argwhere(gaps >= CLEAR):
        above = np.zeros(len(starts), np.bool_)
        above[order[slope, : place + 1]] = True
        gap, key = float(gaps[slope, place]), above.tobytes()
        if key not in widest or gap > widest[key][0]:
            widest[key] = gap, float(SLOPES[slope]), above
    return sorted(widest.values(), key=lambda found: -found[0])[:MOST_CUTS]


@dataclass(frozen=True)
class _Page:
    """A cut, and the boxes of all shapes in symbol heights, turned so that it is level."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    above: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        points: NDArray[np.float64],
        starts: NDArray[np.intp],
        slope: float,
        above: NDArray[np.bool_],
    ) -> "_Page":
        level = turned(points, -slope)
        return cls(np.minimum.reduceat(level, starts), np.maximum.reduceat(level, starts), above)

    @property
    def size(self) -> NDArray[np.float64]:
        return self.high - self.low

    @property
    def center(self) -> NDArray[np.float64]:
        return (self.high + self.low) / 2

    @property
    def bars(self) -> NDArray[np.bool_]:
        width, height = self.size.T
        return (width >= FLAT * height) & (width >= LEAST_BAR)

    @property
    def bodies(self) -> NDArray[np.bool_]:
        """Which shapes are neither dots nor bars."""
        width, height = self.size.T
        return (height >= BODY) & (width < FLAT * height)

    def parted(self) -> bool:
        """Whether both sides hold a symbol, all dots are on the side of the symbol that is nearest,
        and no fraction bar belongs to both."""
        bodies = self.bodies
        if not bodies[self.above].any() or not bodies[~self.above].any():
            return False
        if any(
            self._strays(dot, bodies) for dot in np.flatnonzero(self.size.max(1) < BODY).tolist()
        ):
            return False
        return not any(self._divides(bar) for bar in np.flatnonzero(self.bars).tolist())

    def _strays(self, dot: int, bodies: NDArray[np.bool_]) -> bool:
        """Whether a dot, as of an i, is nearer to a symbol on the other side of the cut."""
        gaps = np.maximum(self.low - self.high[dot], self.low[dot] - self.high).clip(0)
        away = np.hypot(*gaps.T)
        own = self.above == self.above[dot]
        return bool(away[bodies & ~own].min() < away[bodies & own].min())

    def _divides(self, bar: int) -> bool:
        """Whether it is a fraction bar with its numerator above the cut, its denominator below."""
        left, top = self.low[bar]
        right, bottom = self.high[bar]
        width, middle = right - left, (top + bottom) / 2
        center, others = self.center, np.arange(len(self.low)) != bar
        common = np.minimum(self.high[:, 0], right) - np.maximum(self.low[:, 0], left)
        narrower = np.minimum(self.size[:, 0], width)
        twins = others & self.bars & (common > narrower / 2)
        twins &= np.abs(center[:, 1] - middle) < EQUALS
        twins &= np.maximum(self.size[:, 0], width) < ALIKE * narrower
        twins &= self.above == self.above[bar]
        if twins.any():
            return False
        edge = 0.1 * width
        inside = others & (center[:, 0] > left - edge) & (center[:, 0] < right + edge)
        over = inside & (center[:, 1] < middle)
        under = inside & (center[:, 1] > middle)
        own = self.above == self.above[bar]
        # Between the bar and the cut there is nothing of its own side.
        facing = (
            under & (self.low[:, 1] > middle)
            if self.above[bar]
            else over & (self.high[:, 1] < middle)
        )
        if (facing & own).any():
            return False
        over &= self.above
        under &= ~self.above
        if not over.any() or not under.any():
            return False
        if self._is_part(bar, others & own):
            return False
        upper, lower = top - self.high[over, 1].max(), self.low[under, 1].min() - bottom
        near, far = (upper, lower) if self.above[bar] else (lower, upper)
        if width < SHORT and far > APART + 3 * max(near, 0.0):
            return False
        return bool(max(upper, lower) < min(width, REACH[0] + REACH[1] * width))

    def _is_part(self, bar: int, others: NDArray[np.bool_]) -> bool:
        """Whether a bar belongs to a root sign, Σ, π or T: one of the `others` begins left of its
        end, or has half its width, and touches it from the side away from the cut."""
        left, right = self.low[bar, 0], self.high[bar, 0]
        common = np.minimum(self.high[:, 0], right) - np.maximum(self.low[:, 0], left)
        joined = (2 * common > right - left) | (
            (self.low[:, 0] < left + TOUCHING) & (self.high[:, 0] > left - TOUCHING)
        )
        if self.above[bar]:
            gaps, beyond = self.low[bar, 1] - self.high[:, 1], self.low[bar, 1] - self.low[:, 1]
        else:
            gaps, beyond = self.low[:, 1] - self.high[bar, 1], self.high[:, 1] - self.high[bar, 1]
        return bool((others & joined & (gaps < TOUCHING) & (beyond > BODY)).any())

    def log_odds(self, gap: float) -> float:
        """Of the cut, of this gap, parting two lines."""
        one, other = self._side(self.above), self._side(~self.above)
        narrow, wide = sorted((one, other), key=lambda side: side.width)
        heights = sorted((one.symbol, other.symbol))
        common = min(one.right, other.right) - max(one.left, other.left)
        features = (
            1.0,
            log(np.clip(gap, 0.1, 2)),
            log(np.clip(heights[0] / max(heights[1], 1e-6), 0.2, 1)),
            log(np.clip(narrow.width, 0.3, 8)),
            float(np.clip(common / max(0.3, narrow.width), -1, 1)),
            log(np.clip(min(one.symbols, other.symbols), 1, 6)),
            log(np.clip(min(one.height, other.height), 0.3, 4)),
            log(np.clip(max(one.height, other.height) / 4, 0.25, 3)),
            min(max(one.tilt, other.tilt), 0.3),
            log(np.clip(narrow.symbol / max(wide.symbol, 1e-6), 0.2, 2)),
            log(np.clip(narrow.height, 0.3, 4)),
        )
        return float(np.dot(list(WEIGHTS.values()), features))

    def _side(self, own: NDArray[np.bool_]) -> "_Side":
        low, high = self.low[own].min(0), self.high[own].max(0)
        bodies = own & self.bodies
        x, y = self.center[bodies].T
        tilted = len(x) >= MANY and high[0] - low[0] > MANY
        tilt = abs(float(np.polyfit(x, y, 1)[0])) if tilted else 0.0
        symbol = typical_height(self.size[own])
        (left, top), (right, bottom) = low.tolist(), high.tolist()
        return _Side(left, top, right, bottom, symbol, int(bodies.sum()), tilt)


@dataclass(frozen=True)
class _Side:
    """What lies above a cut, or below it, in symbol heights of the page."""

    left: float
    top: float
    right: float
    bottom: float
    symbol: float
    """Height of a typical symbol."""
    symbols: int
    tilt: float
    """Slope of the line through the symbols' centers against the cut; 0 where they are few."""

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top
