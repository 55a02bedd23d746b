"""Averaged weights, and a batch in parts: what a step computes does not depend on how."""

import numpy as np
import pytest
import torch

from namer_edge.data.augment import Augmentation
from namer_edge.data.batches import Batch, TrainingSet, loader
from namer_edge.training.distributed import drawing_processes
from namer_edge.training.micro_batches import micro_batches
from namer_edge.training.weight_average import update_average
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import VOCABULARY, WRITTEN, written


def test_the_average_is_that_of_one_tensor_after_the_other() -> None:
    generator = torch.manual_seed(0)
    state = {f"w{n}": torch.randn(3, 1 + n, generator=generator) for n in range(5)}
    state["seen"] = torch.tensor(7)
    average = {name: torch.zeros_like(value) for name, value in state.items()}
    expected = {name: value.clone() for name, value in average.items()}
    for decay in (0.9, 0.3, 0.0):
        update_average(average, state, decay)
        for name, value in state.items():
            if value.is_floating_point():
                expected[name].lerp_(value, 1 - decay)
        assert average["seen"] == 7
        assert all(torch.equal(average[f"w{n}"], expected[f"w{n}"]) for n in range(5))
    assert all(torch.equal(average[name], state[name]) for name in state)


@pytest.fixture(scope="module")
def batches() -> list[Batch]:
    ink = TrainingSet(
        [written(n) for n in range(len(WRITTEN))], VOCABULARY, Preprocessing(), Augmentation()
    )
    return list(loader(ink, ink.plan(0, 5, seed=0)))[:2]


def test_without_a_budget_nothing_is_divided(batches: list[Batch]) -> None:
    found = list(micro_batches(batches, 0, rank=1, ranks=4))
    assert [part.batch for part in found] == batches
    assert [part.share for part in found] == [0.5, 0.5]
    assert [part.place for part in found] == [(1,), (5,)]
    assert [part.last for part in found] == [False, True]


def test_no_part_exceeds_the_budget_and_shares_add_up(batches: list[Batch]) -> None:
    budget = 2 * int(np.prod(batches[0].images.shape[-2:]))
    found = list(micro_batches(batches, budget))
    for part in found:
        pictures, _, height, width = part.batch.images.shape
        assert pictures * height * width <= budget or pictures == 1
    assert len(found) > len(batches)
    assert sum(part.share for part in found) == pytest.approx(1)
    assert sum(len(part.batch.labels) for part in found) == 10
    assert len({part.place for part in found}) == len(found)
    assert [part.last for part in found] == [False] * (len(found) - 1) + [True]


def test_processes_that_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("namer_edge.training.distributed.usable_cpus", lambda: 16)
    gpu, cpu = torch.device("cuda", 0), torch.device("cpu")
    assert drawing_processes(-1, gpu) == 15
    assert (drawing_processes(-1, cpu), drawing_processes(3, cpu)) == (0, 3)
    assert drawing_processes(0, gpu) == 0
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    assert drawing_processes(-1, gpu) == 3
