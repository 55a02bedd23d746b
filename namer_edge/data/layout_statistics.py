"""Layout statistics of handwritten formulas: sizes, positions on the line, gaps, scripts.

All lengths are in units of a line: a row of siblings has a unit u and a height b of its own, and a
symbol of class c stands in it with diagonal u · exp(size[c]) and center b + u · rise[c], y down.
What varies between writers is kept as samples instead of averages.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.errors import DataError
from namer_edge_runtime.formula.nodes import Node, to_nodes
from namer_edge_runtime.formula.vocabulary import INKLESS, Vocabulary

from .formula import Formula
from .sign_sizes import completed

ROUNDS = 8
"""Alternations between lines and classes; the least squares converge long before."""
ACCENTS = ("\\overline", "\\underline", "\\vec", "\\hat", "\\tilde", "\\dot", "\\ddot")
"""Relations whose ink is a mark above or below what they hold; none was measured."""
TAILS = 0.03
"""Share of samples left out at either end, which removes slips of pen and labels."""

Samples = NDArray[np.float64]


@dataclass
class Element:
    """A visual node with its arguments, each a row of elements."""

    token: str
    number: int
    """Index among the formula's visual nodes."""
    rows: list["list[Element]"] = field(default_factory=list)

    @property
    def last(self) -> int:
        """Number of the last visual node within."""
        return max((e.last for row in self.rows for e in row), default=self.number)

    @property
    def attached(self) -> bool:
        """Whether it is a relation without ink, which attaches a script to its base."""
        return self.token in INKLESS


def tree(nodes: Sequence[Node], vocabulary: Vocabulary) -> list[Element]:
    """The expression tree of a path as nested rows."""
    opened: list[list[Element]] = [[]]
    relations: list[Element] = []
    number = 0
    for node in nodes:
        if node.ending:
            opened.pop()
            relation = relations[-1]
            if node.ending < len(vocabulary.relations[relation.token]):
                relation.rows.append([])
                opened.append(relation.rows[-1])
            else:
                relations.pop()
            continue
        element = Element(node.token, number)
        number += 1
        opened[-1].append(element)
        if vocabulary.relations.get(node.token):
            element.rows.append([])
            opened.append(element.rows[-1])
            relations.append(element)
    return opened[0]


@dataclass(frozen=True)
class Proportions:
    """Distributions of a layout; lengths in units of the line that a relation stands in."""

    size: dict[str, float]
    """Symbol → log of its diagonal."""
    rise: dict[str, float]
    """Symbol or `\\frac` → its center below the line's height."""
    size_spread: float
    rise_spread: float
    gaps: dict[tuple[bool, bool], Samples]
    """[n]: space between neighbors, by whether the left and the right one are operators."""
    scripts: dict[tuple[str, bool], Samples]
    """(relation, whether its base takes limits) → [n, 3]: log of the unit, x from the base's right
    edge to the script's left one (between the centers for limits), y from the near edge of the base
    to that of the script."""
    fractions: Samples
    """[n, 5]: logs of both units, spaces above and below the bar, overhang at either side."""
    roots: Samples
    """[n, 5]: log of the unit; how far the sign reaches beyond what it holds: left, top, right,
    bottom."""
    beside: frozenset[str] = frozenset()
    """Signs whose limits stand beside them as scripts do."""

    def writer(self, rng: np.random.Generator) -> "Proportions":
        """The proportions of a writer: these, which are of all together."""
        return self

    def __contains__(self, relation: object) -> bool:
        """Whether there are samples of a script, `\\limits`, `\\frac` or `\\sqrt`, or `relation`
        is an accent."""
        if relation in ACCENTS:
            return True
        if relation in ("\\frac", "\\sqrt"):
            return len(self.fractions if relation == "\\frac" else self.roots) > 0
        return any(relation == token and len(found) for (token, _), found in self.scripts.items())


def is_operator(token: str) -> bool:
    """Whether writers leave more space on both sides: all but letters, digits and words."""
    name = token.lstrip("\\")
    return not name.isalnum() or token in ("\\times", "\\pm", "\\div", "\\leq", "\\geq", "\\neq")


