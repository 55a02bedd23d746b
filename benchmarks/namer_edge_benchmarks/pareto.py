"""Accuracy against speed: what each configuration gives for its time, and which no other beats."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from namer_edge.data.plots import INK, write

from .charts import BOTTOM, COLOURS, LEFT, TOP, WIDTH, Picture
from .configuration import Row
from .peers import PeerRow

HEIGHT = 520
RIGHT = 400
"""Pixels for the names."""
BESIDE = 12
"""Pixels between a point and its number."""


@dataclass(frozen=True)
class Point:
    """A configuration."""

    name: str
    fps: float
    exact: float
    """Percent."""


def points(rows: Sequence[Row], peers: Sequence[PeerRow] = ()) -> list[Point]:
    """Of all that was measured on labeled formulas."""
    found = []
    for row in rows:
        m = row.measured
        if m is not None and m.accuracy is not None:
            name = f"{row.called}, {m.engine}, {row.trial.threads} x {row.trial.batch}"
            found.append(Point(name, m.fps, m.accuracy.exprate))
    for peer in peers:
        if peer.fps is not None and peer.accuracy is not None:
            found.append(Point(peer.peer.name, peer.fps, peer.accuracy.exprate))
    return found


def front(found: Sequence[Point]) -> list[Point]:
    """Those that no other beats in speed without losing accuracy: Pareto's, the quickest first."""
    best: list[Point] = []
    for point in sorted(found, key=lambda p: (-p.fps, -p.exact)):
        if not best or point.exact > best[-1].exact:
            best.append(point)
    return best


def draw_front(found: Sequence[Point]) -> Picture:
    """[H, W, 3] (blue, green, red): numbered points, formulas a second on a logarithmic scale, and
    a line through Pareto's front. Raises `ValueError` for no points."""
    panel = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
    write(panel, "exact, % against formulas a second; the line joins what none beats", (LEFT, 22))
    speeds = np.log10([point.fps for point in found])
    low, high = float(speeds.min()) - 0.1, float(speeds.max()) + 0.1
    rates = [point.exact for point in found]
    floor, ceiling = max(min(rates) - 5.0, 0.0), min(max(rates) + 5.0, 100.0)
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(fps: float, exact: float) -> tuple[int, int]:
        x = (np.log10(fps) - low) / (high - low)
        y = (exact - floor) / (ceiling - floor)
        return round(LEFT + float(x) * across), round(HEIGHT - BOTTOM - y * down)

    for rate in np.linspace(floor, ceiling, 5):
        _, y = at(10**low, float(rate))
        cv2.line(panel, (LEFT, y), (LEFT + across, y), (220, 220, 220))
        write(panel, f"{rate:.0f} %", (6, y + 4), 0.8)
    for power in np.linspace(low, high, 5):
        x, _ = at(10 ** float(power), floor)
        write(panel, f"{10**power:.3g}", (x - 10, HEIGHT - BOTTOM + 18), 0.8)
    write(panel, "formulas a second", (LEFT, HEIGHT - 12), 0.9)
    line = [at(point.fps, point.exact) for point in front(found)]
    cv2.polylines(panel, [np.array(line, np.int32)], False, INK, 1, cv2.LINE_AA)
    for number, point in enumerate(found):
        color = COLOURS[number % len(COLOURS)]
        x, y = at(point.fps, point.exact)
        cv2.circle(panel, (x, y), 4, color, -1, cv2.LINE_AA)
        write(panel, str(number + 1), (x + BESIDE // 2, y - BESIDE // 2), 0.8, color)
        corner = (LEFT + across + 16, TOP + 20 + 22 * number)
        write(panel, f"{number + 1}  {point.name}", corner, 0.8, color)
    cv2.line(panel, (LEFT, HEIGHT - BOTTOM), (LEFT + across, HEIGHT - BOTTOM), INK)
    return panel


def front_page(found: Sequence[Point]) -> str:
    """Pareto's front in a sentence, for Markdown."""
    names = [f"{p.name} ({p.fps:.1f} a second, {p.exact:.1f} %)" for p in front(found)]
    return "Not beaten in both speed and accuracy: " + "; ".join(names)
