"""Paper with its printed lines and its grain, and the writing on it: a page as a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.ink.render import FRACTION_BITS, draw
from namer_edge_runtime.preprocessing import turned

from .pens import Layer, Writing

Pixels = NDArray[np.float32]
"""[H, W, 3] RGB, 0 to 255."""

TINTS = {
    "white": (1.0, 1.0, 1.0),
    "cream": (1.0, 0.985, 0.945),
    "gray": (0.9, 0.9, 0.91),
    "yellow": (1.0, 0.95, 0.62),
    "green": (0.84, 0.96, 0.82),
    "pink": (1.0, 0.86, 0.88),
    "blue": (0.86, 0.93, 1.0),
    "kraft": (0.82, 0.68, 0.5),
    "green board": (0.55, 0.9, 0.65),
    "black board": (0.9, 0.9, 0.95),
}
"""RGB of papers and boards, as shares of their brightness."""
PRINTS = {
    "blue": (0.45, 0.6, 0.85),
    "gray": (0.6, 0.6, 0.6),
    "violet": (0.6, 0.5, 0.8),
    "red": (0.85, 0.45, 0.45),
    "green": (0.5, 0.75, 0.55),
    "black": (0.25, 0.25, 0.25),
}
"""RGB of printed lines at full strength, as shares of the paper's."""


@dataclass
class Shot:
    """A picture on its way, with the map from the writing's pixels to its own."""

    pixels: Pixels
    map: NDArray[np.float64]
    """[3, 3] homogeneous, coordinates with pixel centers at half integers."""
    symbol: float
    """Height of a typical symbol when it was written, in pixels."""
    spare: tuple[int, int] = (0, 0)
    """Pixels to the left and right, on top and below that a view aslant does not show."""

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.pixels.shape[:2]
        return height, width

    def grid(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """[H, W] x and y of each pixel."""
        rows, columns = np.mgrid[: self.size[0], : self.size[1]].astype(np.float32)
        return columns, rows

    def distance(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """[H, W] of each pixel from a random one that is not near the edges."""
        x, y = self.grid()
        middle = rng.uniform(0.1, 0.9, 2) * self.size[::-1]
        return np.asarray(np.hypot(x - middle[0], y - middle[1]))

    def warp(
        self, matrix: NDArray[np.float64], size: tuple[int, int], ground: Sequence[float]
    ) -> None:
        """Moves everything by `matrix` [3, 3] into a picture [height, width] of `size`; `ground`
        shows where there is none, or its edge where `ground` is empty."""
        center = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
        self.pixels = np.asarray(
            cv2.warpPerspective(
                self.pixels,
                np.linalg.inv(center) @ matrix @ center,
                size[::-1],
                flags=cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_CONSTANT if ground else cv2.BORDER_REPLICATE,
                borderValue=tuple(ground) if ground else 0,
            ),
            np.float32,
        )
        self.map = matrix @ self.map

    def pad(self, sides: Sequence[int], ground: Sequence[float]) -> None:
        """Adds so many pixels to the left, on top, to the right and below."""
        left, top, right, below = sides
        self.pixels = np.asarray(
            cv2.copyMakeBorder(
                self.pixels, top, below, left, right, cv2.BORDER_CONSTANT, value=tuple(ground)
            ),
            np.float32,
        )
        self.map = shift(left, top) @ self.map


def shift(x: float, y: float) -> NDArray[np.float64]:
    """The matrix [3, 3] that moves points by (x, y)."""
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1]], np.float64)


