"""A formula as ink that a program hands in, under a field condition.

Lengths are in heights of a symbol unless they say otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from namer_edge_runtime.ink.strokes import Strokes, bounds
from namer_edge_runtime.preprocessing import turned

from . import pens
from .inkml import Inkml
from .ranges import Half, drawn

UNIT = 100.0
"""Height of a symbol while ink is changed."""


@dataclass(frozen=True)
class Motion:
    """Another place, size and direction of all ink."""

    turn: float = 0.0
    """Degrees."""
    slant: float = 0.0
    """Horizontal shift for one unit of height."""
    stretch: float = 1.0
    """Width over height, of 1."""
    decades: float = 0.0
    """Size times 10 to the power of this."""
    x: float = 0.0
    y: float = 0.0
    """Corner of the ink, in symbol heights from the origin."""
    up: float = 0.0
    """Whether y grows upwards, from one half on."""

    def change(self, strokes: Strokes, rng: np.random.Generator) -> Strokes:
        shape = np.array([[self.stretch, -self.slant], [0, 1]])
        flat = [turned(stroke @ shape.T, np.radians(self.turn)) for stroke in strokes]
        x0, y0, _, _ = bounds([stroke.astype(np.float32) for stroke in flat])
        corner = np.array([self.x, self.y]) * UNIT - (x0, y0)
        way = np.array([1, -1 if self.up >= 0.5 else 1]) * 10**self.decades
        return [((stroke + corner) * way).astype(np.float32) for stroke in flat]


@dataclass(frozen=True)
class Sampling:
    """Other points along the same strokes."""

    step: float = 0.0
    """Distance of the points; 0: as they were written."""
    jitter: float = 0.0
    """Deviation of each point."""
    grid: float = 0.0
    """Distance of the places that points can have; 0: any place."""
    repeated: float = 0.0
    """Share of points that come twice."""

    def change(self, strokes: Strokes, rng: np.random.Generator) -> Strokes:
        changed: Strokes = []
        for stroke in strokes:
            if self.step > 0:
                stroke = pens.dense(stroke, self.step * UNIT)
            if self.jitter > 0:
                moved = stroke + rng.normal(0, self.jitter * UNIT, stroke.shape)
                stroke = moved.astype(np.float32)
            if self.grid > 0:
                grid = self.grid * UNIT
                stroke = (np.rint(stroke / grid) * grid).astype(np.float32)
            if self.repeated > 0:
                stroke = np.repeat(stroke, 1 + (rng.random(len(stroke)) < self.repeated), axis=0)
            changed.append(stroke)
        return changed


@dataclass(frozen=True)
class Pieces:
    """Strokes cut into pieces, each a stroke of its own."""

    points: int = 5
    """Points of a piece, at least 2 unless pieces lie apart."""
    shared: float = 1.0
    """Whether a piece begins with the last point of the one before, from one half on."""

    def change(self, strokes: Strokes, rng: np.random.Generator) -> Strokes:
        step = max(1, self.points - 1) if self.shared >= 0.5 else self.points
        reach = step + 1 if self.shared >= 0.5 else step
        return [
            stroke[at : at + reach]
            for stroke in strokes
            for at in range(0, len(stroke), step)
            if at == 0 or at + reach - step < len(stroke)
        ]


@dataclass(frozen=True)
class Taps:
    """Dots that the hand or pen made by accident, far off."""

    count: int = 1
    distance: float = 3.0

    def change(self, strokes: Strokes, rng: np.random.Generator) -> Strokes:
        x0, y0, x1, y1 = bounds(strokes)
        middle, radii = np.array([x0 + x1, y0 + y1]) / 2, np.array([x1 - x0, y1 - y0]) / 2
        taps: Strokes = []
        for _ in range(self.count):
            angle = rng.uniform(0, 2 * np.pi)
            way = np.array([np.cos(angle), np.sin(angle)])
            # As far as the box reaches that way, and on.
            edge = float(np.min(radii / np.maximum(np.abs(way), 1e-6)))
            place = middle + way * (edge + self.distance * UNIT)
            taps.append(np.array([place], np.float32))
        return [*strokes, *taps]


@dataclass(frozen=True)
class Values:
    """Strokes as values of Python or JSON."""

    form: str = "points"

    def value(self, strokes: Strokes, rng: np.random.Generator) -> Any:
        """The strokes in one of the forms that `point_lists` of the runtime reads."""
        rows = [[(float(x), float(y)) for x, y in stroke] for stroke in strokes]
        if self.form == "named points":
            return [[{"x": x, "y": y} for x, y in stroke] for stroke in rows]
        if self.form == "named columns":
            columns = [{"x": [x for x, _ in s], "y": [y for _, y in s]} for s in rows]
            return {"strokes": columns}
        time = iter(range(1_000_000))
        timed = [[(x, y, float(10 * next(time))) for x, y in stroke] for stroke in rows]
        if self.form == "timed points":
            return timed
        if self.form == "timed columns":
            return [[list(column) for column in zip(*stroke, strict=True)] for stroke in timed]
        return rows


CHANGED: dict[str, type] = {
    "sampling": Sampling,
    "taps": Taps,
    "motion": Motion,
    "pieces": Pieces,
}
"""Ingredients that change the strokes, in order."""
MARKS = ("erased", "underline", "frame", "crossed_out", "far_writing")
"""Ingredients that write round the formula, in order."""
INGREDIENTS: dict[str, type] = {
    "erased": pens.Erased,
    "underline": pens.Underline,
    "frame": pens.Frame,
    "crossed_out": pens.CrossedOut,
    "far_writing": pens.FarWriting,
    **CHANGED,
    "values": Values,
    "inkml": Inkml,
}
"""The tables of an ink's condition in `conditions.toml`."""


def field_ink(
    strokes: Strokes, ranges: Mapping[str, Mapping[str, Any]], half: Half, rng: np.random.Generator
) -> Any:
    """Strokes in any unit as an input under the condition that `ranges` describe, by the names of
    `INGREDIENTS`: a value of Python, or the bytes of an InkML file."""
    parts: dict[str, Any] = {
        name: drawn(kind, ranges[name], half, rng)
        for name, kind in INGREDIENTS.items()
        if name in ranges
    }
    page = pens.Pen(UNIT).writing(strokes, np.inf)
    for name in MARKS:
        if name in parts:
            parts[name].write(page, rng)
    changed = [stroke for layer in page.layers for stroke in layer.strokes]
    for name in CHANGED:
        if name in parts:
            changed = parts[name].change(changed, rng)
    if "inkml" in parts:
        return parts["inkml"].file(changed, UNIT, rng)
    values: Values = parts.get("values") or Values()
    return values.value(changed, rng)
