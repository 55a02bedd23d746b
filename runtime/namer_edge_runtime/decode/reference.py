"""Plain Python twins of the compiled kernels: the same answers, ties included, slower.

They stand in where Numba is missing, and the tests hold the kernels against them. Each is written
in another way than its kernel, so that the two do not share a mistake.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = tuple[Any, ...]
"""What kernels return; the functions that call them wrap it into dataclasses."""


def pick(
    scores: NDArray[np.float32],
    classes: NDArray[np.int32],
    none: NDArray[np.float32],
    endings: NDArray[np.int8],
    end_class: int,
    sos: int,
    eos: int,
    threshold: float,
    class_threshold: float,
    max_nodes: int,
) -> Arrays:
    """Twin of `pick.pick`'s kernel."""
    depth = len(scores)
    firing = np.zeros(none.shape, bool)
    if depth:
        firing = (scores[0] > none) | ((1.0 - none.astype(np.float64) >= threshold) & _peaks(none))
    unknown = -1
    found: list[tuple[float, int, int, int]] = []
    for row, column in np.argwhere(firing).tolist():
        taken: set[int] = set()
        for rank in range(depth):
            score = float(scores[rank, row, column])
            if rank and not score >= class_threshold:
                continue
            label = int(classes[rank, row, column])
            if not 0 <= label < len(endings):
                unknown = label
            elif int(endings[label]) not in taken:
                taken.add(int(endings[label]))
                found.append((score, row, column, label))

    sizes = [1 + int(endings[label]) for *_, label in found]
    truncated = 2 + sum(sizes) > max_nodes
    if truncated:
        best_first = sorted(range(len(found)), key=lambda index: (-found[index][0], index))
        filled = np.cumsum([2] + [sizes[index] for index in best_first])[1:]
        kept = int(np.searchsorted(filled, max_nodes, side="right"))
        found = [found[index] for index in sorted(best_first[:kept])]

    nodes: list[tuple[int, int, int, int, int, float]] = [
        (0, 0, sos, 0, -1, 1.0),
        (0, 0, eos, 0, -1, 1.0),
    ]
    for score, row, column, label in found:
        parent = len(nodes)
        nodes.append((row, column, label, 0, -1, score))
        for which in range(1, 1 + int(endings[label])):
            nodes.append((row, column, end_class, which, parent, score))
    rows, columns, picked, ending, parents, strength = zip(*nodes, strict=True)
    whole = (np.array(values, np.int64) for values in (rows, columns, picked, ending, parents))
    return (*whole, np.array(strength, np.float32), truncated, unknown)


def _peaks(none: NDArray[np.float32]) -> NDArray[np.bool_]:
    """[h, w] whether P(none) is lowest among the 3 × 3 neighbours; of equals, the first counts."""
    height, width = none.shape
    padded = np.pad(none, 1, constant_values=np.inf)
    peaks = np.ones(none.shape, bool)
    for down in (0, 1, 2):
        for right in (0, 1, 2):
            other = padded[down : down + height, right : right + width]
            if (down, right) < (1, 1):
                peaks &= ~(other <= none)
            elif (down, right) > (1, 1):
                peaks &= ~(other < none)
    return peaks
