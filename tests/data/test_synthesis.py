"""Formulas made from written ones: whatever is made, label, ink and positions belong together."""

import numpy as np
import pytest

from namer_edge.data.augment import Augmentation
from namer_edge.data.batches import TrainingSet, loader
from namer_edge.data.formula import Formula
from namer_edge.data.synthesis import Synthesis, SynthesisOptions, crop_subexpression
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.ink.strokes import bounds
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import VOCABULARY, WRITTEN, written

FORMULAS = [written(number) for number in range(len(WRITTEN))]
OTHERS = [written(number, seed=1) for number in range(len(WRITTEN))]


def visual(formula: Formula) -> list[str]:
    return [n.token for n in to_nodes(formula.tokens, VOCABULARY) if not n.ending]


def check(formula: Formula) -> None:
    """Every visual token has a position, and those with ink have it where it is said to be."""
    tokens = visual(formula)
    assert len(tokens) == len(formula.positions) == len(formula.boxes)
    assert len(formula.symbols) == len(formula.strokes) > 0
    for number, (token, box) in enumerate(zip(tokens, formula.boxes, strict=True)):
        own = [s for s, n in zip(formula.strokes, formula.symbols, strict=True) if n == number]
        assert bool(own) == (token not in ("^", "_", "\\limits")) == bool(np.isfinite(box).all())
        if own:
            x0, y0, x1, y1 = bounds(own)
            reach = np.hypot(box[2] - box[0], box[3] - box[1])
            assert abs((x0 + x1) / 2 - (box[0] + box[2]) / 2) < 0.01 * reach
            assert abs((y0 + y1) / 2 - (box[1] + box[3]) / 2) < 0.01 * reach
            assert np.hypot(x1 - x0, y1 - y0) == pytest.approx(reach, rel=0.01)


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda f: " ".join(f.tokens))
def test_a_part_is_a_formula_of_its_own(formula: Formula) -> None:
    rng = np.random.default_rng(0)
    whole = " ".join(formula.tokens)
    for _ in range(20):
        part = crop_subexpression(formula, VOCABULARY, rng)
        check(part)
        assert " ".join(part.tokens) in whole
        assert part.tokens[0] not in ("^", "_", "\\limits")


def test_parts_of_all_kinds_are_cropped() -> None:
    rng = np.random.default_rng(0)
    parts = {" ".join(crop_subexpression(FORMULAS[12], VOCABULARY, rng).tokens) for _ in range(200)}
    assert parts == {"\\frac { x + 1 } { 5 }", "x", "x +", "x + 1", "+", "+ 1", "1", "5"}


def test_symbols_are_written_by_others_at_the_same_place() -> None:
    synthesis = Synthesis([*FORMULAS, *OTHERS], VOCABULARY, SynthesisOptions(swap=1.0))
    rng = np.random.default_rng(0)
    for formula in FORMULAS:
        made = synthesis(formula, rng)
        check(made)
        assert made.tokens == formula.tokens
        assert (made.positions == formula.positions).all()
    made = synthesis(FORMULAS[4], rng)
    same = [any(np.array_equal(a, b) for b in FORMULAS[4].strokes) for a in made.strokes]
    assert not all(same)


def test_what_is_as_wide_as_its_content_keeps_its_hand() -> None:
    synthesis = Synthesis([*FORMULAS, *OTHERS], VOCABULARY, SynthesisOptions(swap=1.0))
    made = synthesis(FORMULAS[12], np.random.default_rng(0))
    bars = [
        f.strokes[int(np.flatnonzero(f.symbols == visual(f).index("\\frac"))[0])]
        for f in (made, FORMULAS[12])
    ]
    assert np.array_equal(*bars)


def test_off_is_off() -> None:
    synthesis = Synthesis(FORMULAS, VOCABULARY, SynthesisOptions())
    assert synthesis(FORMULAS[0], np.random.default_rng(0)) is FORMULAS[0]


def test_made_formulas_are_drawn_with_their_own_labels() -> None:
    options = SynthesisOptions(cut=0.5, swap=0.5)
    ink = TrainingSet(FORMULAS, VOCABULARY, Preprocessing(), Augmentation(scale=0.2), options)
    lengths = set()
    for batch in loader(ink, ink.plan(0, 4, seed=0)):
        for label, cells in zip(batch.labels, batch.cells, strict=True):
            assert len(label.visual) == len(cells)
            lengths.add(len(cells))
    assert 1 in lengths