def measure(formulas: Sequence[Formula], vocabulary: Vocabulary) -> Proportions:
    """Proportions of all formulas with positions. Raises `DataError` if no two symbols are
    neighbors."""
    rows: list[_Row] = []
    for formula in formulas:
        if formula.placed:
            nodes = to_nodes(formula.tokens, vocabulary)
            rows += _rows(tree(nodes, vocabulary), formula.boxes.astype(np.float64))
    classes = {token: i for i, token in enumerate(vocabulary.tokens)}
    line, kind, logs, heights = [], [], [], []
    for number, row in enumerate(rows):
        row.number = number
        for element in row.elements:
            x0, y0, x1, y1 = row.boxes[element.number]
            if element.token in vocabulary.symbols and np.hypot(x1 - x0, y1 - y0) > 0:
                line.append(number)
                kind.append(classes[element.token])
                logs.append(np.log(np.hypot(x1 - x0, y1 - y0)))
                heights.append((y0 + y1) / 2)
    at, of = np.array(line), np.array(kind)
    ones = np.ones(len(at))
    unit, size, size_left = _alternate(np.array(logs), ones, at, of, len(rows), len(classes))
    scale = np.exp(unit)[at]
    base, rise, rise_left = _alternate(np.array(heights), scale, at, of, len(rows), len(classes))
    known = np.bincount(at, minlength=len(rows)) > 0
    seen = {vocabulary.tokens[i] for i in set(kind)}
    sizes, rises = (
        completed({token: float(of[i]) for token, i in classes.items()}, seen, vocabulary)
        for of in (size, rise)
    )
    return Proportions(
        sizes,
        rises | _bars(rows, unit, base, known),
        float(np.median(np.abs(size_left)) / 0.6745),
        float(np.median(np.abs(rise_left)) / 0.6745),
        _gaps(rows, unit, known),
        _scripts(rows, unit, known, vocabulary),
        _fractions(rows, unit, known),
        _roots(rows, unit, known),
    )


@dataclass
class _Row:
    """A row of siblings in some formula."""

    elements: list[Element]
    boxes: Samples
    inner: dict[tuple[int, int], "_Row"] = field(default_factory=dict)
    """(visual node, argument) → the row in it."""
    number: int = -1

    def extent(self, elements: Sequence[Element]) -> Samples | None:
        """Box round all ink of some elements; None if they have none."""
        numbers = [n for e in elements for n in range(e.number, e.last + 1)]
        own = self.boxes[numbers]
        own = own[np.isfinite(own).all(1)]
        return np.concatenate([own[:, :2].min(0), own[:, 2:].max(0)]) if len(own) else None


def _rows(elements: list[Element], boxes: Samples) -> list[_Row]:
    """The row of these elements and all rows nested in it."""
    row = _Row(elements, boxes)
    found = [row]
    for element in elements:
        for argument, inner in enumerate(element.rows):
            inside = _rows(inner, boxes)
            row.inner[element.number, argument] = inside[0]
            found += inside
    return found


def _alternate(
    values: Samples, scale: Samples, line: NDArray, kind: NDArray, lines: int, kinds: int
) -> tuple[Samples, Samples, Samples]:
    """Least squares of values = of_line[line] + scale · of_kind[kind]: both, and the residuals
    divided by scale."""
    of_line, of_kind = np.zeros(lines), np.zeros(kinds)
    per_line = np.maximum(np.bincount(line, minlength=lines), 1)
    per_kind = np.maximum(np.bincount(kind, minlength=kinds), 1)
    for _ in range(ROUNDS):
        of_line = np.bincount(line, values - scale * of_kind[kind], lines) / per_line
        of_kind = np.bincount(kind, (values - of_line[line]) / scale, kinds) / per_kind
        of_kind -= (of_kind * per_kind).sum() / per_kind.sum()
    of_line = np.bincount(line, values - scale * of_kind[kind], lines) / per_line
    return of_line, of_kind, (values - of_line[line]) / scale - of_kind[kind]


def _pairs(row: _Row) -> Iterator[tuple[list[Element], Element]]:
    """Each element with the group (base and scripts) before it."""
    group: list[Element] = []
    for element in row.elements:
        if element.attached:
            group.append(element)
            continue
        if group:
            yield group, element
        group = [element]


