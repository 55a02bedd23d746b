"""Pictures for training: drawn as the device draws them, planned so that a run can go on."""

import cv2
import numpy as np
import pytest

from namer_edge.data.augment import Augmentation, ScaledInk, place
from namer_edge.data.batches import TrainingSet, loader
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import VOCABULARY, WRITTEN, written

FORMULAS = [written(number) for number in range(len(WRITTEN))]
LOOK = Preprocessing()
WILD = Augmentation(
    scale=0.3,
    aspect=0.2,
    rotation=4.0,
    shear=0.15,
    symbol_shift=0.05,
    stroke_shift=0.05,
    wave=0.1,
    ripple=0.05,
    pen=0.4,
)


def test_without_augmentation_training_sees_exactly_what_the_device_sees() -> None:
    ink = TrainingSet(FORMULAS, VOCABULARY, LOOK, Augmentation())
    for batch in ink.plan(epoch=0, batch_size=4, seed=0):
        for draw in batch:
            drawn = ink[draw]
            expected = render(FORMULAS[draw.formula].strokes, LOOK).image
            height, width = drawn.size
            assert (drawn.image[:height, :width] == expected).all()
            assert not drawn.image[height:].any()
            assert not drawn.image[:, width:].any()


def test_padding_of_a_batch_is_told_apart() -> None:
    ink = TrainingSet(FORMULAS, VOCABULARY, LOOK, Augmentation())
    (batch,) = loader(ink, ink.plan(0, 16, seed=0))
    assert batch.mask is not None
    for mask, (height, width) in zip(batch.mask, batch.sizes, strict=True):
        assert mask.sum() == (height // 16) * (width // 16)
    augmented = TrainingSet(FORMULAS, VOCABULARY, LOOK, WILD)
    for other in loader(augmented, augmented.plan(0, 4, seed=0)):
        assert other.mask is None  # the ink lies anywhere in a picture of the batch's size


def test_ink_stays_inside_and_tokens_stay_on_their_ink() -> None:
    ink = TrainingSet(FORMULAS, VOCABULARY, LOOK, WILD)
    for epoch in range(3):
        for batch in loader(ink, ink.plan(epoch, 4, seed=epoch)):
            images = batch.images[:, 0].numpy()
            assert not images[:, [0, -1]].any()
            assert not images[:, :, [0, -1]].any()
            for image, label, cells in zip(images, batch.labels, batch.cells, strict=True):
                for token, (row, column) in zip(label.classes[label.visual], cells, strict=True):
                    near = image[max(0, row * 8 - 8) : row * 8 + 16]
                    near = near[:, max(0, column * 8 - 8) : column * 8 + 16]
                    assert near.any(), VOCABULARY.token(int(token))


def test_a_scan_shows_the_same_ink_at_the_same_place() -> None:
    plain, scans = (
        TrainingSet(FORMULAS, VOCABULARY, LOOK, Augmentation(pen=0.1, scanned=share))
        for share in (0.0, 1.0)
    )
    for index in range(len(FORMULAS)):
        drawing = plain.sample_spec(index, seed=0, epoch=0)
        drawn, scan = plain[drawing], scans[drawing]
        assert (scan.cells == drawn.cells).all()
        assert (scan.image != drawn.image).any()
        # What lies further than a thick pen apart would be misplaced or made up.
        near = np.ones((7, 7), np.uint8)
        for one, other in ((drawn, scan), (scan, drawn)):
            missing = (one.image > 128) & (cv2.dilate(other.image, near) < 64)
            assert missing.sum() <= 0.03 * (one.image > 128).sum(), FORMULAS[index].name


def test_each_stroke_moves_on_its_own_and_dots_stay() -> None:
    equals = ScaledInk.of(written(next(i for i, w in enumerate(WRITTEN) if "=" in w[0])), LOOK)
    moved = place(equals, LOOK, Augmentation(stroke_shift=0.1), np.random.default_rng(0))
    still = place(equals, LOOK, Augmentation(), np.random.default_rng(0))
    shifts = [
        (one - other).mean(0) for one, other in zip(moved.strokes(0), still.strokes(0), strict=True)
    ]
    assert np.ptp(shifts, axis=0).max() > 0.5
    assert np.ptp(moved.positions - still.positions, axis=0).max() < 1e-3


def test_a_plan_follows_from_seed_and_epoch_alone() -> None:
    ink = TrainingSet(FORMULAS, VOCABULARY, LOOK, WILD)
    assert ink.plan(3, 4, seed=1) == ink.plan(3, 4, seed=1)
    assert ink.plan(3, 4, seed=1) != ink.plan(4, 4, seed=1)
    draw = ink.plan(3, 4, seed=1)[0][0]
    assert (ink[draw].image == ink[draw].image).all()


@pytest.mark.parametrize(("size", "ranks"), [(4, 1), (2, 2), (3, 2), (16, 1)])
def test_an_epoch_holds_every_formula_in_batches_of_one_size(size: int, ranks: int) -> None:
    plan = TrainingSet(FORMULAS, VOCABULARY, LOOK, WILD).plan(0, size, seed=0, ranks=ranks)
    assert len(plan) % ranks == 0
    assert {draw.formula for batch in plan for draw in batch} == set(range(len(FORMULAS)))
    for batch in plan:
        assert len(batch) == size
        assert len({(draw.height, draw.width) for draw in batch}) == 1


def test_fewer_formulas_than_ranks_leave_no_rank_without_one() -> None:
    plan = TrainingSet(FORMULAS[:3], VOCABULARY, LOOK, WILD).plan(0, 2, seed=0, ranks=4)
    assert [len(batch) for batch in plan] == [1, 1, 1, 1]
    assert {draw.formula for batch in plan for draw in batch} == {0, 1, 2}


def test_augmentation_changes_size_slant_and_pen_within_bounds() -> None:
    scaled = ScaledInk.of(FORMULAS[4], LOOK)
    plain = place(scaled, LOOK, Augmentation(), np.random.default_rng(0))
    drawn = [place(scaled, LOOK, WILD, np.random.default_rng(seed)) for seed in range(200)]
    ratios = np.array([d.extent[1] / plain.extent[1] for d in drawn])
    assert 0.5 < ratios.min() < 0.85
    assert 1.2 < ratios.max() < 2.2
    pens = np.array([d.pen_width / LOOK.pen_width for d in drawn])
    assert np.exp(-0.4) <= pens.min() < 0.75
    assert 1.35 < pens.max() <= np.exp(0.4)


def test_a_formula_too_large_for_the_look_is_shrunk_as_on_the_device() -> None:
    preprocessing = Preprocessing(max_width=128)
    formula = FORMULAS[4]
    placed = place(
        ScaledInk.of(formula, preprocessing),
        preprocessing,
        Augmentation(),
        np.random.default_rng(0),
    )
    assert (
        placed.size(preprocessing)[1]
        == render(formula.strokes, preprocessing).image.shape[1]
        <= 128
    )
