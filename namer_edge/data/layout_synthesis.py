"""Formulas typeset from labels: symbols of many writers in a layout sampled from `Proportions`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.spelling import FUNCTIONS
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.strokes import Strokes, bounds

from .formula import Formula
from .layout_rules import LayoutRules
from .layout_statistics import ACCENTS, Element, Proportions, is_operator, tree
from .placement import place

BRACKETS = {
    "(": ")",
    "[": "]",
    "\\{": "\\}",
    "\\lfloor": "\\rfloor",
    "\\lceil": "\\rceil",
    "\\langle": "\\rangle",
}
MARKS = {
    "\\overline": "-",
    "\\underline": "-",
    "\\vec": "\\rightarrow",
    "\\hat": "\\wedge",
    "\\tilde": "\\sim",
    "\\dot": ".",
    "\\ddot": ".",
    "\\frac": "-",
}
"""Accent, or bar that nobody wrote as one → the symbol whose ink is its mark."""
TALLER = 1.2
"""Brackets grow if their content is higher than they are by this factor."""
THICKEST = 0.15
"""Most height of a fraction bar in units of its row: longer bars do not bend more."""
SMALLEST = 0.35
"""Least unit of a row, in units of the outermost, which keeps scripts of scripts legible."""
NEAREST = 24
"""Number of samples from which the best-fitting shape of a bar is chosen."""

Box = NDArray[np.float64]


@dataclass
class Piece:
    """Typeset ink: visual node → strokes, and its box x0, y0, x1, y1."""

    ink: dict[int, Strokes]
    box: Box

    @classmethod
    def of(cls, number: int, strokes: Strokes) -> "Piece":
        return cls({number: strokes}, np.array(bounds(strokes), np.float64))

    def move(self, x: float, y: float) -> "Piece":
        shift = np.array([x, y], np.float32)
        self.ink = {n: [stroke + shift for stroke in strokes] for n, strokes in self.ink.items()}
        self.box = self.box + np.tile(shift, 2)
        return self

    def add(self, other: "Piece") -> None:
        self.ink |= other.ink
        low, high = np.minimum(self.box, other.box)[:2], np.maximum(self.box, other.box)[2:]
        self.box = np.concatenate([low, high])


class Typesetter:
    """Typesets labels in ink; `symbol_bank` has the strokes that people wrote for each symbol."""

    def __init__(
        self,
        layout: Proportions | LayoutRules,
        symbol_bank: Mapping[str, Sequence[Strokes]],
        vocabulary: Vocabulary,
        hands: Sequence[Mapping[str, Sequence[Strokes]]] = (),
    ) -> None:
        """`hands`: the part of the symbol bank of each known writer."""
        self.layout, self.symbol_bank, self.vocabulary = layout, symbol_bank, vocabulary
        self.hands = hands

    def knows(self, tokens: Sequence[str]) -> bool:
        """Whether canonical `tokens` can be typeset: the symbol bank has every symbol, every script
        has a base, and the proportions have every relation."""
        rows = [tree(to_nodes(tokens, self.vocabulary), self.vocabulary)]
        for row in rows:
            for element in row:
                # Only the index of a root may be empty.
                if not all(element.rows[element.token == "\\sqrt" :]):
                    return False
                if element.rows and element.token not in self.layout:
                    return False
                if not element.attached and not all(
                    letter in self.symbol_bank for letter in self.written(element.token)
                ):
                    return False
                rows += [inner for inner in element.rows if inner]
            if not row or row[0].attached:
                return False
        return True

    def written(self, token: str) -> Sequence[str]:
        """The symbols of the bank that a token is written with: itself, the letters of a function
        name that nobody wrote as one sign, or the mark of an accent."""
        if token in self.symbol_bank:
            return (token,)
        if token in MARKS:
            return (MARKS[token],)
        return tuple(token[1:]) if token in FUNCTIONS else (token,)

    def __call__(self, name: str, tokens: Sequence[str], rng: np.random.Generator) -> Formula:
        """One sample of `tokens` in ink, in units of the outermost line."""
        nodes = to_nodes(tokens, self.vocabulary)
        piece = _Setting(self, rng).row(tree(nodes, self.vocabulary), 1.0)
        visual = sum(not node.ending for node in nodes)
        ink = [piece.ink.get(number, []) for number in range(visual)]
        placement = place(nodes, ink)
        return Formula(
            name,
            [stroke for strokes in ink for stroke in strokes],
            np.array([n for n, strokes in enumerate(ink) for _ in strokes], np.int32),
            tuple(tokens),
            placement.positions,
            placement.boxes,
        )


class _Setting:
    """One formula being typeset; lengths in units of the outermost line, y down."""

    def __init__(self, setter: Typesetter, rng: np.random.Generator) -> None:
        self.proportions, self.symbol_bank = setter.layout.writer(rng), setter.symbol_bank
        self.rng = rng
        self.written = setter.written
        self.limits = set(setter.vocabulary.limits) - self.proportions.beside
        hands = setter.hands
        self.hand = hands[int(rng.integers(len(hands)))] if hands else {}
        self.chosen: dict[str, Strokes] = {}  # all occurrences of another hand's symbol look alike

    def row(self, elements: Sequence[Element], unit: float) -> Piece:
        """Siblings along the line y = 0, at least one."""
        bases = {e.number: self.element(e, unit) for e in elements if not e.attached}
        self.fit_brackets(elements, bases)
        whole: Piece | None = None
        before = False
        for group in _groups(elements):
            piece = bases[group[0].number]
            base = piece.box
            for relation in group[1:]:
                piece.add(self.script(relation, group[0], base, unit))
            here = is_operator(group[0].token)
            if whole is None:
                whole = piece
            else:
                gap = unit * float(self.rng.choice(self.proportions.gaps[before, here]))
                whole.add(piece.move(whole.box[2] + gap - piece.box[0], 0))
            before = here
        assert whole is not None
        return whole

    def element(self, element: Element, unit: float) -> Piece:
        """A symbol, fraction or root on the line y = 0."""
        if element.token == "\\frac":
            return self.fraction(element, unit)
        if element.token == "\\sqrt":
            return self.root(element, unit)
        if element.token in ACCENTS:
            return self.accent(element, unit)
        letters = self.written(element.token)
        if len(letters) > 1:
            return self.word(element.number, letters, unit)
        p, (size, rise) = self.proportions, self.rng.standard_normal(2)
        strokes = self.sample(element.token)
        x0, y0, x1, y1 = bounds(strokes)
        # Out-of-vocabulary signs have the size and position of the average symbol.
        diagonal = unit * np.exp(p.size.get(element.token, 0.0) + p.size_spread * size)
        scale = diagonal / (np.hypot(x1 - x0, y1 - y0) or 1.0)
        down = unit * (p.rise.get(element.token, 0.0) + p.rise_spread * rise)
        return Piece.of(element.number, _scaled(strokes, scale, scale)).move(0, down)

    def sample(self, token: str) -> Strokes:
        """A symbol in this formula's hand, or always the same one of another."""
        own = self.hand.get(token)
        if own:
            return own[int(self.rng.integers(len(own)))]
        if token not in self.chosen:
            samples = self.symbol_bank[token]
            self.chosen[token] = samples[int(self.rng.integers(len(samples)))]
        return self.chosen[token]

    def fit_brackets(self, elements: Sequence[Element], pieces: dict[int, Piece]) -> None:
        """Enlarges brackets to the height of their content."""
        opened: list[int] = []
        for place_, element in enumerate(elements):
            if element.token in BRACKETS:
                opened.append(place_)
            elif opened and element.token == BRACKETS[elements[opened[-1]].token]:
                start = opened.pop()
                inside = [e.number for e in elements[start + 1 : place_] if e.number in pieces]
                if not inside:
                    continue
                held = np.array([pieces[number].box for number in inside])
                top, bottom = held[:, 1].min(), held[:, 3].max()
                for number in (elements[start].number, element.number):
                    piece = pieces[number]
                    factor = 1.1 * (bottom - top) / max(piece.box[3] - piece.box[1], 1e-6)
                    if factor > TALLER:
                        grown = _scaled(piece.ink[number], min(factor, 1.6), factor)
                        pieces[number] = Piece.of(number, grown).move(0, (top + bottom) / 2)

    def script(self, relation: Element, base: Element, box: Box, unit: float) -> Piece:
        """The content of `^`, `_` or `\\limits`, placed by the own box of its base."""
        limits = base.token in self.limits
        samples = self.proportions.scripts.get((relation.token, limits))
        if samples is None:  # such as rare limits
            samples = self.proportions.scripts[relation.token, not limits]
        log, across, down = self.rng.choice(samples)
        piece = self.row(relation.rows[0], _smaller(unit, log))
        x = box[2] - piece.box[0]
        if limits:
            x = (box[0] + box[2] - piece.box[0] - piece.box[2]) / 2
        y = box[1] - piece.box[3] if relation.token == "^" else box[3] - piece.box[1]
        return piece.move(x + unit * across, y + unit * down)

    def fraction(self, element: Element, unit: float) -> Piece:
        log_above, log_below, above, below, over = self.rng.choice(self.proportions.fractions)
        top = self.row(element.rows[0], _smaller(unit, log_above))
        bottom = self.row(element.rows[1], _smaller(unit, log_below))
        widths = [piece.box[2] - piece.box[0] for piece in (top, bottom)]
        width = max(max(widths) + 2 * unit * over, 0.5 * unit)
        strokes = self.fitting(element.token, width, 0.1 * width)
        x0, y0, x1, y1 = bounds(strokes)
        scale = width / ((x1 - x0) or 1.0)
        flat = min(scale, THICKEST * unit / ((y1 - y0) or 1.0))
        bar = Piece.of(element.number, _scaled(strokes, scale, flat))
        bar.move(0, unit * self.proportions.rise[element.token])
        for piece, y in (
            (top, bar.box[1] - unit * above - top.box[3]),
            (bottom, bar.box[3] + unit * below - bottom.box[1]),
        ):
            shift = self.rng.normal(0, 0.05) * width
            piece.move(shift - (piece.box[0] + piece.box[2]) / 2, y)
        bar.add(top)
        bar.add(bottom)
        return bar

    def root(self, element: Element, unit: float) -> Piece:
        log, left, over, right, under = self.rng.choice(self.proportions.roots)
        held = self.row(element.rows[1], _smaller(unit, log))
        box = held.box + unit * np.array([-left, -over, right, under])
        width, height = np.maximum(box[2:] - box[:2], 0.3 * unit)
        reach = min(max(left, 0.1) * unit, 0.9 * width)
        strokes = _root_sign(self.sample(element.token), width, height, reach)
        sign = Piece.of(element.number, strokes).move(*(box[:2] + box[2:]) / 2)
        if element.rows[0]:
            index = self.row(element.rows[0], _smaller(unit, log - 0.7))
            foot = sign.box[0] + 0.8 * unit * left
            index.move(foot - index.box[2], (sign.box[1] + sign.box[3]) / 2 - index.box[3])
            sign.add(index)
        sign.add(held)
        return sign

    def word(self, number: int, letters: Sequence[str], unit: float) -> Piece:
        """A function name: its letters close together, as one visual node."""
        unit *= self.rng.uniform(0.75, 1.0)
        whole = self.element(Element(letters[0], number), unit)
        gap = unit * self.rng.uniform(-0.05, 0.2)
        for letter in letters[1:]:
            piece = self.element(Element(letter, number), unit)
            piece.move(whole.box[2] + gap - piece.box[0], 0)
            piece.ink = {number: whole.ink[number] + piece.ink[number]}
            whole.add(piece)
        return whole

    def accent(self, element: Element, unit: float) -> Piece:
        """A mark above its argument, or below it for `\\underline`."""
        held = self.row(element.rows[0], unit)
        width, rng = held.box[2] - held.box[0], self.rng
        samples = self.symbol_bank[MARKS[element.token]]
        strokes = samples[int(rng.integers(len(samples)))]
        if element.token in ("\\dot", "\\ddot"):
            size = unit * rng.uniform(0.06, 0.14)
            dot = _scaled(
                strokes, *[size / max(np.ptp(np.concatenate(strokes), 0).max(), 1e-3)] * 2
            )
            apart = np.array([unit * rng.uniform(0.18, 0.3), 0], np.float32)
            strokes = dot if element.token == "\\dot" else [*dot, *(s + apart for s in dot)]
        else:
            wide = max(width * rng.uniform(0.8, 1.25), unit * rng.uniform(0.3, 0.5))
            x0, y0, x1, y1 = bounds(strokes)
            tall = wide * (y1 - y0) / ((x1 - x0) or 1.0)
            most = unit * (0.3 if element.token != "\\overline" else 0.12)
            strokes = _scaled(
                strokes, wide / ((x1 - x0) or 1.0), min(tall, most) / ((y1 - y0) or 1.0)
            )
        mark = Piece.of(element.number, strokes)
        gap = unit * rng.uniform(0.05, 0.25)
        y = held.box[1] - gap - mark.box[3]
        if element.token == "\\underline":
            y = held.box[3] + gap - mark.box[1]
        center = (held.box[0] + held.box[2] - mark.box[0] - mark.box[2]) / 2
        mark.move(center + unit * rng.normal(0, 0.05), y)
        mark.add(held)
        return mark

    def fitting(self, token: str, width: float, height: float) -> Strokes:
        """The sample, among `NEAREST`, whose aspect ratio is nearest to that of the given box."""
        samples = self.symbol_bank.get(token) or self.symbol_bank[MARKS[token]]
        some = [samples[int(i)] for i in self.rng.integers(len(samples), size=NEAREST)]
        boxes = np.array([bounds(strokes) for strokes in some])
        shapes = np.maximum(boxes[:, 2:] - boxes[:, :2], 1e-3)
        unlike = np.abs(np.log(shapes[:, 0] / shapes[:, 1]) - np.log(width / height))
        return some[int(unlike.argmin())]


