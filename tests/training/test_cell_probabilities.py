"""Targets from probabilities that stay on the device are those from the whole map."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from namer_edge.data.augment import Augmentation
from namer_edge.data.batches import UNKNOWN, Batch, TrainingSet, loader
from namer_edge.model.namer import Namer
from namer_edge.training.cell_probabilities import BEST, CellProbabilities
from namer_edge.training.config import load_config
from namer_edge.training.loss import Objective
from namer_edge.training.matching import match
from namer_edge.training.targets import Candidates, node_targets, stack
from namer_edge_runtime.preprocessing import CELL, Preprocessing

from ..handwriting import VOCABULARY, WRITTEN, written
from .conftest import SMALL

WILD = Candidates(threshold=0.1, corrupt=0.5, jitter=0.5, surplus=2.0)


@pytest.fixture(scope="module")
def batch() -> Batch:
    """Four formulas, padded to one size; one has a sign that is out of vocabulary."""
    ink = TrainingSet(
        [written(n) for n in range(len(WRITTEN))], VOCABULARY, Preprocessing(), Augmentation()
    )
    batch = next(loader(ink, ink.plan(0, 4, seed=0)))
    label = batch.labels[0]
    classes = label.classes.copy()
    plain = [place for place in label.visual if VOCABULARY.endings[classes[place]] == 0]
    classes[plain[0]] = UNKNOWN
    batch.labels[0] = replace(label, classes=classes)
    assert len(set(batch.sizes)) > 1
    return batch


@pytest.fixture(scope="module")
def logits(batch: Batch) -> torch.Tensor:
    """Random ones that pick some nodes."""
    height, width = (side // CELL for side in batch.images.shape[-2:])
    random = torch.randn(4, VOCABULARY.size + 1, height, width, generator=torch.manual_seed(0))
    random[:, -1] += 6.0
    return random


def test_parts_of_the_map_are_those_of_the_whole(logits: torch.Tensor) -> None:
    whole = torch.softmax(logits, 1).numpy()
    seen = CellProbabilities(logits)
    best = seen.best().of(1, 3, 5)
    expected = np.sort(whole[1, :-1, :3, :5], 0)[::-1][:BEST]
    assert np.array_equal(best.scores, expected)
    assert np.array_equal(np.take_along_axis(whole[1, :, :3, :5], best.classes, 0), expected)
    assert np.array_equal(best.none, whole[1, -1, :3, :5])
    classes = [np.array(part, np.int64) for part in ([3, UNKNOWN], [], [0], [7])]
    rows = seen.of_classes(classes)
    assert [len(part) for part in rows] == [2, 0, 1, 1]
    assert np.array_equal(rows[0], np.stack([whole[0, 3], 1 - whole[0, -1]]))
    cells = [np.array(part, np.int64).reshape(-1, 2) for part in ([(1, 2)], [], [(0, 0)], [])]
    columns = seen.of_cells(cells)
    assert np.array_equal(columns[0], whole[0, :, 1, 2][None])
    assert np.array_equal(columns[2], whole[2, :, 0, 0][None])


def test_targets_are_those_of_each_picture_alone(batch: Batch, logits: torch.Tensor) -> None:
    namer = Namer(load_config("edge", SMALL).architecture, VOCABULARY)
    objective = Objective(namer, load_config("edge", SMALL).loss, WILD)
    visual, nodes = objective._targets(batch, CellProbabilities(logits), np.random.default_rng(3))
    rng, whole, expected = np.random.default_rng(3), torch.softmax(logits, 1).numpy(), []
    for i, label in enumerate(batch.labels):
        h, w = (side // CELL for side in batch.sizes[i])
        p = whole[i, :, :h, :w]
        matched = match(p, label.classes[label.visual], batch.cells[i], objective.options.window)
        assert (visual[i].numpy()[tuple(matched.T)] == label.classes[label.visual]).all()
        expected.append(node_targets(label, matched, p, VOCABULARY, WILD, rng))
    for name, value in stack(expected).items():
        assert torch.equal(nodes[name], value), name


def test_the_whole_map_never_comes_to_the_host(
    batch: Batch, logits: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought, cpu = [0], torch.Tensor.cpu

    def counted(tensor: torch.Tensor) -> torch.Tensor:
        brought[0] += tensor.numel()
        return cpu(tensor)

    monkeypatch.setattr(torch.Tensor, "cpu", counted)
    namer = Namer(load_config("edge", SMALL).architecture, VOCABULARY)
    Objective(namer, load_config("edge", SMALL).loss, WILD)._targets(
        batch, CellProbabilities(logits), np.random.default_rng(0)
    )
    assert 0 < brought[0] < 0.35 * logits.numel()
