"""Augmentation of ink, scaled to the model's input.

It acts on strokes before rendering, so that the pen width stays realistic.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.bounded import bounded
from namer_edge_runtime.ink.strokes import Strokes, bounds, symbol_height
from namer_edge_runtime.preprocessing import Preprocessing, padded_size

from .formula import Formula

LONG, SHORT = (3.0, 12.0), (0.8, 3.0)
"""Ranges of wavelengths in symbol heights."""


@dataclass(frozen=True)
class Augmentation:
    """Strengths of random augmentation; 0 disables each."""

    scale: float = bounded(0.0, 0, inf)
    """Size times exp(±scale), uniform on the logarithm."""
    aspect: float = bounded(0.0, 0, inf)
    """Width over height times exp(±aspect)."""
    rotation: float = bounded(0.0, 0, inf)
    """Degrees, normally distributed with this deviation, clipped at three of them."""
    shear: float = bounded(0.0, 0, inf)
    """Slant (horizontal shift for one unit of height), deviation."""
    symbol_shift: float = bounded(0.0, 0, inf)
    """Per symbol: shift in symbol heights, deviation; as much in size."""
    symbol_shape: float = bounded(0.0, 0, inf)
    """Per symbol: slant, rotation and stretch, deviation of each entry of its matrix."""
    stroke_shift: float = bounded(0.0, 0, inf)
    """Per stroke: shift in symbol heights, deviation; as much in size."""
    wave: float = bounded(0.0, 0, inf)
    """Smooth waves that bend the plane: amplitude in symbol heights, deviation."""
    ripple: float = bounded(0.0, 0, inf)
    """Amplitude of waves as short as symbols, which bend each one differently."""
    pen: float = bounded(0.0, 0, inf)
    """Pen width times exp(±pen)."""
    scanned: float = bounded(0.0, 0, 1)
    """Share of the ink that is drawn as a scan and prepared as on a device."""
    field: float = bounded(0.0, 0, 1)
    """Share of the ink that is drawn as a picture under field conditions (borders, printed paper,
    marks, light, camera) and prepared as on a device."""

    @property
    def off(self) -> bool:
        """Whether ink is drawn unchanged: the paper's "no augmentation"."""
        return self == Augmentation()


@dataclass(frozen=True)
class ScaledInk:
    """A formula's ink in pixels of the model's input, all P points in one array."""

    points: NDArray[np.float32]
    """[P, 2] pixels."""
    ends: NDArray[np.intp]
    """[strokes - 1] where to split `points` into strokes."""
    symbols: NDArray[np.intp]
    """[P] symbol of each point, from 0; unassigned strokes share the last one."""
    centers: NDArray[np.float32]
    """[S, 2] of the symbols."""
    mobility: NDArray[np.float32]
    """[S, 1] share of the shift that a symbol makes: 1 at full size, less for small signs, so that
    dots stay in place, 0 for unassigned strokes."""
    positions: NDArray[np.float32]
    """[V, 2] of the visual nodes."""

    @classmethod
    def of(cls, formula: Formula, preprocessing: Preprocessing) -> "ScaledInk":
        height = symbol_height(formula.strokes)
        unit = np.float32(preprocessing.symbol_height / height if height > 0 else 1.0)
        x0, y0, _, _ = bounds(formula.strokes)
        origin = np.array([x0, y0], np.float32)
        lengths = [len(stroke) for stroke in formula.strokes]
        points = (np.concatenate(formula.strokes) - origin) * unit
        loose = formula.symbols.max(initial=-1) + 1
        owners = np.repeat(np.where(formula.symbols < 0, loose, formula.symbols), lengths)
        centers = np.zeros((loose + 1, 2), np.float32)
        mobility = np.zeros((loose + 1, 1), np.float32)
        columns = points.T.copy()  # whose reductions are many times as quick as those of rows
        for symbol in np.unique(owners):
            own = columns[:, owners == symbol]
            low, high = own.min(1), own.max(1)
            centers[symbol] = (low + high) / 2
            if symbol != loose:
                mobility[symbol] = min(1.0, float((high - low).max()) / preprocessing.symbol_height)
        return cls(
            points,
            np.cumsum(lengths)[:-1],
            owners.astype(np.intp),
            centers,
            mobility,
            (formula.positions - origin) * unit,
        )


@dataclass(frozen=True)
class Placed:
    """Augmented ink in pixels of the model's input, its box at the origin."""

    points: NDArray[np.float32]
    """[P, 2]."""
    ends: NDArray[np.intp]
    """Indices that split the points into strokes, as in `ScaledInk`."""
    positions: NDArray[np.float32]
    """[V, 2] (x, y) of the visual nodes in path order."""
    extent: NDArray[np.float32]
    """[2] width and height of the ink's box."""
    pen_width: float

    def strokes(self, offset: NDArray[np.float32]) -> Strokes:
        """The strokes moved by `offset` [2]."""
        return np.split(self.points + offset, self.ends)

    def size(self, preprocessing: Preprocessing) -> tuple[int, int]:
        """Padded height and width (pixels), margin included."""
        width, height = np.ceil(self.extent).astype(int) + 2 * preprocessing.margin
        return padded_size(int(height), int(width))


