"""What surrounds a page, lies on it or happened to it: borders, desks, holes, thumbs, creases.

Lengths are in heights of a symbol unless they say otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray

from .paper import Shot, dots, shift

Room = tuple[float, float, float, float]
"""Paper beyond the margins: left, top, right, below."""
SIDES = ("left", "top", "right", "below")
DESKS = {
    "wood": (94, 64, 42),
    "light wood": (168, 128, 88),
    "dark": (38, 38, 42),
    "gray": (110, 112, 116),
    "green mat": (38, 84, 60),
    "red cloth": (124, 40, 44),
    "blue cloth": (44, 58, 104),
    "white": (214, 214, 210),
}
"""RGB of what sheets lie on."""
SKIN = np.array([206, 158, 132], np.float32)


def on_side(side: str, amount: float) -> Room:
    """`amount` on one side, nothing elsewhere."""
    left, top, right, below = (amount if side == one else 0.0 for one in SIDES)
    return left, top, right, below


@dataclass(frozen=True)
class Holes:
    """Punch holes, or those of a spiral."""

    count: int = 2
    side: str = "left"
    size: float = 0.5
    """Diameter."""
    gap: float = 0.7
    """Distance from the page's edge."""
    level: float = 40.0
    """Brightness of what shows through, of 255."""

    def room(self, symbol: float) -> Room:
        return on_side(self.side, (self.gap + self.size + 0.4) * symbol)

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        height, width = shot.size
        long, wide = (height, width) if self.side in ("left", "right") else (width, height)
        from_edge = (self.gap + self.size / 2) * shot.symbol
        across = from_edge if self.side in ("left", "top") else wide - from_edge
        places = (np.arange(self.count) + 0.5 + rng.uniform(-0.1, 0.1)) / self.count * long
        radius = min(self.size * shot.symbol / 2, 0.4 * long / self.count)
        centers = np.column_stack([np.full(self.count, across), places])
        if self.side in ("top", "below"):
            centers = centers[:, ::-1]
        cover = dots(centers, shot.size, radius)[..., None]
        shot.pixels += cover * (np.float32(self.level) - shot.pixels)


@dataclass(frozen=True)
class Thumb:
    """A finger that holds the sheet, at one of its edges."""

    side: str = "below"
    size: float = 1.5
    """Width."""
    reach: float = 1.2
    """Distance it reaches into the picture."""
    shade: float = 1.0
    """Brightness of the skin, of 1."""

    def room(self, symbol: float) -> Room:
        return on_side(self.side, (self.reach + 0.5) * symbol)

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        height, width = shot.size
        at = rng.uniform(0.2, 0.8)
        middle = {
            "left": (0.0, at * height),
            "right": (float(width), at * height),
            "top": (at * width, 0.0),
            "below": (at * width, float(height)),
        }[self.side]
        upright = self.side in ("top", "below")
        radii = np.array([self.size / 2, self.reach] if upright else [self.reach, self.size / 2])
        x, y = shot.grid()
        far = ((x - middle[0]) / (radii[0] * shot.symbol)) ** 2
        far += ((y - middle[1]) / (radii[1] * shot.symbol)) ** 2
        cover = np.clip((1.0 - np.sqrt(far)) * radii.min() * shot.symbol / 2, 0, 1)[..., None]
        light = np.clip(1.05 - 0.45 * far, 0.45, 1)[..., None]
        shadow = 1 - 0.35 * np.exp(-np.maximum(np.sqrt(far) - 1, 0) * 6)[..., None]
        shot.pixels *= shadow.astype(np.float32)
        skin = SKIN * np.float32(self.shade) * light
        shot.pixels += (cover * (skin - shot.pixels)).astype(np.float32)


@dataclass(frozen=True)
class Thing:
    """A dark thing that reaches into the picture: a keyboard, a ruler, another sheet's edge."""

    side: str = "top"
    reach: float = 0.8
    slope: float = 0.0
    """Degrees."""
    level: float = 50.0
    teeth: float = 0.0
    """Width of its keys or divisions; 0 for a plain edge."""

    def room(self, symbol: float) -> Room:
        return on_side(self.side, (self.reach + 0.4) * symbol)

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        height, width = shot.size
        upright = self.side in ("left", "right")
        long, wide = (height, width) if upright else (width, height)
        slope = np.tan(np.radians(self.slope))
        at = np.arange(long, dtype=np.float32)
        # Where it slopes, it comes in at one end only.
        edge = self.reach * shot.symbol - slope * (at if slope > 0 else at - long)
        inside = np.arange(wide, dtype=np.float32)[None, :] < edge[:, None]
        level = np.full((long, wide), self.level, np.float32)
        if self.teeth > 0:
            step = self.teeth * shot.symbol
            level += np.where(at % step < 0.12 * step, np.float32(70), np.float32(0))[:, None]
        if not upright:
            inside, level = inside.T, level.T
        if self.side == "right":
            inside, level = inside[:, ::-1], level[:, ::-1]
        if self.side == "below":
            inside, level = inside[::-1], level[::-1]
        soft = cv2.GaussianBlur(np.ascontiguousarray(inside, np.float32), (0, 0), 0.8)
        cover = np.asarray(soft, np.float32)[..., None]
        shot.pixels += cover * (np.ascontiguousarray(level)[..., None] - shot.pixels)