@dataclass(frozen=True)
class Paper:
    """Paper, and how much of it is in the picture; margins are in symbol heights."""

    tone: float = 235.0
    """Brightness, of 255."""
    tint: str = "white"
    grain: float = 0.0
    """Deviation of its brightness from pixel to pixel, of 255."""
    softness: float = 0.0
    """Blur of the grain, in pixels."""
    mottle: float = 0.0
    """Deviation of slow changes of brightness."""
    left: float = 0.8
    top: float = 0.8
    right: float = 0.8
    below: float = 0.8

    def color(self) -> Pixels:
        """[3] RGB."""
        return np.array(TINTS[self.tint], np.float32) * np.float32(self.tone)

    def grains(self, size: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float32]:
        """[H, W] what grain and mottle add."""
        grains = np.zeros(size, np.float32)
        if self.grain > 0:
            fine = rng.standard_normal(size, np.float32)
            if self.softness > 0.3:
                fine = np.asarray(cv2.GaussianBlur(fine, (0, 0), self.softness), np.float32)
                fine /= max(float(fine.std()), 1e-6)
            grains += np.float32(self.grain) * fine
        if self.mottle > 0:
            coarse = rng.standard_normal([side // 24 + 3 for side in size], np.float32)
            slow = cv2.resize(coarse, size[::-1], interpolation=cv2.INTER_CUBIC)
            grains += np.float32(self.mottle) * np.asarray(slow, np.float32)
        return grains


@dataclass(frozen=True)
class Ruling:
    """Printed lines or dots."""

    pattern: str = "squared"
    """squared, ruled, dotted or millimeter."""
    spacing: float = 40.0
    """Pixels."""
    color: str = "blue"
    strength: float = 1.0
    """1: as in `PRINTS`."""
    width: float = 1.2
    """Pixels."""
    turn: float = 0.0
    """Degrees, against the picture's edges."""
    margin_line: float = 0.0
    """Whether there is a red margin line, from one half on."""

    def printed(
        self, size: tuple[int, int], edge: tuple[float, float], rng: np.random.Generator
    ) -> Pixels:
        """[H, W, 3] share of the paper's light that is left; `edge` (x, y) is the corner of the
        writing, beside which a margin line stands."""
        reach = float(np.hypot(*size))
        middle = np.array(size[::-1]) / 2
        along = np.arange(-reach, reach, self.spacing) + rng.uniform(0, self.spacing)
        across = np.arange(-reach, reach, self.spacing) + rng.uniform(0, self.spacing)
        angle = np.radians(self.turn)
        light = np.ones((*size, 3), np.float32)
        if self.pattern == "dotted":
            places = np.stack(np.meshgrid(along, across), axis=-1).reshape(-1, 2)
            places = turned(places, angle) + middle
            inside = ((places > 0) & (places < size[::-1])).all(axis=1)
            marks = dots(places[inside], size, 0.75 * self.width)
        else:
            rows = [[(-reach, at), (reach, at)] for at in across]
            columns = [[(at, -reach), (at, reach)] for at in along]
            lines = rows if self.pattern == "ruled" else rows + columns
            marks = self._lines(lines, angle, middle, size, self.width)
            if self.pattern == "millimeter":
                fifth = np.arange(-reach, reach, self.spacing / 5) + along[0]
                thin = [[(at, -reach), (at, reach)] for at in fifth]
                thin += [[(-reach, at), (reach, at)] for at in fifth - along[0] + across[0]]
                fine = self._lines(thin, angle, middle, size, max(0.5, 0.5 * self.width))
                marks = np.maximum(marks, 0.55 * fine)
        light *= self._covered(marks, self.color)
        if self.margin_line >= 0.5:
            x = edge[0] - rng.uniform(0.3, 0.7) * edge[0] - middle[0]
            line = self._lines([[(x, -reach), (x, reach)]], angle, middle, size, 1.3 * self.width)
            light *= self._covered(line, "red")
        return light

    def _lines(
        self,
        lines: list[list[tuple[float, float]]],
        angle: float,
        middle: NDArray[np.float64],
        size: tuple[int, int],
        width: float,
    ) -> NDArray[np.float32]:
        """[H, W] 0 to 1, of lines about the `middle`."""
        placed = [(turned(np.array(line), angle) + middle).astype(np.float32) for line in lines]
        return np.asarray(draw(placed, size, width) / np.float32(255), np.float32)

    def _covered(self, marks: NDArray[np.float32], color: str) -> Pixels:
        """[H, W, 3] light that is left by `marks` [H, W] in a color."""
        lost = (1 - np.array(PRINTS[color], np.float32)) * np.float32(self.strength)
        return 1 - marks[..., None] * lost


def dots(places: NDArray[np.float64], size: tuple[int, int], radius: float) -> NDArray[np.float32]:
    """[H, W] 0 to 1, a dot of `radius` pixels at each place [n, 2]."""
    canvas = np.zeros(size, np.uint8)
    unit = 1 << FRACTION_BITS
    for x, y in np.round((places - 0.5) * unit).astype(int).tolist():
        cv2.circle(canvas, (x, y), round(radius * unit), 255, -1, cv2.LINE_AA, FRACTION_BITS)
    return np.asarray(canvas / np.float32(255), np.float32)


def develop(
    page: Writing,
    paper: Paper,
    ruling: Ruling | None,
    room: Sequence[float],
    rng: np.random.Generator,
) -> Shot:
    """The page as a picture, with `room` (pixels: left, top, right, below) beyond its margins."""
    x0, y0, x1, y1 = page.bounds
    half = max(layer.width for layer in page.layers) / 2
    margins = np.array([paper.left, paper.top, paper.right, paper.below]) * page.symbol
    left, top, right, below = np.ceil(np.maximum(margins, 2) + half + room).tolist()
    origin = np.array([left - x0, top - y0], np.float32)
    size = (int(np.ceil(y1 - y0 + top + below)), int(np.ceil(x1 - x0 + left + right)))
    pixels = np.broadcast_to(paper.color(), (*size, 3)).astype(np.float32)
    if ruling is not None:
        pixels *= ruling.printed(size, (float(origin[0]), float(origin[1])), rng)
    grains = paper.grains(size, rng)
    pixels += grains[..., None]
    for layer in sorted(page.layers, key=lambda layer: not layer.behind):
        cover = _covered(layer, size, origin, rng)[..., None]
        color = np.array(layer.color, np.float32)
        # What lies behind takes light away; an ink in front is what is seen.
        shown = pixels * color / 255 if layer.behind else color + 0.5 * grains[..., None]
        pixels += cover * (shown - pixels)
    return Shot(pixels, shift(*origin.tolist()), page.symbol)


def _covered(
    layer: Layer, size: tuple[int, int], origin: NDArray[np.float32], rng: np.random.Generator
) -> NDArray[np.float32]:
    """[H, W] share of the page that a layer covers."""
    strokes = [stroke + origin for stroke in layer.strokes]
    cover = draw(strokes, size, layer.width).astype(np.float32) / 255
    if layer.swell > 0:
        for grown in (1 - layer.swell, 1 + layer.swell):
            parts = [
                stroke[at : at + 6]
                for stroke in strokes
                for at in range(0, len(stroke) - 1, 5)
                if (at // 5 % 4 < 2) == (grown > 1)
            ]
            own = draw(parts, size, max(1.0, layer.width * grown)).astype(np.float32) / 255
            cover = own if grown < 1 else np.maximum(cover, own)
    if layer.texture > 0:
        noise = cv2.GaussianBlur(rng.standard_normal(size, np.float32), (0, 0), 0.8)
        noise = np.asarray(noise, np.float32) / max(float(np.std(noise)), 1e-6)
        cover *= 1 - np.clip(layer.texture * (noise + 0.5), 0, 1)
    if layer.blur > 0.3:
        cover = np.asarray(cv2.GaussianBlur(cover, (0, 0), layer.blur), np.float32)
    return np.asarray(cover * layer.strength, np.float32)