def _groups(elements: Sequence[Element]) -> Iterator[list[Element]]:
    """Each element with ink, followed by its scripts."""
    group: list[Element] = []
    for element in elements:
        if group and not element.attached:
            yield group
            group = []
        group.append(element)
    yield group


def _smaller(unit: float, log: float) -> float:
    return max(unit * float(np.exp(log)), SMALLEST)


def _scaled(strokes: Strokes, x: float, y: float) -> Strokes:
    """`strokes` scaled by x and y, the center of their box at the origin."""
    box = np.array(bounds(strokes))
    center = (box[:2] + box[2:]) / 2
    return [np.asarray((stroke - center) * (x, y), np.float32) for stroke in strokes]


def _root_sign(strokes: Strokes, width: float, height: float, reach: float) -> Strokes:
    """A root sign of the given size, the center of its box at the origin: its hook and rising
    stroke take `reach` of the width, its bar, drawn where nobody drew one, the rest."""
    x0, y0, x1, y1 = bounds(strokes)
    points = np.concatenate(strokes)
    foot_x = points[points[:, 1].argmax(), 0]
    top = points[(points[:, 0] > foot_x) & (points[:, 1] < y0 + 0.2 * (y1 - y0)), 0]
    peak = float(top.min()) if len(top) else x1
    if x1 - peak < 0.3 * (peak - x0):
        peak = x1
        strokes = [*strokes, np.array([[x1, y0], [x1 + 1, y0]], np.float32)]
        x1 += 1
    xs, to_x = (x0, peak, x1), (-width / 2, reach - width / 2, width / 2)
    down = height / ((y1 - y0) or 1.0)
    return [
        np.column_stack(
            [np.interp(stroke[:, 0], xs, to_x), (stroke[:, 1] - (y0 + y1) / 2) * down]
        ).astype(np.float32)
        for stroke in strokes
    ]
