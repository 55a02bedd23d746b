"""Epochs drawn by processes: a program of its own, since these must not begin within pytest's."""

import os
import signal

import numpy as np
import pytest
import torch
from torch.utils.data import get_worker_info

from namer_edge.data.augment import Augmentation
from namer_edge.data.batches import SampleSpec, TrainingSample, TrainingSet, Unplanned
from namer_edge.data.loading import Drawing
from namer_edge_runtime.errors import TrainingError
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import VOCABULARY, WRITTEN, written


class Fatal(TrainingSet):
    """Kills the process that draws from it."""

    def __getitem__(self, draw: SampleSpec | Unplanned) -> TrainingSample:  # type: ignore[override]
        assert get_worker_info() is not None
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        raise AssertionError


def made(kind: type[TrainingSet]) -> TrainingSet:
    formulas = [written(number) for number in range(len(WRITTEN))]
    return kind(formulas, VOCABULARY, Preprocessing(), Augmentation(scale=0.3, rotation=4.0))


def drawn_alike_by_processes_that_stay() -> None:
    drawings = [Drawing(made(TrainingSet), 4, seed=5, ranks=2, workers=n) for n in (0, 2)]
    pids = []
    for epoch in range(2):
        here, there = (d.plan(epoch) for d in drawings)
        assert here == there == made(TrainingSet).plan(epoch, 4, seed=5, ranks=2)
        batches = [list(d.batches(here[1::2], epoch + 1)) for d in drawings]
        for one, other in zip(*batches, strict=True):
            assert torch.equal(one.images, other.images)
            assert one.sizes == other.sizes
            assert all(np.array_equal(a, b) for a, b in zip(one.cells, other.cells, strict=True))
        iterator = drawings[1]._loader._iterator
        pids.append([worker.pid for worker in iterator._workers])  # type: ignore[union-attr]
    assert pids[0] == pids[1]


def killed_and_explained() -> None:
    with pytest.raises(TrainingError, match=r"draws pictures died.*--resume"):
        Drawing(made(Fatal), 4, seed=0, workers=1).plan(0)


if __name__ == "__main__":
    drawn_alike_by_processes_that_stay()
    killed_and_explained()
