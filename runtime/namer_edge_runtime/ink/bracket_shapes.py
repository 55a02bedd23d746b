"""Kinds of brackets by their outline: softmax regression over the profile of a shape.

The weights in `brackets.json` are fitted by `namer-edge data brackets` (package `namer_edge`).
"""

import json
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPENING, CLOSING = "([{", ")]}"
CLASSES = (*OPENING, "|", "")
"""Kinds that a shape may have; empty for all other signs."""
BANDS = 9
"""Parts of equal height whose horizontal extent is looked at."""
DECIMALS = 3


def features(points: NDArray[np.floating]) -> NDArray[np.float64]:
    """[3 · BANDS + 2] least, greatest and mean x of each band from the left edge, the width, and 1;
    of the points [n, 2] of an outline without gaps, in its height, which is above 0."""
    low, high = points.min(0), points.max(0)
    height = high[1] - low[1]
    place = np.asarray(points - low, np.float64) / height
    width = place[:, 0].max()
    band = np.minimum((place[:, 1] * BANDS).astype(int), BANDS - 1)
    profile = []
    for number in range(BANDS):
        x = place[band == number, 0]
        profile += [x.min(), x.max(), x.mean()] if len(x) else [width / 2] * 3
    return np.array([*profile, width, 1.0])


def mirrored(points: NDArray[np.floating]) -> NDArray[np.floating]:
    """The shape left for right."""
    return points * np.array([-1, 1], points.dtype)


def bracket(points: NDArray[np.floating]) -> str:
    """The bracket ( [ { ) ] } or | that the outline of a shape is likest; empty for other signs."""
    if np.ptp(points[:, 1]) <= 0:
        return ""
    as_it_is, turned = (
        CLASSES[int((features(p) @ _weights()).argmax())] for p in (points, mirrored(points))
    )
    if as_it_is and as_it_is in OPENING:
        return as_it_is
    if turned and turned in OPENING:
        return CLOSING[OPENING.index(turned)]
    return as_it_is or turned


@cache
def _weights() -> Any:
    text = (resources.files(__package__) / "brackets.json").read_text("utf-8")
    return np.array(json.loads(text)["weights"], np.float64)
