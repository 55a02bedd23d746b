"""Stray dots: the pen touched the canvas far from the formula."""

from collections.abc import Sequence

import numpy as np

from .strokes import DOT, Stroke, Strokes, extents, typical_height

AWAY = 2.5
"""Heights of a typical symbol from all other ink: of 2,623 dots in CROHME's training set 2 are."""
MOST = 8
"""Dots of which any may be stray; ink of more is dotted."""


def without_stray(strokes: Sequence[Stroke]) -> Strokes:
    """The strokes, less up to `MOST` dots that are `AWAY` from all others."""
    kept = list(strokes)
    sizes = extents(strokes)
    reach = typical_height(sizes)
    dots = np.flatnonzero(sizes.max(axis=1) < DOT * reach).tolist()
    if not 0 < len(dots) <= MOST:
        return kept
    for dot in reversed(dots):
        others = np.concatenate([*strokes[:dot], *strokes[dot + 1 :]])
        if np.hypot(*(others - strokes[dot].mean(0)).T).min() > AWAY * reach:
            del kept[dot]
    return kept
