"""In which order strokes are written, in what is made and in what training is shown of it."""

from dataclasses import replace

import numpy as np
import pytest

from namer_edge.data.augment import Augmentation
from namer_edge.data.batches import TrainingSet, loader
from namer_edge.data.synthesis import Synthesis, SynthesisOptions, crop_subexpression
from namer_edge.data.writing import rewritten, writing_order
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.preprocessing import STROKE_PLANES, Preprocessing

from ..handwriting import VOCABULARY, WRITTEN, written

FORMULAS = [written(number) for number in range(len(WRITTEN))]
LOOK = Preprocessing(26.0, stroke_planes=True)


def test_what_is_made_is_written_in_the_order_of_its_original() -> None:
    formula = written(4)
    backwards = replace(
        formula, strokes=formula.strokes[::-1], symbols=formula.symbols[::-1].copy()
    )
    assign_strokes = backwards.symbols.tolist()
    assert assign_strokes == sorted(assign_strokes, reverse=True) != sorted(assign_strokes)
    swapped = Synthesis(FORMULAS, VOCABULARY, SynthesisOptions(swap=1.0))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        for made in (swapped.swap(backwards, rng), crop_subexpression(backwards, VOCABULARY, rng)):
            assert made.symbols.tolist() == sorted(made.symbols, reverse=True)


def test_a_bar_is_written_before_or_after_its_numerator() -> None:
    label = "\\frac { a + \\frac { 1 } { 2 } } { b }"
    assign_strokes = np.array([0, 1, 2, 3, 4, 5, 6], np.int32)
    rng = np.random.default_rng(0)
    found = {
        tuple(writing_order(label.split(), assign_strokes, VOCABULARY, rng)) for _ in range(50)
    }
    assert found == {
        (0, 1, 2, 3, 4, 5, 6),
        (0, 1, 2, 4, 3, 5, 6),
        (1, 2, 3, 4, 5, 0, 6),
        (1, 2, 4, 3, 5, 0, 6),
    }


def test_a_few_samples_are_written_otherwise() -> None:
    strokes = FORMULAS[4].strokes
    changed, rng = 0, np.random.default_rng(0)
    for _ in range(300):
        made = rewritten(strokes, rng)
        kept = {np.sort(stroke, axis=0).tobytes() for stroke in strokes}
        assert {np.sort(stroke, axis=0).tobytes() for stroke in made} == kept
        changed += any(
            (a.shape != b.shape or (a != b).any() for a, b in zip(strokes, made, strict=True))
        )
    assert 0.1 < changed / 300 < 0.25


@pytest.mark.parametrize(("hidden", "shown"), [(0.0, 16), (1.0, 0)])
def test_strokes_are_shown_to_training_as_to_the_device(hidden: float, shown: int) -> None:
    ink = TrainingSet(FORMULAS, VOCABULARY, LOOK, Augmentation(), strokes_hidden=hidden)
    (plan,) = ink.plan(0, 16, seed=0)
    (batch,) = loader(ink, [plan])
    assert batch.images.shape[1] == 1 + STROKE_PLANES
    assert sum(bool(image[1:].any()) for image in batch.images) == shown
    for draw, image, (height, width) in zip(plan, batch.images.numpy(), batch.sizes, strict=True):
        expected = render(FORMULAS[draw.formula].strokes, LOOK)
        assert (image[0, :height, :width] == expected.image).all()
        if not hidden:
            assert (image[1:, :height, :width] == expected.strokes).all()


def test_half_are_hidden_and_so_is_what_is_scanned() -> None:
    augmentation = Augmentation(pen=0.1)
    plain = TrainingSet(FORMULAS, VOCABULARY, Preprocessing(26.0), augmentation)
    ink = TrainingSet(FORMULAS, VOCABULARY, LOOK, augmentation, strokes_hidden=0.5)
    scans = TrainingSet(FORMULAS, VOCABULARY, LOOK, replace(augmentation, scanned=1.0))
    seen = []
    for draw in (draw for epoch in range(8) for batch in ink.plan(epoch, 4, 0) for draw in batch):
        drawn = ink[draw]
        assert (drawn.image == plain[draw].image).all()
        seen.append(drawn.strokes is not None)
    assert 0.35 < np.mean(seen) < 0.65
    assert all(scans[draw].strokes is None for draw in ink.plan(0, 16, 0)[0])
