"""Paper to write on: ruled, squared, in shadow."""

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.ink.render import draw

Gray = NDArray[np.uint8]


def on_paper(page: Gray, *, squared: bool, slope: float = 0.02, level: int = 175) -> Gray:
    """A page, black on white, on paper with lines of `level` every 57 pixels, a little turned."""
    page = np.pad(page, 40, constant_values=255)
    height, width = page.shape
    lines = []
    for start in range(-width, height + width, 57):
        lines.append([(-9, start), (width + 9, start + slope * (width + 18))])
        if squared:
            lines.append([(start, -9), (start - slope * (height + 18), height + 9)])
    printed = draw([np.array(line, np.float32) for line in lines], (height, width), 1.5)
    paper = 255 - printed.astype(float) * (255 - level) / 255
    return np.minimum(paper, page).astype(np.uint8)


def in_shadow(page: Gray, softness: float = 0.08) -> Gray:
    """Half of the page lies in a shadow that leaves less than half of the light."""
    height, width = page.shape
    slant = np.linspace(0, 1, width) + np.linspace(0, 0.4, height)[:, None]
    light = 1 - 0.55 / (1 + np.exp((0.7 - slant) / softness))
    return np.rint((page * 0.75 + 50) * light).astype(np.uint8)