def _gaps(rows: Sequence[_Row], unit: Samples, known: NDArray) -> dict[tuple[bool, bool], Samples]:
    found: dict[tuple[bool, bool], list[float]] = defaultdict(list)
    for row in rows:
        for group, element in _pairs(row) if known[row.number] else ():
            left, right = row.extent(group), row.extent([element])
            if left is not None and right is not None:
                key = is_operator(group[0].token), is_operator(element.token)
                found[key].append((right[0] - left[2]) / np.exp(unit[row.number]))
    every = [gap for values in found.values() for gap in values]
    if not every:
        raise DataError("no formula has two symbols in a row: nothing tells how wide gaps are")
    both = (False, True)
    return {
        (left, right): _inner(np.array(found.get((left, right), every))[:, None])[:, 0]
        for left in both
        for right in both
    }


def _scripts(
    rows: Sequence[_Row], unit: Samples, known: NDArray, vocabulary: Vocabulary
) -> dict[tuple[str, bool], Samples]:
    found: dict[tuple[str, bool], list[list[float]]] = defaultdict(list)
    for row in rows:
        base: Element | None = None
        for element in row.elements:
            if not element.attached:
                base = element
                continue
            inner = row.inner[element.number, 0]
            if base is None or not (known[row.number] and known[inner.number]):
                continue
            below, script = row.extent([base]), row.extent([element])
            if below is None or script is None:
                continue
            limits = base.token in vocabulary.limits
            across = script[0] - below[2]
            if limits:
                across = (script[0] + script[2] - below[0] - below[2]) / 2
            down = script[3] - below[1] if element.token == "^" else script[1] - below[3]
            u = np.exp(unit[row.number])
            found[element.token, limits].append(
                [unit[inner.number] - unit[row.number], across / u, down / u]
            )
    return {key: _inner(np.array(values)) for key, values in found.items()}


def _fractions(rows: Sequence[_Row], unit: Samples, known: NDArray) -> Samples:
    found = []
    for row in rows:
        for element in row.elements if known[row.number] else ():
            if element.token != "\\frac":
                continue
            above, below = (row.inner[element.number, i] for i in (0, 1))
            top, bottom = above.extent(above.elements), below.extent(below.elements)
            x0, y0, x1, y1 = row.boxes[element.number]
            if top is None or bottom is None or not (known[above.number] and known[below.number]):
                continue
            u = np.exp(unit[row.number])
            over = (x1 - x0) - max(top[2] - top[0], bottom[2] - bottom[0])
            found.append(
                [
                    unit[above.number] - unit[row.number],
                    unit[below.number] - unit[row.number],
                    (y0 - top[3]) / u,
                    (bottom[1] - y1) / u,
                    over / 2 / u,
                ]
            )
    return _inner(np.array(found).reshape(-1, 5))


def _roots(rows: Sequence[_Row], unit: Samples, known: NDArray) -> Samples:
    found = []
    for row in rows:
        for element in row.elements if known[row.number] else ():
            if element.token != "\\sqrt":
                continue
            inner = row.inner[element.number, 1]
            held = inner.extent(inner.elements)
            if held is not None and known[inner.number]:
                beyond = (held - row.boxes[element.number]) * (1, 1, -1, -1)
                u = np.exp(unit[row.number])
                found.append([unit[inner.number] - unit[row.number], *(beyond / u)])
    return _inner(np.array(found).reshape(-1, 5))


def _bars(rows: Sequence[_Row], unit: Samples, base: Samples, known: NDArray) -> dict[str, float]:
    """Median distance of a fraction's bar below its line."""
    found = [
        (row.boxes[e.number, [1, 3]].mean() - base[row.number]) / np.exp(unit[row.number])
        for row in rows
        if known[row.number]
        for e in row.elements
        if e.token == "\\frac"
    ]
    return {"\\frac": float(np.median(found))} if found else {}


def _inner(samples: Samples) -> Samples:
    """Rows [n, m] without those that have a column in the tails."""
    if not len(samples):
        return samples
    low, high = np.quantile(samples, (TAILS, 1 - TAILS), axis=0)
    inside = ((samples >= low) & (samples <= high)).all(1)
    return samples[inside] if inside.any() else samples
