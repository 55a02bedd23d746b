"""Statistics as one picture: bars, drawn with what the runtime has anyway."""

from collections.abc import Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.picture.overlay import FONT, FONT_HEIGHT

from .statistics import Statistics

PANEL = (900, 240)
"""Width and height in pixels of a plot."""
LEFT, TOP, BOTTOM, RIGHT = 16, 34, 26, 16
"""Pixels round its bars."""
BAR, INK = (180, 119, 31), (60, 60, 60)
LETTERS = 11.0
BINS, CLASSES = 40, 30


def plots(statistics: Statistics) -> NDArray[np.uint8]:
    """[H, W, 3] (blue, green, red): a histogram of each series, and the most frequent classes."""
    panels = [
        histogram(name, values) for name, values in statistics.series().items() if len(values)
    ]
    most = dict(list(statistics.classes.items())[:CLASSES])
    return np.vstack([*panels, bars(f"the {len(most)} most frequent classes", most)])


def histogram(title: str, values: Sequence[int]) -> NDArray[np.uint8]:
    """How often each value occurs, the rare large ones (the last percent) left out."""
    low, high = min(values), round(float(np.quantile(values, 0.99))) + 1
    bins = min(BINS, max(high - low, 1))
    counts, edges = np.histogram(values, bins=bins, range=(low, max(high, low + 1)))
    labels = [f"{edge:.0f}" if i % 5 == 0 or bins < 10 else "" for i, edge in enumerate(edges[:-1])]
    return _bars(f"{title} ({len(values)} formulas)", counts.tolist(), labels)


def bars(title: str, counts: Mapping[str, int]) -> NDArray[np.uint8]:
    """One for each name."""
    return _bars(title, list(counts.values()), list(counts))


def _bars(title: str, counts: Sequence[int], labels: Sequence[str]) -> NDArray[np.uint8]:
    width, height = PANEL
    panel = np.full((height, width, 3), 255, np.uint8)
    write(panel, f"{title}; the highest bar is {max(counts, default=0)}", (LEFT, 20))
    step = (width - LEFT - RIGHT) / max(len(counts), 1)
    floor, most = height - BOTTOM, max(*counts, 1)
    for number, (count, label) in enumerate(zip(counts, labels, strict=True)):
        x0, x1 = (round(LEFT + step * (number + share)) for share in (0.1, 0.9))
        top = floor - round((floor - TOP) * count / most)
        cv2.rectangle(panel, (x0, top), (x1, floor), BAR, -1)
        write(panel, label, (x0, floor + 15), 0.75)
    cv2.line(panel, (LEFT, floor), (width - RIGHT, floor), INK)
    return panel


def write(
    panel: NDArray[np.uint8],
    text: str,
    at: tuple[int, int],
    size: float = 1.0,
    color: tuple[int, int, int] = INK,
) -> None:
    """`text` on a picture, its lower left corner at (x, y); OpenCV's letters are ASCII."""
    plain = text.encode("ascii", "replace").decode()
    scale = size * LETTERS / FONT_HEIGHT
    cv2.putText(panel, plain, at, FONT, scale, color, 1, cv2.LINE_AA)
