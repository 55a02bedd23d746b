"""Placement: position estimates T of a formula's visual tokens from segmented ink.

Rules, in the unit of the ink, y down:

* a symbol, and the bar of `\\frac`: the center of its strokes' box;
* `\\sqrt`: on its sign's foot (the lowest point of the left half), half-way up the sign, since
  the center of the box belongs to the radicand;
* `^`, `_` and `\\limits` have no ink. They stand where their base and their script meet: along
  each axis in the middle of the gap between the two boxes, or of their overlap. That is the
  midpoint of the two nearest corners for `x ^ { 2 }`, and a point between operator and script for
  limits. The base is the sibling before (for `( a + b ) ^ { 2 }` the bracket); a fraction or root
  counts with all it holds, and so does the script; without a base the relation stands at the
  script's left corner next to where the base would be. A relation that comes closer than
  `CLEARANCE` to the position of its base, or to the nearest symbol of its script, is moved to
  that distance on the line between these two, or half-way where they are closer than that: so the
  two tokens seldom share a cell.

No two tokens get the same position: a later one gives way to the right.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.errors import DataError
from namer_edge_runtime.formula.nodes import Node
from namer_edge_runtime.formula.vocabulary import INKLESS
from namer_edge_runtime.ink.strokes import Stroke, bounds, foot, symbol_height

CLEARANCE = 0.5
"""Least distance of a relation from base and script, as a share of a typical symbol's height."""
NUDGE = 0.05
"""Shift of a token at the position of another one, as a share of the same height."""

Box = tuple[float, float, float, float]
Points = NDArray[np.float64]


@dataclass(frozen=True)
class Placement:
    """Positions float32 [V, 2] (x, y) and boxes float32 [V, 4] (x0, y0, x1, y1 of their own ink,
    NaN for `^ _ \\limits`) of V visual nodes in path order."""

    positions: NDArray[np.float32]
    boxes: NDArray[np.float32]


def place(nodes: Sequence[Node], ink: Sequence[Sequence[Stroke]]) -> Placement:
    """Positions of a path's V visual nodes; `ink` holds the strokes of each, none for relations
    without ink.

    Raises `DataError` if a symbol has no strokes, or a relation neither base nor script.
    """
    visual = [node for node in nodes if not node.ending]
    own = [bounds(strokes) if strokes else None for strokes in ink]
    before = _siblings_before(nodes)
    held = _held(nodes)
    height = symbol_height([stroke for strokes in ink for stroke in strokes])
    points = np.full((len(visual), 2), np.nan)
    for number, node in enumerate(visual):
        box = own[number]
        if box is not None:
            is_root = node.token == "\\sqrt"
            points[number] = foot(np.concatenate(ink[number])) if is_root else _center(box)
        elif node.token not in INKLESS:
            raise DataError(f"no strokes for visual node {number} ({node.token})")
    extents = [_union(own[number : number + 1 + held[number]]) for number in range(len(visual))]
    for number, node in enumerate(visual):
        if node.token in INKLESS:
            bases = [other for other in before[number] if visual[other].token not in INKLESS]
            base = bases[-1] if bases else None
            outer = None if base is None else extents[base]
            point = _meeting(node.token, outer, extents[number])
            script = points[[n for n in _range(number, held) if own[n] is not None]]
            if base is not None and len(script):
                point = _clear(point, points[base], script, CLEARANCE * height)
            points[number] = point
    boxes = np.array([box or (np.nan,) * 4 for box in own], np.float32).reshape(-1, 4)
    positions = points.astype(np.float32)
    _separate(positions, NUDGE * height or 1.0)
    return Placement(positions, boxes)


def _range(number: int, held: Sequence[int]) -> range:
    """The visual nodes in the arguments of visual node `number`."""
    return range(number + 1, number + 1 + held[number])


def _siblings_before(nodes: Sequence[Node]) -> list[tuple[int, ...]]:
    """Lists, for each visual node, the visual nodes before it in the same argument."""
    endings = Counter(node.parent for node in nodes if node.ending)
    before: list[tuple[int, ...]] = []
    opened: list[list[int]] = [[]]
    for place_, node in enumerate(nodes):
        if node.ending:
            opened.pop()
            if node.ending < endings[node.parent]:
                opened.append([])
            continue
        number = len(before)
        before.append(tuple(opened[-1]))
        opened[-1].append(number)
        if endings[place_]:
            opened.append([])
    return before


def _held(nodes: Sequence[Node]) -> list[int]:
    """Counts, for each visual node, the visual nodes in its arguments, which follow it."""
    last = {node.parent: place_ for place_, node in enumerate(nodes) if node.ending}
    return [
        sum(not inner.ending for inner in nodes[place_ + 1 : last.get(place_, place_)])
        for place_, node in enumerate(nodes)
        if not node.ending
    ]


def _union(boxes: Sequence[Box | None]) -> Box | None:
    known = np.array([box for box in boxes if box is not None])
    if not len(known):
        return None
    (x0, y0), (x1, y1) = known[:, :2].min(0), known[:, 2:].max(0)
    return float(x0), float(y0), float(x1), float(y1)


def _center(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _meeting(token: str, base: Box | None, script: Box | None) -> tuple[float, float]:
    """Returns the point where base and script meet; a corner of one if the other is missing."""
    if base is not None and script is not None:
        x = max(base[0], script[0]) + min(base[2], script[2])
        y = max(base[1], script[1]) + min(base[3], script[3])
        return x / 2, y / 2
    if script is not None:
        return script[0], script[3] if token == "^" else script[1]
    if base is not None:
        return base[2], base[1] if token == "^" else base[3]
    raise DataError(f"{token} has neither a base nor a script with ink")


def _clear(
    point: tuple[float, float], base: Points, script: Points, distance: float
) -> tuple[float, float]:
    """`point` moved away from `base` [2] and from the nearest of `script` [n, 2]."""
    nearest = script[np.hypot(*(script - point).T).argmin()]
    span = float(np.hypot(*(base - nearest)))
    for start, end in ((nearest, base), (base, nearest)):
        if np.hypot(*(start - point)) < distance and span > 0:
            x, y = start + (end - start) * min(distance / span, 0.5)
            return float(x), float(y)
    return point


def _separate(positions: NDArray[np.float32], step: float) -> None:
    seen: set[tuple[float, float]] = set()
    for position in positions:
        while (float(position[0]), float(position[1])) in seen:
            position[0] = max(position[0] + step, np.nextafter(position[0], np.float32(np.inf)))
        seen.add((float(position[0]), float(position[1])))
