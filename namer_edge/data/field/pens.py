"""Ink on a page to be: the formula with its pen, and what else was written round it.

Lengths are in pixels of the page; those of a mark are in heights of a symbol, so that a mark grows
with the writing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.ink.strokes import Stroke, Strokes, as_strokes, bounds, symbol_height
from namer_edge_runtime.preprocessing import turned

Color = tuple[float, float, float]
COLORS: dict[str, Color] = {
    "black": (32, 32, 40),
    "blue": (34, 48, 138),
    "bright blue": (40, 90, 200),
    "red": (190, 34, 40),
    "green": (28, 110, 60),
    "violet": (96, 40, 130),
    "orange": (225, 120, 30),
    "graphite": (70, 70, 74),
    "yellow": (250, 235, 90),
    "rose": (250, 150, 190),
    "chalk": (228, 228, 220),
    "yellow chalk": (235, 220, 140),
}
"""RGB of inks."""


@dataclass(frozen=True)
class Layer:
    """Strokes that one pen wrote."""

    strokes: Strokes
    width: float
    color: Color
    strength: float = 1.0
    """Share of the paper's light that the pen covers."""
    texture: float = 0.0
    """Strength of the paper's grain in the stroke, as that of pencil."""
    swell: float = 0.0
    """Change of width along a stroke, as that of a brush or fountain pen."""
    blur: float = 0.0
    behind: bool = False
    """Whether it lies behind the ink, as a highlighter's or what shines through the paper."""


@dataclass
class Writing:
    """The layers of a page; the first is the formula, its box's corner at the origin."""

    layers: list[Layer]
    symbol: float
    """Height of a typical symbol."""
    size: NDArray[np.float64]
    """[2] width and height of the formula."""
    map: NDArray[np.float64]
    """[3, 3] homogeneous, from the ink's coordinates to those of the layers."""

    @property
    def pen(self) -> Layer:
        return self.layers[0]

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """x0, y0, x1, y1 of all layers, from the middle of their lines."""
        boxes = np.array([bounds(layer.strokes) for layer in self.layers])
        return (*boxes[:, :2].min(0).tolist(), *boxes[:, 2:].max(0).tolist())

    def add(self, lines: Sequence[NDArray[np.floating]], **other: object) -> None:
        """Writes `lines` with the formula's pen, or one that is `other`."""
        self.layers.append(replace(self.pen, strokes=as_strokes(lines), **other))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Pen:
    """The pen, and the size that it writes in."""

    symbol: float = 60.0
    """Height of a typical symbol, in pixels."""
    width: float = 0.065
    """In heights of a symbol."""
    color: str = "black"
    strength: float = 1.0
    texture: float = 0.0
    swell: float = 0.0

    def writing(self, strokes: Strokes, largest: float) -> Writing:
        """The formula alone, at `self.symbol`, or smaller so that it covers `largest` pixels with
        a symbol's height round it."""
        x0, y0, x1, y1 = bounds(strokes)
        height = symbol_height(strokes) or max(x1 - x0, y1 - y0) or 1.0
        cells = ((x1 - x0) / height + 2) * ((y1 - y0) / height + 2)
        symbol = min(self.symbol, float(np.sqrt(largest / cells)))
        scale = symbol / height
        placed = [((stroke - (x0, y0)) * scale).astype(np.float32) for stroke in strokes]
        layer = Layer(
            placed,
            max(1.0, self.width * symbol),
            COLORS[self.color],
            self.strength,
            self.texture,
            self.swell,
        )
        map_ = np.array([[scale, 0, -x0 * scale], [0, scale, -y0 * scale], [0, 0, 1]])
        return Writing([layer], symbol, np.array([x1 - x0, y1 - y0]) * scale, map_)


