"""The camera and the light: turned and twisted pictures, shadows, blur, noise, compression."""

from dataclasses import dataclass
from typing import ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray

from .paper import Shot, shift


@dataclass(frozen=True)
class View:
    """A camera held aslant: the picture shows a part of the page, turned and twisted."""

    turn: float = 0.0
    """Degrees."""
    twist: float = 0.0
    """How far each corner is off, as a share of the page's sides."""

    def spare(self, size: NDArray[np.float64]) -> tuple[int, int]:
        """Paper (x, y) that the picture's corners need on either side, for a page of width and
        height `size`."""
        sin = np.sin(np.radians(abs(self.turn)))
        x, y = np.ceil(sin * size[::-1] / 2 + self.twist * size + 2).astype(int).tolist()
        return x, y

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        height, width = shot.size
        angle = np.radians(self.turn)
        turning = np.array(
            [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
        )
        corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
        off = (
            rng.uniform(-1, 1, (4, 2))
            * self.twist
            * (np.array([width, height]) - 2 * np.array(shot.spare))
        )
        seen = (corners + off).astype(np.float32)
        twisting = cv2.getPerspectiveTransform(corners, seen).astype(np.float64)
        matrix = twisting @ shift(width / 2, height / 2) @ turning @ shift(-width / 2, -height / 2)
        x, y = shot.spare
        shot.warp(shift(-x, -y) @ matrix, (height - 2 * y, width - 2 * x), ())


@dataclass(frozen=True)
class Shadow:
    """The edge of a shadow across the picture."""

    depth: float = 0.4
    """Share of the light that is lost."""
    softness: float = 0.05
    """Softness of the edge, as a share of the picture's size."""

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        slant = _across(shot.size, rng.uniform(0, 2 * np.pi)) - rng.uniform(-0.2, 0.2)
        light = 1 - self.depth / (1 + np.exp(-slant / max(self.softness, 1e-3)))
        shot.pixels *= light.astype(np.float32)[..., None]


@dataclass(frozen=True)
class Slope:
    """Light that falls off from one side to the other."""

    depth: float = 0.4

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        slant = _across(shot.size, rng.uniform(0, 2 * np.pi)) + 0.5
        shot.pixels *= (1 - self.depth * np.clip(slant, 0, 1)).astype(np.float32)[..., None]


@dataclass(frozen=True)
class Vignette:
    """Corners that are darker than the middle."""

    depth: float = 0.5
    power: float = 3.0

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        height, width = shot.size
        x, y = np.linspace(-1, 1, width)[None, :], np.linspace(-1, 1, height)[:, None]
        far = np.sqrt((x**2 + y**2) / 2) ** self.power
        shot.pixels *= (1 - self.depth * far).astype(np.float32)[..., None]


@dataclass(frozen=True)
class Glare:
    """The bright spot of a lamp."""

    strength: float = 60.0
    """Light that it adds, of 255."""
    size: float = 0.3
    """Radius, as a share of the picture's shorter side."""

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        far = shot.distance(rng) / (self.size * min(shot.size))
        shot.pixels += (self.strength * np.exp(-(far**2))).astype(np.float32)[..., None]


@dataclass(frozen=True)
class Cast:
    """Light of a color."""

    lamp: str = "bulb"
    strength: float = 0.5

    LAMPS: ClassVar = {
        "bulb": (1.0, 0.84, 0.58),
        "tube": (0.88, 1.0, 0.86),
        "sky": (0.78, 0.9, 1.0),
        "neon": (1.0, 0.75, 0.95),
    }

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        lamp = np.array(self.LAMPS[self.lamp], np.float32)
        shot.pixels *= 1 - np.float32(self.strength) * (1 - lamp)


@dataclass(frozen=True)
class Blur:
    """A camera out of focus or moved; in heights of a symbol."""

    focus: float = 0.0
    """Deviation of the blur."""
    motion: float = 0.0
    """Length of the way."""

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        focus, motion = self.focus * shot.symbol, self.motion * shot.symbol
        if focus > 0.2:
            shot.pixels = np.asarray(cv2.GaussianBlur(shot.pixels, (0, 0), focus), np.float32)
        if motion > 1.0:
            side = 2 * round(motion / 2) + 1
            way = np.zeros((side, side), np.float32)
            angle, middle = rng.uniform(0, np.pi), side // 2
            step = np.array([np.cos(angle), np.sin(angle)]) * motion / 2
            ends = [tuple(np.round(middle + sign * step).astype(int).tolist()) for sign in (-1, 1)]
            cv2.line(way, ends[0], ends[1], 1.0, 1, cv2.LINE_AA)
            shot.pixels = np.asarray(cv2.filter2D(shot.pixels, -1, way / way.sum()), np.float32)


@dataclass(frozen=True)
class Noise:
    """Noise of the sensor, in each color for itself."""

    gray: float = 2.0
    """Deviation, of 255."""
    color: float = 0.0

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        if self.gray > 0:
            gray = rng.standard_normal(shot.size, np.float32)
            shot.pixels += np.float32(self.gray) * gray[..., None]
        if self.color > 0:
            coarse = rng.standard_normal((*(side // 2 + 1 for side in shot.size), 3), np.float32)
            fine = cv2.resize(coarse, shot.size[::-1], interpolation=cv2.INTER_LINEAR)
            shot.pixels += np.float32(self.color) * np.asarray(fine, np.float32)


@dataclass(frozen=True)
class Screen:
    """Stripes of a photographed screen, or of a cheap printer."""

    depth: float = 8.0
    """Of 255."""
    period: float = 4.0
    """Pixels."""

    def __call__(self, shot: Shot, rng: np.random.Generator) -> None:
        angle = rng.uniform(0, np.pi)
        x, y = shot.grid()
        phase = (x * np.cos(angle) + y * np.sin(angle)) * 2 * np.pi / self.period
        shot.pixels += (self.depth * np.sin(phase)).astype(np.float32)[..., None]


@dataclass(frozen=True)
class Jpeg:
    """Lossy compression of the file; 100 is PNG."""

    quality: int = 90


def _across(size: tuple[int, int], angle: float) -> NDArray[np.float64]:
    """[H, W] from -0.7 to 0.7 in the direction of `angle`, through 0 in the middle."""
    x, y = np.linspace(-0.5, 0.5, size[1])[None, :], np.linspace(-0.5, 0.5, size[0])[:, None]
    return np.asarray(x * np.cos(angle) + y * np.sin(angle))
