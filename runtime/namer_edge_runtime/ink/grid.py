"""Grids: matrices, determinants and cases found by their brackets and the white between cells.

It works on shapes, each the points [n, 2] (x, y) of a stroke or of the contour of a connected
component, in one unit, y growing downwards.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .bracket_shapes import CLOSING, OPENING, bracket
from .strokes import typical_height

Shapes = Sequence[NDArray[np.floating]]
Boxes = NDArray[np.float64]
"""[shapes, 4] x0, y0, x1, y1, in symbol heights."""

Groups = list[list[int]]

TALL = 1.75
"""Least height of a bracket round rows, in symbol heights."""
NARROW = 0.42
"""Most width of a bracket, in its height."""
STEP = 0.1
"""Symbol heights between points of a shape."""
ALIKE = 0.65
"""Least share of the higher bracket's extent that a pair has in common."""
TOUCHING, END = 0.2, 0.1
"""Furthest that the cap of a square bracket may be from its stem, in symbol heights, and from the
end of it, in its height."""
ROW_GAP = 0.08
"""Least white between two rows, in symbol heights."""
CLEAR = 0.4
"""Least white between two rows, in the widest between any two."""
COLUMN_GAP = 0.35
"""Least white between two columns, in symbol heights."""
WIDER = 0.6
"""Least white between two cells of a row, in the widest white within one."""
MOST = 6
"""Rows and columns of the largest grid."""
SIZES, SIZES_OF_ONE = 3.0, 2.2
"""Times that the symbols of one row may be larger than those of another: a limit is no row."""
FLAT = 2.5
"""A shape so many times wider than high may be a fraction bar, where it is `LEAST_BAR` symbol
heights wide."""
LEAST_BAR = 0.6
BESIDE, NEAR = 0.1, 0.55
"""Symbol heights that the middle of a shape may lie beyond the ends of the one that it stands over,
and what a fraction holds away from its bar."""


