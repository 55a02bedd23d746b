"""Strokes of InkML: its traces in order, continued ones joined, erased and highlighting ink out."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from ..errors import InkError
from .brush import Brush, Tool
from .context import PARTS, Context, Contexts, Parts, with_part
from .mapping import IDENTITY
from .strokes import FURTHEST, Strokes, symbol_height, to_strokes
from .trace import read_runs

MOST_POINTS = 1_000_000
"""Points of a file; a page that is written full has some ten thousand."""
PEN_UP = "penup"
"""Type of a trace along which the pen hovered, which is no ink."""
ERASER = 0.25
"""Width of an eraser that has none, in heights of a typical symbol."""

Points = NDArray[np.float64]


@dataclass
class _Drawn:
    """What was drawn without lifting the pen, but where the tip says otherwise."""

    brush: Brush
    unit: float | None
    runs: list[list[Points]] = field(default_factory=list)
    """Parts of each run of points, in the ink's unit."""

    def add(self, runs: list[Points]) -> None:
        """Goes on from the last run to the first of these."""
        if self.runs:
            self.runs[-1].append(runs[0])
            runs = runs[1:]
        self.runs += [[run] for run in runs]


@dataclass
class _Level:
    """An element on the way through a file, and what holds in it."""

    children: Iterator[Element]
    contexts: Contexts
    parts: Parts
    hidden: bool
    """Whether it is defined and nowhere viewed."""


def read_traces(root: Element) -> tuple[Strokes, dict[str, tuple[int, ...]]]:
    """The strokes of a file, and which of them each trace gave, by its id or else its number.

    Tags and attributes must be free of namespaces. Raises `InkError` for more than `MOST_POINTS`
    and for coordinates that cannot be brought to the canvas.
    """
    drawn, index = _drawn(root)
    owned = _visible(drawn)
    strokes = to_strokes([piece for pieces in owned for piece in pieces])
    first = np.cumsum([0, *map(len, owned)]).tolist()
    places = [tuple(range(first[n], first[n + 1])) for n in range(len(owned))]
    return strokes, {name: places[number] for name, number in index.items()}


def _traces(root: Element) -> Iterator[tuple[Element, _Level]]:
    """All traces in the order of the file, and what holds for each.

    A context or a part of one that stands among them holds for those that follow it.
    """
    views = (view.get("traceDataRef") or "" for view in root.iter("traceView"))
    viewed = {view.rpartition("#")[2] for view in views}
    waiting = [_Level(iter(root), Contexts(root), {}, False)]
    while waiting:
        level = waiting[-1]
        child = next(level.children, None)
        if child is None:
            waiting.pop()
            continue
        inner = replace(level, children=iter(child))
        if child.tag in ("trace", "traceGroup"):
            inner.parts = level.contexts.parts(child, level.parts)
            inner.hidden = level.hidden and child.get("id") not in viewed
            if child.tag == "trace":
                yield child, inner
            else:
                waiting.append(inner)
        elif child.tag == "ink":
            inner.contexts, inner.parts = level.contexts.within(child), {}
            waiting.append(inner)
        elif child.tag == "definitions":
            inner.parts, inner.hidden = {}, True
            waiting.append(inner)
        elif child.tag == "context":
            if not level.hidden:
                level.parts = level.contexts.parts(child, level.parts)
        elif child.tag in PARTS:
            if not level.hidden:
                level.parts = with_part(level.parts, child)
        elif child.tag != "math":
            waiting.append(inner)


def _drawn(root: Element) -> tuple[list[_Drawn], dict[str, int]]:
    """What was drawn, and by which of it each trace was, by id or number."""
    drawn: list[_Drawn] = []
    index: dict[str, int] = {}
    within: dict[tuple[Contexts, str], int] = {}  # ids count in their own `ink`
    left = MOST_POINTS
    unit = None
    all_hidden = all(level.hidden for _, level in _traces(root))
    for number, (element, level) in enumerate(_traces(root)):
        if element.get("type", "").lower() == PEN_UP or (level.hidden and not all_hidden):
            continue
        text = element.text or ""
        left -= 1 + text.count(",")
        if left < 0:
            raise InkError(f"more than {MOST_POINTS} points: split the file")
        context = level.contexts.context(level.parts)
        runs = [_placed(run, context) for run in read_runs(text, context.channels)]
        runs = [run for run in runs if len(run)]
        if not runs:
            continue
        unit = unit or context.unit
        if unit and context.unit and unit != context.unit:
            runs = [run * (context.unit / unit) for run in runs]
        name = element.get("id", str(number))
        prior = (element.get("priorRef") or "").rpartition("#")[2]
        last = len(drawn) - 1 if element.get("continuation") in ("middle", "end") else -1
        place = within.get((level.contexts, prior), -1) if prior else last
        if place < 0:
            place = len(drawn)
            drawn.append(_Drawn(context.brush, unit))
        drawn[place].add(runs)
        within[level.contexts, name] = place
        index.setdefault(name, place)
    return drawn, index


def _placed(points: Points, context: Context) -> Points:
    """Points of a trace on the canvas, those that lie beyond `FURTHEST` left out."""
    if context.matrix is IDENTITY:
        return points
    placed = points @ context.matrix[:, :2].T + context.matrix[:, 2]
    return placed[(np.abs(placed) <= FURTHEST).all(axis=1)]


def _visible(drawn: list[_Drawn]) -> list[list[Points]]:
    """The lines that are left of each stroke: none of an eraser, nor of a highlighter where a pen
    was used too."""
    lines = [[np.concatenate(run) for run in stroke.runs] for stroke in drawn]
    tools = [stroke.brush.tool for stroke in drawn]
    if Tool.ERASER in tools:
        from .eraser import erased  # brings OpenCV, which few files need

        lines = erased(lines, _widths(drawn, lines))
    if Tool.PEN in tools:
        lines = [[] if t is Tool.HIGHLIGHTER else own for t, own in zip(tools, lines, strict=True)]
    return lines


def _widths(drawn: list[_Drawn], lines: list[list[Points]]) -> list[float | None]:
    """The width of each eraser in the ink's unit, None for other strokes."""
    pens = [n for n, stroke in enumerate(drawn) if stroke.brush.tool is not Tool.ERASER]
    usual = ERASER * symbol_height(to_strokes([line for n in pens for line in lines[n]]))
    widths: list[float | None] = []
    for stroke in drawn:
        width = stroke.brush.width
        if stroke.brush.measured:
            width = width / stroke.unit if width and stroke.unit else None
        widths.append((width or usual) if stroke.brush.tool is Tool.ERASER else None)
    return widths
