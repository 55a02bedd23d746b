"""Where each visual token of a formula is: the position estimates T of VAT's targets, from ink.

The rules, in the unit of the ink, y down:

* a symbol, and the bar of `\\frac`: the centre of the box round its strokes;
* `\\sqrt`: on its sign's foot (the lowest point of the left half), half-way up the sign, since
  the centre of the box belongs to what stands under the root;
* `^`, `_` and `\\limits` have no ink. They stand where their base and their script meet: along
  each axis in the middle of the gap between the two boxes, or of their overlap. That is the
  midpoint of the two nearest corners for `x ^ { 2 }`, and a point between operator and script for
  limits. The base is the sibling before (for `( a + b ) ^ { 2 }` the bracket); a fraction or root
  counts with all it holds, and so does the script. A script that lies wholly in its base's box
  has its relation half-way between the two centres, and one without a base has it at its own
  left corner next to where the base would be.

No two tokens get the same position: a later one gives way to the right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.formula.nodes import Node
from namer_edge_runtime.formula.vocabulary import LIMITS, SCRIPTS
from namer_edge_runtime.ink.strokes import Stroke, bounds

INKLESS = frozenset((*SCRIPTS, LIMITS))
"""Visual tokens that nobody writes."""
NUDGE = 0.02
"""How far a token gives way to another at the same place, as a share of the formula's height."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Placement:
    """Of V visual nodes in path order: positions float32 [V, 2] (x, y), boxes float32 [V, 4]
    (x0, y0, x1, y1 of their own ink, NaN for `^ _ \\limits`)."""

    positions: NDArray[np.float32]
    boxes: NDArray[np.float32]


def place(nodes: Sequence[Node], ink: Sequence[Sequence[Stroke]]) -> Placement:
    """Positions of a path's V visual nodes; `ink` holds the strokes of each, none for relations
    without ink. Every other node needs at least one stroke."""
    visual = [node for node in nodes if not node.ending]
    own = [bounds(strokes) if strokes else None for strokes in ink]
    containers = _containers(nodes)
    extents = _extents(nodes, own)
    points = []
    for number, node in enumerate(visual):
        box = own[number]
        if node.token in INKLESS:
            points.append(_meeting(number, node.token, visual, containers, extents))
        elif box is None:
            raise ValueError(f"no strokes for visual node {number} ({node.token})")
        elif node.token == "\\sqrt":
            points.append(_foot(ink[number], box))
        else:
            points.append(_centre(box))
    nothing = (np.nan,) * 4
    boxes = np.array([box or nothing for box in own], np.float32).reshape(-1, 4)
    positions = np.array(points, np.float32).reshape(-1, 2)
    _separate(positions, boxes)
    return Placement(positions, boxes)


def _containers(nodes: Sequence[Node]) -> list[tuple[int, ...]]:
    """For each visual node the siblings before it, in order, as numbers of visual nodes."""
    number = -1
    before: list[tuple[int, ...]] = []
    opened: list[list[int]] = [[]]
    left: list[int] = []  # how many arguments each open relation has yet to close
    for place_, node in enumerate(nodes):
        if node.ending:
            left[-1] -= 1
            opened.pop()
            if left[-1]:
                opened.append([])
            else:
                left.pop()
            continue
        number += 1
        before.append(tuple(opened[-1]))
        opened[-1].append(number)
        endings = sum(other.parent == place_ for other in nodes[place_:])
        if endings:
            left.append(endings)
            opened.append([])
    return before


def _extents(nodes: Sequence[Node], own: Sequence[Box | None]) -> list[Box | None]:
    """Box of each visual node together with all its arguments."""
    extents = list(own)
    last = {node.parent: place_ for place_, node in enumerate(nodes) if node.ending}
    opened: list[tuple[int, int]] = []  # (number of the visual node, place of its last ending)
    number = -1
    for place_, node in enumerate(nodes):
        if node.ending:
            if opened[-1][1] == place_:
                opened.pop()
            continue
        number += 1
        for outer, _ in opened:
            extents[outer] = _union(extents[outer], own[number])
        if place_ in last:
            opened.append((number, last[place_]))
    return extents


def _union(a: Box | None, b: Box | None) -> Box | None:
    if a is None or b is None:
        return a or b
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def _centre(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _foot(strokes: Sequence[Stroke], box: Box) -> tuple[float, float]:
    points = np.concatenate(strokes)
    x, y = _centre(box)
    left = points[points[:, 0] <= x]
    return float(left[left[:, 1].argmax(), 0]), y


def _meeting(
    number: int,
    token: str,
    visual: Sequence[Node],
    before: Sequence[tuple[int, ...]],
    extents: Sequence[Box | None],
) -> tuple[float, float]:
    """Position of `^`, `_` or `\\limits`."""
    bases = [sibling for sibling in before[number] if visual[sibling].token not in INKLESS]
    base = extents[bases[-1]] if bases else None
    script = extents[number]
    if script is None and base is None:
        raise ValueError(f"{token} has neither a base nor a script with ink")
    if script is None or base is None:
        box = script or base
        assert box is not None
        x = box[0] if base is None else box[2]
        low = (token == "^") == (base is None)
        return x, box[3] if low else box[1]
    x0, y0 = max(base[0], script[0]), max(base[1], script[1])
    x1, y1 = min(base[2], script[2]), min(base[3], script[3])
    if (x0, y0, x1, y1) == script:
        (bx, by), (sx, sy) = _centre(base), _centre(script)
        return (bx + sx) / 2, (by + sy) / 2
    return (x0 + x1) / 2, (y0 + y1) / 2


def _separate(positions: NDArray[np.float32], boxes: NDArray[np.float32]) -> None:
    seen: set[tuple[float, float]] = set()
    inked = boxes[~np.isnan(boxes[:, 0])]
    height = float(inked[:, 3].max() - inked[:, 1].min()) if len(inked) else 0.0
    step = NUDGE * height or 1.0
    for position in positions:
        while (float(position[0]), float(position[1])) in seen:
            position[0] = max(position[0] + step, np.nextafter(position[0], np.float32(np.inf)))
        seen.add((float(position[0]), float(position[1])))
