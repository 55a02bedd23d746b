"""Curves and points as pictures, drawn with what the runtime has anyway."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge.data.plots import INK, write

from .report import table

WIDTH, HEIGHT = 900, 420
LEFT, TOP, RIGHT, BOTTOM = 70, 40, 260, 50
"""Pixels round the curves; names stand on the right."""
COLOURS = ((180, 119, 31), (14, 127, 255), (44, 160, 44), (40, 39, 214), (189, 103, 148))
"""Blue, green, red."""
Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class Curve:
    """Milliseconds at each place of an axis."""

    name: str
    axis: tuple[float, ...]
    milliseconds: tuple[float, ...]

    @property
    def growth(self) -> float:
        """The last time, in times of the first."""
        return self.milliseconds[-1] / self.milliseconds[0]


@dataclass(frozen=True)
class Chart:
    """Curves over one axis."""

    title: str
    axis: str
    curves: tuple[Curve, ...]


def draw(charts: Sequence[Chart]) -> Picture:
    """[H, W, 3] (blue, green, red): one below the other, milliseconds on a logarithmic scale."""
    return np.vstack([_chart(chart) for chart in charts])


def _chart(chart: Chart) -> Picture:
    panel = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
    write(panel, chart.title, (LEFT, 22))
    times = [ms for curve in chart.curves for ms in curve.milliseconds]
    low, high = np.log10(min(times)), np.log10(max(times))
    low, high = low - 0.1, max(high + 0.1, low + 0.5)
    axis = [place for curve in chart.curves for place in curve.axis]
    first, last = min(axis), max(axis)

    def at(place: float, ms: float) -> tuple[int, int]:
        x = (place - first) / max(last - first, 1e-9)
        y = (np.log10(ms) - low) / (high - low)
        across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return round(LEFT + x * across), round(HEIGHT - BOTTOM - y * down)

    for power in np.linspace(low, high, 5):
        _, y = at(first, 10**power)
        cv2.line(panel, (LEFT, y), (WIDTH - RIGHT, y), (220, 220, 220))
        write(panel, f"{10**power:.3g} ms", (6, y + 4), 0.8)
    for place in chart.curves[0].axis:
        x, _ = at(place, 10**low)
        write(panel, f"{place:g}", (x - 8, HEIGHT - BOTTOM + 18), 0.8)
    write(panel, chart.axis, (LEFT, HEIGHT - 12), 0.9)
    for number, curve in enumerate(chart.curves):
        color = COLOURS[number % len(COLOURS)]
        points = [at(*point) for point in zip(curve.axis, curve.milliseconds, strict=True)]
        cv2.polylines(panel, [np.array(points, np.int32)], False, color, 2, cv2.LINE_AA)
        for point in points:
            cv2.circle(panel, point, 3, color, -1, cv2.LINE_AA)
        corner = (WIDTH - RIGHT + 16, TOP + 20 + 22 * number)
        write(panel, curve.name, corner, 0.9, color)
    cv2.line(panel, (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM), INK)
    return panel


def chart_page(charts: Sequence[Chart]) -> str:
    """The same as tables, in Markdown."""
    parts = []
    for chart in charts:
        places = [f"{place:g} {chart.axis}" for place in chart.curves[0].axis]
        rows = [[c.name, *c.milliseconds, f"{c.growth:.1f} x"] for c in chart.curves]
        parts.append(f"### {chart.title}\n\n{table(['ms', *places, 'last / first'], rows)}")
    return "\n\n".join(parts)