@dataclass(frozen=True)
class PrintedText:
    """A line of a printed text."""

    side: str = "top"
    distance: float = 1.2
    size: float = 0.4
    """Height of its letters."""
    words: int = 3

    WORDS: ClassVar = ("Exercise", "Solution", "of", "the", "chapter", "7", "page", "14", "Name:")

    def room(self, symbol: float) -> Room:
        return on_side(self.side, (self.distance + 2 * self.size) * symbol)

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        text = " ".join(self.WORDS[int(n)] for n in rng.integers(0, len(self.WORDS), self.words))
        font, letter = cv2.FONT_HERSHEY_COMPLEX, self.size * shot.symbol
        scale = letter / 22.0
        thick = max(1, round(letter / 12))
        (width, _), _ = cv2.getTextSize(text, font, scale, thick)
        if width > 0.95 * shot.size[1]:
            scale *= 0.95 * shot.size[1] / width
        x = rng.uniform(0.02, 0.2) * shot.size[1]
        edge = 1.4 * letter
        y = edge if self.side == "top" else shot.size[0] - 0.5 * letter
        canvas = np.zeros(shot.size, np.uint8)
        cv2.putText(canvas, text, (round(x), round(y)), font, scale, 255, thick, cv2.LINE_AA)
        cover = canvas.astype(np.float32)[..., None] / 255
        shot.pixels += cover * (np.float32(32) - shot.pixels)


@dataclass(frozen=True)
class Crease:
    """Folds of the sheet, each a dark line beside a light one."""

    folds: int = 2
    depth: float = 25.0
    """Of 255."""
    width: float = 0.08

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        x, y = shot.grid()
        for _ in range(self.folds):
            angle = rng.uniform(0, np.pi)
            middle = rng.uniform(0.15, 0.85, 2) * shot.size[::-1]
            off = (x - middle[0]) * np.cos(angle) + (y - middle[1]) * np.sin(angle)
            off /= max(1.0, self.width * shot.symbol)
            light = self.depth * (np.exp(-((off - 1) ** 2)) - np.exp(-((off + 1) ** 2)))
            shade = 0.3 * self.depth * np.tanh(off / 12)
            shot.pixels += (light + shade).astype(np.float32)[..., None]


@dataclass(frozen=True)
class Stain:
    """The ring or blot of a drink."""

    size: float = 2.5
    strength: float = 0.2
    ring: float = 0.7
    """Share that is ring."""

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        far = shot.distance(rng) / (self.size * shot.symbol / 2)
        inside = 1 / (1 + np.exp((far - 1) * 18))
        rim = np.exp(-(((far - 0.97) / 0.06) ** 2))
        cover = self.strength * ((1 - self.ring) * inside + self.ring * rim)
        lost = 1 - cover.astype(np.float32)[..., None] * np.array([0.35, 0.6, 0.85], np.float32)
        shot.pixels *= lost


@dataclass(frozen=True)
class Border:
    """A border of a scanner, a window or a letterbox, in pixels."""

    width: float = 10.0
    level: float = 6.0
    """Brightness, of 255."""
    sides: str = "left top right below"

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        wide = [round(self.width) if side in self.sides.split() else 0 for side in SIDES]
        shot.pad(wide, [self.level] * 3)


@dataclass(frozen=True)
class Desk:
    """The surface below the sheet, with the sheet's shadow."""

    desk: str = "wood"
    around: float = 0.4
    """Width on each side, as a share of the sheet's shorter side and at least 12 pixels."""
    turn: float = 0.0
    """Degrees."""
    texture: float = 3.0
    """Deviation of its brightness, of 255."""
    shadow: float = 0.3
    """Light that is lost beside the sheet."""

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        height, width = shot.size
        angle = np.radians(self.turn)
        cos, sin = np.cos(angle), np.sin(angle)
        around = max(12.0, self.around * min(height, width))
        grown = np.array([[abs(cos), abs(sin)], [abs(sin), abs(cos)]]) @ (width, height)
        wide, high = np.ceil(grown + 2 * around).astype(int).tolist()
        turning = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
        matrix = shift(wide / 2, high / 2) @ turning @ shift(-width / 2, -height / 2)
        sheet = Shot(np.ones((height, width, 3), np.float32), np.eye(3), shot.symbol)
        sheet.warp(matrix, (high, wide), (0.0, 0.0, 0.0))
        shot.warp(matrix, (high, wide), (0.0, 0.0, 0.0))
        desk = _surface((high, wide), DESKS[self.desk], self.texture, rng)
        soft = max(2.0, 0.1 * shot.symbol)
        cast = np.roll(sheet.pixels[..., 0], (round(soft), round(soft)), (0, 1))
        cast = np.asarray(cv2.GaussianBlur(cast, (0, 0), soft), np.float32)
        desk *= 1 - np.float32(self.shadow) * cast[..., None]
        shot.pixels += (1 - sheet.pixels) * desk


def _surface(
    size: Sequence[int], color: Sequence[float], texture: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """[H, W, 3] a grained surface, its grain drawn out to one side."""
    grain = rng.standard_normal(tuple(size), np.float32)
    along = np.asarray(cv2.GaussianBlur(grain, (0, 0), sigmaX=12, sigmaY=0.8), np.float32)
    along /= max(float(along.std()), 1e-6)
    mixed = np.float32(texture) * (0.5 * grain + along)
    return np.array(color, np.float32) + mixed[..., None]