def by_hand(
    corners: Sequence[tuple[float, float]], symbol: float, wobble: float, rng: np.random.Generator
) -> Stroke:
    """A line through `corners` as a hand draws it, `wobble` symbol heights off at most places."""
    points = np.array(corners, np.float64)
    lengths = np.hypot(*np.diff(points, axis=0).T)
    along = np.concatenate([[0], np.cumsum(lengths)])
    count = max(8, int(along[-1] / (0.12 * symbol)))
    at = np.linspace(0, along[-1], count)
    line = np.stack([np.interp(at, along, points[:, axis]) for axis in (0, 1)], axis=1)
    slow = rng.normal(0, wobble * symbol, (max(3, count // 8), 2))
    knots = np.linspace(0, along[-1], len(slow))
    line += np.stack([np.interp(at, knots, slow[:, axis]) for axis in (0, 1)], axis=1)
    line += rng.normal(0, 0.15 * wobble * symbol, line.shape)
    return line.astype(np.float32)


@dataclass(frozen=True)
class SecondPen:
    """A second pen, or another pressure, for the formula's last strokes."""

    color: str = ""
    strength: float = 1.0
    share: float = 0.5
    """Of the strokes."""

    def write(self, page: Writing, rng: np.random.Generator) -> None:
        strokes = page.pen.strokes
        first = round(len(strokes) * (1 - self.share))
        if not 0 < first < len(strokes):
            return
        page.layers[0] = replace(page.pen, strokes=strokes[:first])
        color = COLORS[self.color] if self.color else page.pen.color
        page.add(strokes[first:], color=color, strength=page.pen.strength * self.strength)


@dataclass(frozen=True)
class Frame:
    """A box or ellipse round the formula, drawn by hand or by a program."""

    shape: str = "box"
    gap: float = 0.5
    """Between formula and frame."""
    width: float = 1.0
    """In widths of the pen."""
    color: str = ""
    wobble: float = 0.02
    dash: float = 0.0
    """Length of the dashes of a selection; 0 for an unbroken line."""

    def write(self, page: Writing, rng: np.random.Generator) -> None:
        gap = self.gap * page.symbol
        x0 = y0 = -gap
        x1, y1 = (page.size + gap).tolist()
        if self.shape == "box":
            over = rng.uniform(-0.05, 0.1, 2) * page.symbol
            corners = [(x0, y0 - over[0]), (x0, y1), (x1, y1), (x1, y0), (x0 - over[1], y0)]
        else:
            start, turns = rng.uniform(0, 2 * np.pi), rng.uniform(0.99, 1.06)
            angles = start + np.linspace(0, 2 * np.pi * turns, 90)
            ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
            # Between ellipse and rounded box, round the formula's corners.
            power = rng.uniform(2.0, 3.5)
            radii = page.size / 2 * 2 ** (1 / power) + gap
            ring = page.size / 2 + radii * np.sign(ways) * np.abs(ways) ** (2 / power)
            corners = [(x, y) for x, y in ring.tolist()]
        line = by_hand(corners, page.symbol, self.wobble, rng)
        lines = [line] if self.dash <= 0 else dashed(line, self.dash * page.symbol)
        color = COLORS[self.color] if self.color else page.pen.color
        page.add(lines, width=max(1.0, self.width * page.pen.width), color=color, texture=0.0)


def dashed(line: Stroke, length: float) -> Strokes:
    """A line cut into dashes of `length` with gaps as long."""
    line = dense(line, length / 8)
    at = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    number = np.floor(at / length).astype(int)
    pieces = [line[number == one] for one in range(0, int(number.max()) + 1, 2)]
    return [piece for piece in pieces if len(piece) > 1] or [line]


@dataclass(frozen=True)
class Underline:
    """Lines under the whole result."""

    count: int = 2
    gap: float = 0.4
    between: float = 0.15
    width: float = 1.0
    color: str = ""
    slope: float = 0.0
    """Degrees."""

    def write(self, page: Writing, rng: np.random.Generator) -> None:
        lines = []
        for number in range(self.count):
            y = page.size[1] + (self.gap + number * self.between) * page.symbol
            x0, x1 = rng.uniform(-0.3, 0.1, 2) * page.symbol * (1, -1) + (0, page.size[0])
            line = by_hand([(x0, y), (x1, y)], page.symbol, 0.015, rng)
            middle = np.array([page.size[0] / 2, y], np.float32)
            lines.append(turned(line - middle, np.radians(self.slope)) + middle)
        color = COLORS[self.color] if self.color else page.pen.color
        page.add(lines, width=max(1.0, self.width * page.pen.width), color=color)


@dataclass(frozen=True)
class CrossedOut:
    """Signs that the writer crossed out, before or after the formula."""

    distance: float = 0.8
    style: str = "zigzag"
    signs: int = 1
    side: str = "after"

    def write(self, page: Writing, rng: np.random.Generator) -> None:
        signs = _signs(page, self.signs, rng)
        width, height = np.array(bounds(signs))[2:]
        gap = self.distance * page.symbol
        x = page.size[0] + gap if self.side == "after" else -gap - width
        y = (page.size[1] - height) / 2
        grown = 0.12 * page.symbol
        x0, y0, x1, y1 = x - grown, y - grown, x + width + grown, y + height + grown
        if self.style == "cross":
            over = [[(x0, y0), (x1, y1)], [(x1, y0), (x0, y1)]]
        elif self.style == "lines":
            rows = y0 + (y1 - y0) * np.array([0.35, 0.5, 0.65])
            over = [[(x0, row), (x1, row)] for row in rows.tolist()]
        else:
            dense_ = 0.12 if self.style == "zigzag" else 0.07
            steps = np.linspace(x0, x1, max(4, round((x1 - x0) / (dense_ * page.symbol)))).tolist()
            over = [[(at, (y0, y1)[number % 2]) for number, at in enumerate(steps)]]
            if self.style == "scribble":
                over.append([(x0, y1), *((at, (y0, y1)[n % 2]) for n, at in enumerate(steps[::3]))])
        strikes = [by_hand(line, page.symbol, 0.02, rng) for line in over]
        page.add([sign + np.array([x, y], np.float32) for sign in signs] + strikes)


@dataclass(frozen=True)
class FarWriting:
    """Other writing far off: the number of a page, a neighbor's line, a stray sign."""

    distance: float = 3.0
    side: str = "below"
    size: float = 0.6
    """In sizes of the formula's symbols."""
    signs: int = 2

    def write(self, page: Writing, rng: np.random.Generator) -> None:
        signs = [sign * np.float32(self.size) for sign in _signs(page, self.signs, rng)]
        size = np.array(bounds(signs))[2:]
        gap, free = self.distance * page.symbol, page.size - size
        x, y = (rng.uniform(min(0, one), max(0, one)) for one in free.tolist())
        if self.side in ("above", "below"):
            y = page.size[1] + gap if self.side == "below" else -gap - size[1]
        else:
            x = page.size[0] + gap if self.side == "right" else -gap - size[0]
        page.add([sign + np.array([x, y], np.float32) for sign in signs])


def _signs(page: Writing, count: int, rng: np.random.Generator) -> Strokes:
    """So many of the formula's strokes that are no dots or bars, if there are others, side by side
    from the origin on."""
    sized = [s for s in page.pen.strokes if np.ptp(s[:, 1]) > 0.4 * page.symbol]
    chosen = sized or page.pen.strokes
    signs: Strokes = []
    x = 0.0
    for _ in range(count):
        sign = chosen[int(rng.integers(len(chosen)))]
        low, high = sign.min(0), sign.max(0)
        shrink = min(1.0, 1.5 * page.symbol / max(1.0, float((high - low).max())))
        signs.append(((sign - low) * shrink + (x, 0)).astype(np.float32))
        x += float(high[0] - low[0]) * shrink + 0.2 * page.symbol
    return signs


@dataclass(frozen=True)
class Highlighter:
    """A broad bright line across the formula."""

    color: str = "yellow"
    width: float = 1.0
    strength: float = 0.6

    def write(self, page: Writing, rng: np.random.Generator) -> None:
        height = page.size[1]
        rows = max(1, round(height / (self.width * page.symbol)))
        lines = []
        for row in range(rows):
            y = height * (row + 0.5) / rows
            over = rng.uniform(0, 0.4, 2) * page.symbol
            ends = [(-over[0], y), (page.size[0] + over[1], y)]
            lines.append(by_hand(ends, page.symbol, 0.03, rng))
        page.add(
            lines,
            width=self.width * page.symbol,
            color=COLORS[self.color],
            strength=self.strength,
            texture=0.0,
            behind=True,
        )


@dataclass(frozen=True)
class ShowThrough:
    """The back of the sheet, which shines through it."""

    strength: float = 0.15
    blur: float = 0.03

    def write(self, page: Writing, rng: np.random.Generator) -> None:
        shift = rng.uniform(-0.5, 0.5, 2) * page.symbol
        mirror = [s * (-1, 1) + (page.size[0], 0) + shift for s in page.pen.strokes]
        strength = self.strength * page.pen.strength
        page.add(mirror, strength=strength, blur=self.blur * page.symbol, behind=True)


@dataclass(frozen=True)
class Erased:
    """Gaps in the strokes, as an eraser leaves them or a dry pen."""

    length: float = 0.08
    gaps: int = 3

    def write(self, page: Writing, rng: np.random.Generator) -> None:
        strokes = with_gaps(page.pen.strokes, self.length * page.symbol, self.gaps, rng)
        page.layers[0] = replace(page.pen, strokes=strokes)


def with_gaps(
    strokes: Sequence[Stroke], length: float, gaps: int, rng: np.random.Generator
) -> Strokes:
    """Strokes with up to `gaps` gaps of `length` in all, at random places inside of long ones."""
    left = [dense(stroke, length / 4) for stroke in strokes]
    for _ in range(gaps):
        long = [n for n, s in enumerate(left) if len(s) > 20]
        if not long:
            break
        number = long[int(rng.integers(len(long)))]
        stroke = left.pop(number)
        at = int(rng.integers(5, len(stroke) - 9))
        left[number:number] = [stroke[:at], stroke[at + 4 :]]
    return left


def dense(stroke: Stroke, step: float) -> Stroke:
    """A stroke with points `step` apart."""
    at = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(stroke, axis=0).T))])
    if at[-1] <= 0:
        return stroke
    places = np.linspace(0, at[-1], max(2, round(float(at[-1]) / step) + 1))
    return np.stack([np.interp(places, at, stroke[:, i]) for i in (0, 1)], axis=1).astype(
        np.float32
    )
