"""A run's epochs: the same batches however they are drawn, planned while others are."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from namer_edge.data.augment import Augmentation
from namer_edge.data.batches import Batch, TrainingSet
from namer_edge.data.loading import Drawing
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import VOCABULARY, WRITTEN, written

ROOT = Path(__file__).parents[2]
FORMULAS = [written(number) for number in range(len(WRITTEN))]
SET = TrainingSet(FORMULAS, VOCABULARY, Preprocessing(), Augmentation(scale=0.3, rotation=4.0))


def test_epochs_are_as_planned_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("namer_edge.data.loading.CHUNK", 3)
    drawing = Drawing(SET, 4, seed=5, ranks=2)
    for epoch in range(3):
        plan = drawing.plan(epoch)
        assert plan == SET.plan(epoch, 4, seed=5, ranks=2)
        mine = plan[1::2]
        batches = list(drawing.batches(mine, epoch + 1))
        assert len(batches) == len(mine)
        for batch, specs in zip(batches, mine, strict=True):
            assert np.array_equal(batch.images[0, 0].numpy(), SET[specs[0]].image)


def test_the_next_epoch_is_planned_while_this_one_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawing = Drawing(SET, 4, seed=0)
    plan = drawing.plan(0)
    list(drawing.batches(plan, 1))
    monkeypatch.setattr(TrainingSet, "sample_spec", None)
    assert drawing.plan(1)[0]


def test_processes_draw_the_same_live_as_long_as_the_run_and_say_when_killed() -> None:
    program = [sys.executable, "-m", "tests.data.drawing_by_processes"]
    done = subprocess.run(
        program, check=False, capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("pixels", "parts"), [(0, 1), (10**9, 1), (1, 4)])
def test_a_batch_in_parts_holds_the_same_pictures(pixels: int, parts: int) -> None:
    (batch, *_) = Drawing(SET, 4, seed=0).batches(SET.plan(0, 4, seed=0))
    found = batch.parts(pixels)
    assert len(found) == parts
    assert np.array_equal(np.concatenate([part.images for part in found]), batch.images)
    assert [size for part in found for size in part.sizes] == batch.sizes
    assert all(isinstance(part, Batch) and len(part.labels) == len(part.cells) for part in found)
    height, width = batch.images.shape[-2:]
    assert [len(p.labels) for p in batch.parts(3 * height * width)] == [3, 1]