def place(
    ink: ScaledInk,
    preprocessing: Preprocessing,
    augmentation: Augmentation,
    rng: np.random.Generator,
) -> Placed:
    """Augments a formula's ink at random."""
    matrix = linear_map(augmentation, rng)
    symbol = preprocessing.symbol_height
    waves = [
        _waves(augmentation.wave * symbol, symbol, LONG, rng),
        _waves(augmentation.ripple * symbol, symbol, SHORT, rng),
    ]
    points = ink.points
    if augmentation.stroke_shift:
        points = _move_strokes(ink, augmentation.stroke_shift, preprocessing, rng)
    if augmentation.symbol_shift or augmentation.symbol_shape:
        points = _move_symbols(replace(ink, points=points), augmentation, preprocessing, rng)
    points = _bend(points @ matrix.T, waves)
    positions = _bend(ink.positions @ matrix.T, waves)

    low, high = points.min(0), points.max(0)
    extent = np.maximum(high - low, 1.0)
    shrink = np.float32(min(1.0, (room_for(preprocessing) / extent).min()))
    return Placed(
        (points - low) * shrink,
        ink.ends,
        (positions - low) * shrink,
        (high - low) * shrink,
        preprocessing.pen_width * float(np.exp(rng.uniform(-1, 1) * augmentation.pen)),
    )


def room_for(preprocessing: Preprocessing) -> NDArray[np.int64]:
    """[2] largest width and height of ink."""
    return np.array([preprocessing.max_width, preprocessing.max_height]) - 2 * preprocessing.margin


def linear_map(augmentation: Augmentation, rng: np.random.Generator) -> NDArray[np.float32]:
    """[2, 2] random rotation · shear · scale."""
    scale = np.exp(rng.uniform(-1, 1) * augmentation.scale)
    aspect = np.exp(rng.uniform(-1, 1) * augmentation.aspect / 2)
    turn, slant = np.clip(rng.standard_normal(2), -3, 3) * (
        augmentation.rotation,
        augmentation.shear,
    )
    cos, sin = np.cos(np.deg2rad(turn)), np.sin(np.deg2rad(turn))
    rotation = np.array([[cos, -sin], [sin, cos]])
    stretch = np.array([[scale * aspect, slant * scale / aspect], [0.0, scale / aspect]])
    return (rotation @ stretch).astype(np.float32)


def _move_symbols(
    ink: ScaledInk,
    augmentation: Augmentation,
    preprocessing: Preprocessing,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Points [P, 2] with each symbol moved, resized and sheared about its own center."""
    shape = ink.centers.shape
    shift = augmentation.symbol_shift
    shifts = rng.normal(0, shift * preprocessing.symbol_height, shape) * ink.mobility
    sizes = np.exp(rng.normal(0, shift, shape) * ink.mobility)
    shapes = rng.normal(0, augmentation.symbol_shape, (*shape, 2)) * ink.mobility[:, None]
    matrices = np.eye(2) * sizes[:, None] + shapes  # [S, 2, 2]
    from_center = ink.points - ink.centers[ink.symbols]
    moved = np.einsum("pij,pj->pi", matrices[ink.symbols], from_center)
    moved += (ink.centers + shifts)[ink.symbols]
    return moved.astype(np.float32)


def _move_strokes(
    ink: ScaledInk, amount: float, preprocessing: Preprocessing, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Points [P, 2] with each stroke moved and resized about its own center; short ones move less,
    so that dots stay in place."""
    moved = []
    for stroke in np.split(ink.points, ink.ends):
        low, high = stroke.min(0), stroke.max(0)
        center = (low + high) / 2
        mobility = min(1.0, float((high - low).max()) / preprocessing.symbol_height)
        size = np.exp(rng.normal(0, amount * mobility, 2))
        shift = rng.normal(0, amount * mobility * preprocessing.symbol_height, 2)
        moved.append((stroke - center) * size + center + shift)
    return np.concatenate(moved).astype(np.float32)


def _waves(
    amplitude: float, symbol: float, lengths: tuple[float, float], rng: np.random.Generator
) -> NDArray[np.float32]:
    """[2, 4] amplitude, two frequencies and phase of a wave for x and y; `lengths` in symbol
    heights."""
    sizes = rng.normal(0, 1, 2) * amplitude
    periods = rng.uniform(*lengths, (2, 2)) * symbol * rng.choice([-1, 1], (2, 2))
    return np.column_stack([sizes, 2 * np.pi / periods, rng.uniform(0, 2 * np.pi, 2)]).astype(
        np.float32
    )


def _bend(points: NDArray[np.float32], waves: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Adds the waves, each [2, 4], to points [n, 2]."""
    moved = points
    for wave in waves:
        if wave[:, 0].any():
            phases = points @ wave[:, 1:3].T + wave[:, 3]
            moved = moved + wave[:, 0] * np.sin(phases)
    return moved.astype(np.float32)
