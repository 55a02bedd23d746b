"""Synthesis of formulas: sub-expression crops, symbols by other writers, typeset labels.

Segmentation and expression tree of the source formulas are known, so labels and positions of the
synthesized ones are exact.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.bounded import bounded
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.formula.nodes import Node, to_nodes, to_tokens
from namer_edge_runtime.formula.vocabulary import LIMITS, SCRIPTS, Vocabulary
from namer_edge_runtime.ink.strokes import Stroke, Strokes, bounds

from .formula import Formula
from .label_sampling import LabelSampler, with_oov
from .layout_rules import LayoutRules
from .layout_statistics import Proportions, measure
from .layout_synthesis import Typesetter
from .symbols import OOV, writer_of
from .writing import writing_order

BOUND_TO_CONTENT = ("\\frac", "\\sqrt", "-")
"""Symbols that are not swapped because their width depends on neighbors; `-` may be a bar."""
LEAST = 10
"""Least number of different symbols of a writer whose hand writes whole formulas."""


@dataclass(frozen=True)
class SynthesisOptions:
    """Probabilities of synthesis; 0: never."""

    cut: float = bounded(0.0, 0, 1)
    """A well-nested sub-expression replaces the formula."""
    swap: float = bounded(0.0, 0, 1)
    """A symbol takes another writer's strokes from the symbol bank."""
    typeset: float = bounded(0.0, 0, 1)
    """A label typeset with symbols of many writers replaces the formula."""
    listed: float = bounded(1 / 3, 0, 1)
    """Share of the typeset labels that come from the lists of `labels`, if there are any."""
    vary: float = bounded(0.5, 0, 1)
    """Symbols of a typeset label are exchanged for others of their kind."""
    strangers: float = bounded(0.0, 0, 1)
    """A typeset label has an out-of-vocabulary (OOV) sign."""


class Synthesis:
    """Synthesizes training formulas; one that is `blank` stands for a typeset one.

    Symbols come from the training set and from `others`, formulas or single symbols; labels from
    the training set and from `labels`. Labels with an unknown symbol or layout are skipped. The
    layout is that of the training set, or, without one, by rules and in one hand. Raises
    `DataError` if out-of-vocabulary signs are asked for and the symbol bank has none.
    """

    def __init__(
        self,
        formulas: Sequence[Formula],
        vocabulary: Vocabulary,
        options: SynthesisOptions,
        others: Sequence[Formula] = (),
        labels: Sequence[Sequence[str]] = (),
    ) -> None:
        self.vocabulary, self.options = vocabulary, options
        typeset = options.typeset or any(formula.blank for formula in formulas)
        formulas = [f for f in formulas if f.picture is None and not f.blank]
        used = options.swap or typeset
        self.symbol_bank = ink_by_token((*formulas, *others) if used else (), vocabulary)
        if typeset:
            training_labels = [formula.tokens for formula in formulas]
            self.sample_label = LabelSampler(
                training_labels, labels, vocabulary, options.vary, options.listed
            )
            layout: Proportions | LayoutRules = LayoutRules(self.symbol_bank)
            hands = hands_of(others, vocabulary)
            if formulas:
                layout, hands = measure(formulas, vocabulary), []
            self.typesetter = Typesetter(layout, self.symbol_bank, vocabulary, hands)
        if options.strangers and OOV not in self.symbol_bank:
            raise DataError(
                f"strangers = {options.strangers}, and no pack of hands has any: make one of "
                f"tables with samples whose token is {OOV} (`namer-edge data symbols`)"
            )

    def __call__(self, formula: Formula, rng: np.random.Generator) -> Formula:
        """`formula`, or a synthesized one; deterministic given `rng`."""
        if formula.blank or (self.options.typeset and rng.random() < self.options.typeset):
            return self.typeset(rng)
        if formula.picture is not None:
            return formula  # its pixels are not segmented
        if self.options.cut and rng.random() < self.options.cut:
            formula = crop_subexpression(formula, self.vocabulary, rng)
        if self.options.swap:
            formula = self.swap(formula, rng)
        return formula

    def typeset(self, rng: np.random.Generator) -> Formula:
        """A sampled label in ink."""
        while not self.typesetter.knows(tokens := self.sample_label(rng)):
            pass
        if self.options.strangers and rng.random() < self.options.strangers:
            tokens = with_oov(tokens, rng)
        formula = self.typesetter("typeset", tokens, rng)
        order = writing_order(tokens, formula.symbols, self.vocabulary, rng.spawn(1)[0])
        strokes = [formula.strokes[i] for i in order]
        return replace(formula, strokes=strokes, symbols=formula.symbols[order])

    def swap(self, formula: Formula, rng: np.random.Generator) -> Formula:
        """The formula with some symbols by other writers, of the same size, place and order."""
        nodes = [n for n in to_nodes(formula.tokens, self.vocabulary) if not n.ending]
        ink = ink_of(formula)
        for number, own in ink.items():
            token = nodes[number].token
            others = self.symbol_bank.get(token, ())
            if others and token not in BOUND_TO_CONTENT and rng.random() < self.options.swap:
                ink[number] = fitted(others[int(rng.integers(len(others)))], own)
        return replace(formula, **_in_time(ink, formula.symbols))