@dataclass(frozen=True)
class Grid:
    """Numbers of the shapes of one grid."""

    bracket: str
    """The left one: ( [ { or |."""
    opening: tuple[int, ...]
    closing: tuple[int, ...]
    """Those of the right bracket; none after the brace of cases."""
    cells: tuple[tuple[tuple[int, ...], ...], ...]
    """Rows of cells, each with the shapes in it."""

    def numbered(self, numbers: Sequence[int]) -> "Grid":
        """The grid with other numbers of its shapes: `numbers` [shapes] has the new ones."""

        def new(own: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(numbers[number] for number in own)

        cells = tuple(tuple(map(new, row)) for row in self.cells)
        return Grid(self.bracket, new(self.opening), new(self.closing), cells)

    @property
    def shapes(self) -> set[int]:
        inner = {number for row in self.cells for cell in row for number in cell}
        return inner | {*self.opening, *self.closing}


def find_grids(shapes: Shapes) -> list[Grid]:
    """The grids from left to right, none within another."""
    if len(shapes) < 4:
        return []
    around = np.array([(*shape.min(0), *shape.max(0)) for shape in shapes], np.float64)
    unit = _unit(around[:, 2:] - around[:, :2])
    if unit <= 0 or not _tall(around / unit).any():
        return []
    around /= unit
    placed = [np.asarray(shape, np.float64) / unit for shape in shapes]
    pieces = _joined(placed, around)
    boxes = np.array([(*around[p, :2].min(0), *around[p, 2:].max(0)) for p in map(list, pieces)])
    kinds = {
        number: bracket(np.concatenate([dense(placed[n]) for n in pieces[number]]))
        for number in np.flatnonzero(_tall(boxes)).tolist()
    }
    grids: list[Grid] = []
    used = np.zeros(len(pieces), np.bool_)
    for opening, closing, inner in _brackets(boxes, kinds):
        if used[[opening, *inner]].any():
            continue
        rows = _cells(boxes, inner, closing is not None)
        if rows is None:
            continue
        taken = [opening, *inner, *([] if closing is None else [closing])]
        used[taken] = True
        grids.append(
            Grid(
                kinds[opening],
                pieces[opening],
                () if closing is None else pieces[closing],
                tuple(
                    tuple(tuple(n for piece in cell for n in pieces[piece]) for cell in row)
                    for row in rows
                ),
            )
        )
    return sorted(grids, key=lambda grid: min(placed[n][:, 0].min() for n in grid.opening))


def dense(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points [n, 2] at most `STEP` apart along the same line."""
    lengths = np.hypot(*np.diff(points, axis=0).T)
    reached = np.concatenate([[0.0], np.cumsum(lengths)])
    if reached[-1] <= STEP:
        return points
    at = np.linspace(0, reached[-1], int(np.ceil(reached[-1] / STEP)) + 1)
    return np.stack([np.interp(at, reached, points[:, axis]) for axis in (0, 1)], 1)


def _unit(sizes: NDArray[np.float64]) -> float:
    """Height of a typical symbol, brackets apart."""
    width, height = sizes.T
    narrow = (width <= NARROW * height) & (height > 0)
    first = float(np.quantile(height, 0.3)) if narrow.all() else typical_height(sizes[~narrow])
    return typical_height(sizes[~(narrow & (height >= TALL * first))])


def _tall(boxes: Boxes) -> NDArray[np.bool_]:
    """Which shapes may be brackets round rows, or their stems."""
    width, height = (boxes[:, 2:] - boxes[:, :2]).T
    return (height >= TALL) & (width <= NARROW * height)


def _joined(shapes: Sequence[NDArray[np.float64]], boxes: Boxes) -> list[tuple[int, ...]]:
    """Numbers of shapes, a stem together with the caps that are written at its ends."""
    width, height = (boxes[:, 2:] - boxes[:, :2]).T
    caps = np.flatnonzero(width >= 2 * height)
    groups = [{number} for number in range(len(shapes))]
    for stem in np.flatnonzero(_tall(boxes)).tolist():
        for cap in caps[width[caps] <= NARROW * height[stem]].tolist():
            middle = boxes[cap, [1, 3]].mean()
            away = min(abs(middle - boxes[stem, end]) for end in (1, 3))
            if (
                away <= END * height[stem]
                and _distance(dense(shapes[cap]), dense(shapes[stem])) <= TOUCHING
            ):
                merged = groups[stem] | groups[cap]
                for number in merged:
                    groups[number] = merged
    return sorted({tuple(sorted(group)) for group in groups})


def _distance(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    return float(np.hypot(*(one[:, None] - other[None]).T).min())


def _brackets(
    boxes: Boxes, kinds: Mapping[int, str]
) -> Iterator[tuple[int, int | None, list[int]]]:
    """Opening, closing (None for cases) and what they hold; `kinds` are those of tall shapes."""
    center = (boxes[:, :2] + boxes[:, 2:]) / 2
    opens, closes = (
        np.array([n for n, kind in kinds.items() if kind and kind in side], np.intp)
        for side in (OPENING + "|", CLOSING + "|")
    )
    for opening in opens[np.argsort(boxes[opens, 0], kind="stable")].tolist():
        closings = [
            n for n in closes if boxes[n, 0] > boxes[opening, 2] and _pair(boxes, opening, n)
        ]
        if closings:
            closing = min(closings, key=lambda n: boxes[n, 0])
            low = min(boxes[opening, 1], boxes[closing, 1])
            high = max(boxes[opening, 3], boxes[closing, 3])
            inside = (center[:, 0] > center[opening, 0]) & (center[:, 0] < center[closing, 0])
            inside[[opening, closing]] = False
            inside &= (center[:, 1] > low) & (center[:, 1] < high)
            yield int(opening), int(closing), np.flatnonzero(inside).tolist()
        elif kinds[opening] in ("(", "{"):  # a brace with a weak middle is likest a parenthesis
            inside = (boxes[:, 0] > center[opening, 0]) & (np.arange(len(boxes)) != opening)
            beyond = (center[:, 1] < boxes[opening, 1]) | (center[:, 1] > boxes[opening, 3])
            if inside.any() and not (inside & beyond).any():
                yield int(opening), None, np.flatnonzero(inside).tolist()


def _pair(boxes: Boxes, one: int, other: int) -> bool:
    common = min(boxes[one, 3], boxes[other, 3]) - max(boxes[one, 1], boxes[other, 1])
    return bool(common >= ALIKE * max(boxes[n, 3] - boxes[n, 1] for n in (one, other)))


def _cells(boxes: Boxes, inner: Sequence[int], closed: bool) -> list[list[list[int]]] | None:
    """Rows of cells, or None where what is held is no grid: as many columns as have clear white
    between them and as many rows in each."""
    if len(inner) < 2:
        return None
    groups = _fractions(boxes, inner)
    whites = [white for white in _whites(boxes, groups) if white[1] >= COLUMN_GAP]
    most = MOST if closed else 2
    for least in (*sorted({width for _, width in whites}), np.inf):
        cuts = [middle for middle, width in whites if width >= least]
        if len(cuts) < most and (rows := _rows(boxes, _at(boxes, groups, cuts))):
            return rows
    return None


def _rows(boxes: Boxes, columns: list[Groups]) -> list[list[list[int]]] | None:
    """The cells of columns that have the same rows; None where they have none."""
    parted = [_lines(boxes, column) for column in columns]
    counts = [len(lines) for lines in parted]
    count = max(sorted(set(counts)), key=counts.count)
    if not 2 <= count <= MOST:
        return None
    agreeing = [lines for lines in parted if len(lines) == count]
    cuts = [
        np.mean([(boxes[a, 3].max() + boxes[b, 1].min()) / 2 for a, b in pairs])
        for pairs in zip(*(pairwise(one) for one in agreeing), strict=True)
    ]
    parted = [
        lines if len(lines) == count else _assigned(boxes, column, cuts)
        for lines, column in zip(parted, columns, strict=True)
    ]
    if not all(cell for lines in parted for cell in lines):
        return None
    rows = [[lines[row] for lines in parted] for row in range(count)]
    middles = [[boxes[cell][:, [1, 3]].mean() for cell in row] for row in rows]
    if any(max(one) >= min(next_) for one, next_ in pairwise(middles)):
        return None
    heights = [_height(boxes[[n for cell in row for n in cell]]) for row in rows]
    limit = SIZES if len(columns) > 1 else SIZES_OF_ONE
    pairs = [pair for above, below in pairwise(rows) for pair in zip(above, below, strict=True)]
    if np.mean([_is_below(boxes, *pair) for pair in pairs]) <= 0.5:
        return None
    if not 0 < max(heights) <= limit * min(heights):
        return None
    return rows if all(_is_parted(boxes, row) for row in rows) else None


def _lines(boxes: Boxes, groups: Groups) -> list[list[int]]:
    """Shapes of one column in rows; nothing but bars belongs to what is above and below it."""
    width, height = (boxes[:, 2:] - boxes[:, :2]).T
    lines: list[list[int]] = []
    reached, after_bar = -np.inf, False
    for group in sorted(groups, key=lambda g: boxes[g, 1].min()):
        if not lines or boxes[group, 1].min() - reached >= ROW_GAP:
            lines.append([])
        lines[-1] += group
        reached = max(reached, boxes[group, 3].max())
    kept: list[list[int]] = []
    for line in lines:
        bars = all(width[n] >= FLAT * height[n] for n in line)
        if kept and (bars or after_bar):
            kept[-1] = kept[-1] + line
        else:
            kept.append(line)
        after_bar = bars
    gaps = [boxes[b, 1].min() - boxes[a, 3].max() for a, b in pairwise(kept)]
    large = [gap >= CLEAR * max(gaps) for gap in gaps]
    return _merged(boxes, kept, 1 + sum(large))


def _assigned(boxes: Boxes, groups: Groups, cuts: Sequence[float]) -> list[list[int]]:
    """Rows of one column by the cuts between those of others."""
    rows: list[list[int]] = [[] for _ in range(len(cuts) + 1)]
    for group in groups:
        middle = (boxes[group, 1].min() + boxes[group, 3].max()) / 2
        rows[int(np.searchsorted(cuts, middle))] += group
    return rows


def _merged(boxes: Boxes, lines: list[list[int]], count: int) -> list[list[int]]:
    """`count` rows: those with the least white between them become one."""
    lines = list(lines)
    while len(lines) > count:
        gaps = [boxes[b, 1].min() - boxes[a, 3].max() for a, b in pairwise(lines)]
        at = int(np.argmin(gaps))
        lines[at : at + 2] = [lines[at] + lines[at + 1]]
    return lines


def _height(boxes: Boxes) -> float:
    return typical_height(boxes[:, 2:] - boxes[:, :2])


def _fractions(boxes: Boxes, inner: Sequence[int]) -> Groups:
    """Shapes, those of one fraction together."""
    groups: dict[int, set[int]] = {n: {n} for n in inner}
    center = (boxes[:, :2] + boxes[:, 2:]) / 2
    for bar in inner:
        x0, y0, x1, y1 = boxes[bar]
        if x1 - x0 < FLAT * (y1 - y0) or x1 - x0 < LEAST_BAR:
            continue
        over = [n for n in inner if n != bar and x0 - BESIDE < center[n, 0] < x1 + BESIDE]
        above = [n for n in over if center[n, 1] < y0 and y0 - boxes[n, 3] < NEAR]
        below = [n for n in over if center[n, 1] > y1 and boxes[n, 1] - y1 < NEAR]
        if above and below:
            merged = set().union(*(groups[n] for n in (bar, *above, *below)))
            for n in merged:
                groups[n] = merged
    return [list(group) for group in sorted({tuple(sorted(g)) for g in groups.values()})]


def _is_below(boxes: Boxes, upper: Sequence[int], lower: Sequence[int]) -> bool:
    """Whether more than half of the shapes of one cell of a column stand above or below one of the
    other's; exponents stand between those of their row."""
    return max(_facing(boxes, upper, lower), _facing(boxes, lower, upper)) > 0.5


def _facing(boxes: Boxes, shapes: Sequence[int], others: Sequence[int]) -> float:
    """Share of the shapes that have their middle above or below one of the others."""
    middle = boxes[shapes][:, [0, 2]].mean(axis=1)[:, None]
    low, high = boxes[others, 0] - BESIDE, boxes[others, 2] + BESIDE
    return float(((middle > low) & (middle < high)).any(axis=1).mean())


def _is_parted(boxes: Boxes, row: Sequence[Sequence[int]]) -> bool:
    """Whether the cells of a row lie further apart than the shapes within one."""
    if len(row) == 1:
        return True
    low = [boxes[cell, 0].min() for cell in row]
    high = [boxes[cell, 2].max() for cell in row]
    between = min((right - left for left, right in zip(high, low[1:], strict=False)))
    within = [width for cell in row for _, width in _whites(boxes, [[n] for n in cell])]
    return between >= WIDER * max(within, default=0.0)


def _whites(boxes: Boxes, groups: Groups) -> list[tuple[float, float]]:
    """Middle and width of each white between groups along x."""
    spans = sorted((boxes[g, 0].min(), boxes[g, 2].max()) for g in groups)
    whites, reached = [], spans[0][1]
    for low, high in spans[1:]:
        if low > reached:
            whites.append(((low + reached) / 2, low - reached))
        reached = max(reached, high)
    return whites


def _at(boxes: Boxes, groups: Groups, cuts: Sequence[float]) -> list[Groups]:
    """Columns of groups, parted at these places."""
    columns: list[Groups] = [[] for _ in range(len(cuts) + 1)]
    for group in groups:
        middle = (boxes[group, 0].min() + boxes[group, 2].max()) / 2
        columns[int(np.searchsorted(cuts, middle))].append(group)
    return columns
