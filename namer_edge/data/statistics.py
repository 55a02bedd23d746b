"""Statistics of a data set."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from namer_edge_runtime.errors import DataError, InkError, LatexError
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.strokes import bounds, symbol_height
from namer_edge_runtime.preprocessing import CELL, Preprocessing

from .formula import Formula


@dataclass(frozen=True)
class Statistics:
    """Statistics of N formulas; lists hold one number per formula that has it."""

    formulas: int
    pictures: int
    placed: int
    """Formulas whose visual tokens have positions."""
    foreign: int
    """Formulas whose label is beyond the vocabulary."""
    lengths: list[int]
    """Visual tokens of a label."""
    depths: list[int]
    """Nesting depth of its relations."""
    strokes: list[int]
    heights: list[int]
    """Heights of the ink in pixels of the model's input; `widths` likewise."""
    widths: list[int]
    classes: dict[str, int]
    """Visual token → frequency, in descending order."""
    unseen: tuple[str, ...]
    """Classes of the vocabulary that do not occur."""
    shared: int
    """Visual tokens that share a cell of the H/8 grid with another one."""

    @classmethod
    def of(
        cls, formulas: Sequence[Formula], vocabulary: Vocabulary, preprocessing: Preprocessing
    ) -> "Statistics":
        """Counts formulas at the size of `preprocessing`; raises `DataError` without any."""
        if not formulas:
            raise DataError("there is no formula to count")
        classes: Counter[str] = Counter()
        lengths: list[int] = []
        depths: list[int] = []
        strokes: list[int] = []
        heights: list[int] = []
        widths: list[int] = []
        foreign = shared = 0
        for formula in formulas:
            try:
                nodes = to_nodes(formula.tokens, vocabulary)
            except LatexError:
                foreign += 1
                nodes = []
            visual = [node.token for node in nodes if not node.ending]
            foreign += any(token not in vocabulary for token in visual)
            classes.update(visual)
            if nodes:
                lengths.append(len(visual))
                depths.append(_depth(formula.tokens))
            if formula.strokes:
                strokes.append(len(formula.strokes))
            box, scale = _extent(formula, preprocessing)
            if scale:
                widths.append(round((box[2] - box[0]) * scale))
                heights.append(round((box[3] - box[1]) * scale))
                cells = Counter(map(tuple, np.floor(formula.positions * scale / CELL).tolist()))
                shared += sum(count for count in cells.values() if count > 1)
        return cls(
            len(formulas),
            sum(formula.picture is not None for formula in formulas),
            sum(formula.placed for formula in formulas),
            foreign,
            lengths,
            depths,
            strokes,
            heights,
            widths,
            dict(classes.most_common()),
            tuple(token for token in vocabulary.tokens if token not in classes),
            shared,
        )

    @property
    def tokens(self) -> int:
        """Visual tokens of all labels."""
        return sum(self.classes.values())

    def lines(self) -> Iterator[str]:
        """Text for people."""
        yield f"{self.formulas} formulas, {self.pictures} of them pictures"
        yield f"{self.placed} with positions, {self.foreign} with a label beyond the vocabulary"
        for name, values in self.series().items():
            if values:
                low, median, high = np.quantile(values, (0.0, 0.5, 1.0))
                mean = np.mean(values)
                yield f"{name}: {low:g} to {high:g}, median {median:g}, mean {mean:.1f}"
        yield f"{self.tokens} visual tokens of {len(self.classes)} classes"
        yield "most frequent: " + _listed(list(self.classes.items())[:12])
        yield "rarest: " + _listed(list(self.classes.items())[-12:])
        yield f"{len(self.unseen)} classes do not occur: {' '.join(self.unseen) or 'none'}"
        yield f"{self.shared} tokens share a cell with another"

    def series(self) -> dict[str, list[int]]:
        return {
            "visual tokens of a label": self.lengths,
            "depth of its relations": self.depths,
            "strokes": self.strokes,
            "width in pixels": self.widths,
            "height in pixels": self.heights,
        }

    def to_json(self) -> dict[str, Any]:
        counts = ("formulas", "pictures", "placed", "foreign", "shared")
        return {
            **{name: getattr(self, name) for name in counts},
            "series": self.series(),
            "classes": self.classes,
            "unseen": list(self.unseen),
        }


def _depth(tokens: Sequence[str]) -> int:
    """Largest number of open braces."""
    steps = [(token == "{") - (token == "}") for token in tokens]
    return int(np.cumsum([0, *steps]).max())


def _extent(
    formula: Formula, preprocessing: Preprocessing
) -> tuple[tuple[float, float, float, float], float]:
    """The box of the ink, and pixels of the model's input per unit of it; 0 without ink."""
    if formula.picture is not None:
        return formula.picture.box, formula.picture.scale(preprocessing)
    try:
        height = symbol_height(formula.strokes)
        box = bounds(formula.strokes)
    except (InkError, ValueError):
        return (0.0, 0.0, 0.0, 0.0), 0.0
    return box, preprocessing.symbol_height / height if height > 0 else 0.0


def _listed(classes: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{token} {count}" for token, count in classes)