def crop_subexpression(
    formula: Formula, vocabulary: Vocabulary, rng: np.random.Generator
) -> Formula:
    """A random well-nested part of the path as a formula of its own.

    It never starts with a script, which would lose its base.
    """
    nodes = to_nodes(formula.tokens, vocabulary)
    starts = [
        i
        for i, node in enumerate(nodes)
        if not node.ending and node.token not in (*SCRIPTS, LIMITS)
    ]
    if not starts:
        return formula
    start = starts[int(rng.integers(len(starts)))]
    ends = _ends(nodes, start, vocabulary)
    end = ends[int(rng.integers(len(ends)))]

    visual = np.cumsum([not node.ending for node in nodes]) - 1
    kept = [int(visual[i]) for i in range(start, end) if not nodes[i].ending]
    number = {old: new for new, old in enumerate(kept)}
    own = [i for i, owner in enumerate(formula.symbols) if owner in number]
    return Formula(
        f"{formula.name}[{start}:{end}]",
        [formula.strokes[i] for i in own],
        np.array([number[int(formula.symbols[i])] for i in own], np.int32),
        tuple(to_tokens([node.token for node in nodes[start:end]], vocabulary)),
        formula.positions[kept],
        formula.boxes[kept],
    )


def _ends(nodes: Sequence[Node], start: int, vocabulary: Vocabulary) -> list[int]:
    """Ends of the well-nested parts that start at `start`."""
    depth, ends = 0, []
    for place in range(start, len(nodes)):
        node = nodes[place]
        depth += -1 if node.ending else len(vocabulary.relations.get(node.token, ()))
        if depth < 0:
            break
        if depth == 0:
            ends.append(place + 1)
    return ends


def ink_of(formula: Formula) -> dict[int, Strokes]:
    """Visual node → its strokes, in the order of the nodes, without unassigned strokes."""
    ink: dict[int, Strokes] = defaultdict(list)
    for number in sorted({int(n) for n in formula.symbols if n >= 0}):
        ink[number] = [formula.strokes[i] for i in np.flatnonzero(formula.symbols == number)]
    return dict(ink)


def ink_by_token(formulas: Iterable[Formula], vocabulary: Vocabulary) -> dict[str, list[Strokes]]:
    """Symbol → what people wrote for it in `formulas`."""
    bank: dict[str, list[Strokes]] = defaultdict(list)
    for formula in formulas:
        visual = [n.token for n in to_nodes(formula.tokens, vocabulary) if not n.ending]
        for number, strokes in ink_of(formula).items():
            bank[visual[number]].append(strokes)
    return dict(bank)


def hands_of(symbols: Iterable[Formula], vocabulary: Vocabulary) -> list[dict[str, list[Strokes]]]:
    """The bank of each known writer of at least `LEAST` different symbols."""
    written: dict[str, list[Formula]] = defaultdict(list)
    for formula in symbols:
        if writer := writer_of(formula.name):
            written[writer].append(formula)
    banks = (ink_by_token(formulas, vocabulary) for formulas in written.values())
    return [bank for bank in banks if len(bank) >= LEAST]


def _in_time(ink: Mapping[int, Strokes], owners: NDArray[np.int32]) -> dict[str, Any]:
    """`strokes` and `symbols` of a formula with this ink, in the order of the former `owners`;
    additional strokes of a node follow its last one."""
    rest = {number: list(own) for number, own in ink.items()}
    last = {int(number): i for i, number in enumerate(owners)}
    strokes: Strokes = []
    symbols: list[int] = []
    for i, number in enumerate(owners.tolist()):
        if number in rest:
            count = len(rest[number]) if i == last[number] else 1
            strokes += rest[number][:count]
            symbols += [number] * len(rest[number][:count])
            del rest[number][:count]
    return {"strokes": strokes, "symbols": np.array(symbols, np.int32)}


def fitted(strokes: Sequence[Stroke], place: Sequence[Stroke]) -> Strokes:
    """`strokes` moved and scaled to the center and diagonal of `place`, shape kept."""
    old, new = np.array(bounds(place)), np.array(bounds(strokes))
    size_old, size_new = np.hypot(*_extent(old)), np.hypot(*_extent(new))
    if not size_old > 0:
        return list(place)  # a dot has no size to fit
    scale = size_old / size_new if size_new > 0 else 1.0
    return [
        np.asarray((stroke - _center(new)) * scale + _center(old), np.float32) for stroke in strokes
    ]


def _extent(box: NDArray[np.float64]) -> NDArray[np.float64]:
    return box[2:] - box[:2]


def _center(box: NDArray[np.float64]) -> NDArray[np.float64]:
    return (box[2:] + box[:2]) / 2
