"""`namer-edge train … qat=true`: training with the roundings that int8 export makes."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from onnxruntime import InferenceSession
from torch import Tensor

from namer_edge.checkpoints.weights import load_state, load_weights, save_weights
from namer_edge.data.batches import Batch, TrainingSet, loader
from namer_edge.data.pack import Pack, load_pack, save_pack
from namer_edge.data.report import Report
from namer_edge.model.engine import TorchEngine
from namer_edge.model.namer import Namer
from namer_edge.training import quantization_aware
from namer_edge.training.config import TrainConfig, load_config
from namer_edge.training.loop import Trainer, train
from namer_edge.training.loss import Objective
from namer_edge.training.quantization_aware import (
    NEGLIGIBLE,
    Activations,
    QuantizationAware,
    round_u8,
    round_weight,
    rounded,
)
from namer_edge_export.onnx import export_pgd, export_vat
from namer_edge_export.quantization.onnx_qdq import quantize_pgd, quantize_vat
from namer_edge_runtime.engine.base import PgdInputs
from namer_edge_runtime.errors import ConfigError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.inputs import prepare_input

from ..handwriting import written
from .conftest import PLAIN, SMALL

SHALLOW = [*SMALL, "blocks=[0, 0, 1, 0]", "pgd_layers=1", "dropout=0"]
"""A rounding that falls the other way changes all that comes after it, so depth is kept out."""


def settings(pack: Path, output: Path, *more: str) -> list[str]:
    return [
        *SHALLOW,
        *PLAIN,
        "weight_decay=0",
        f'train=["{pack}"]',
        f"validation={pack}",
        f"output={output}",
        "batch_size=16",
        "precision=fp32",
        "evaluate_every=0",
        "log_every=1",
        *more,
    ]


@pytest.fixture
def untrained(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    config = load_config("edge", SHALLOW)
    namer = Namer(config.architecture, Vocabulary.load("crohme"))
    torch.nn.init.normal_(namer.vat.classify.weight, std=0.2)  # or "none" everywhere
    path = tmp_path / "untrained.safetensors"
    save_weights(path, namer, config.preprocessing, {"config": asdict(config)})
    return path


def test_weights_keep_129_steps_a_channel_and_the_gradient_of_what_they_were() -> None:
    weight = torch.randn(5, 4, 3, 3) * torch.tensor([1, 10, 100, 1e-3, 0])[:, None, None, None]
    weight.requires_grad_()
    result = round_weight(weight)
    step = weight.detach().flatten(1).abs().amax(1) / 64
    assert torch.all((result - weight).flatten(1).abs().amax(1) <= step / 2 * 1.001)
    result.sum().backward()
    assert weight.grad is not None
    assert torch.all(weight.grad == 1)


def test_folding_batch_normalization_rounds_alike() -> None:
    weight, factor = torch.randn(6, 4, 3, 3), torch.randn(6)[:, None, None, None] * 3
    torch.testing.assert_close(round_weight(weight * factor), round_weight(weight) * factor)


def test_activations_keep_256_steps_and_no_gradient_beyond_the_range() -> None:
    x = torch.tensor([-2.0, -0.99, 0.0, 0.013, 2.9, 4.0], requires_grad=True)
    result = round_u8(x, torch.tensor(-1.0), torch.tensor(3.0))
    torch.testing.assert_close(result[1:5], x[1:5], atol=2 / 255, rtol=0)
    assert result[2] == 0
    assert result[0] > -1.01
    assert result[5] < 3.01
    result.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 1, 1, 1, 1, 0]


def test_ranges_grow_at_once_shrink_slowly_and_stand_still_in_use(untrained: Path) -> None:
    namer, _, _ = load_weights(untrained)
    activations = Activations(namer, forget=0.1).train()
    row = [point.module for point in activations.points].index(namer.vat.merge)
    logits = [point.logits for point in activations.points].index(True)
    f8, f16 = torch.rand(1, 48, 4, 8), torch.rand(1, 64, 2, 4)
    namer.vat(f8, f16)
    first = activations.bounds.clone()
    namer.vat(2 * f8, 2 * f16)
    assert activations.bounds[row, 1] > 1.9 * first[row, 1]
    wide = activations.bounds.clone()
    _, seen = namer.vat(f8, f16)
    assert first[row, 1] < activations.bounds[row, 1] < wide[row, 1]
    largest = seen.amax(1)
    assert activations.bounds[logits, 0] <= largest.min() - NEGLIGIBLE + 0.1
    stood = activations.eval().bounds.clone()
    namer.vat(5 * f8, 5 * f16)
    assert torch.equal(stood, activations.bounds)


def test_it_computes_what_the_int8_graphs_compute(
    untrained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given the same ranges: those of float activations, as calibration has them."""
    namer, preprocessing, _ = load_weights(untrained)
    pictures = [
        {"image": prepare_input(written(n).strokes, preprocessing).image[None, None]}
        for n in range(4)
    ]
    engine = TorchEngine.of(namer)
    nodes = [_nodes(engine, picture["image"]) for picture in pictures]
    vat = InferenceSession(quantize_vat(export_vat(namer), lambda: pictures))
    pgd = InferenceSession(quantize_pgd(export_pgd(namer), nodes))
    names = ["none", "features", "memory"]
    int8 = [
        [*vat.run(names, picture), *pgd.run(["self", "left", "right"], inputs)]
        for picture, inputs in zip(pictures, nodes, strict=True)
    ]

    def computed() -> list[list[np.ndarray]]:
        results = []
        for picture, inputs in zip(pictures, nodes, strict=True):
            seen = engine.vat(picture["image"])
            said = engine.pgd(PgdInputs(**{k: _tensor(v) for k, v in inputs.items()}))
            results.append(
                [
                    seen.none,
                    seen.features.numpy(),
                    seen.memory.numpy(),
                    said.correction,
                    said.left,
                    said.right,
                ]
            )
        return results

    plain = computed()
    activations = Activations(namer, forget=0.0).train()
    with monkeypatch.context() as patch:
        patch.setattr(quantization_aware, "round_u8", lambda x, low, high: x)
        computed()
    _share_range_of_f16(namer, activations)
    activations.eval()
    with torch.no_grad():
        for name, weight in rounded(namer).items():
            namer.get_parameter(name).copy_(weight)
    imitated = computed()
    for place, name in enumerate([*names, "self", "left", "right"]):
        near, far = (
            float(
                np.mean([np.abs(a[place] - b[place]).mean() for a, b in zip(x, int8, strict=True)])
            )
            for x in (imitated, plain)
        )
        assert near < 0.35 * far, name
    # Not just near: nearly all values lie on the very same steps.
    for place in (1, 2):
        same = [
            np.isclose(a[place], b[place], atol=1e-6) for a, b in zip(imitated, int8, strict=True)
        ]
        assert np.mean([s.mean() for s in same]) > 0.9


def _share_range_of_f16(namer: Namer, activations: Activations) -> None:
    """What is upsampled keeps F16's range in the int8 graph; in training it has its own."""
    rows = {(point.module, point.output): row for row, point in enumerate(activations.points)}
    f16 = rows[namer.encoder.stages[3].down, True]  # type: ignore[union-attr, index]
    activations.bounds[rows[namer.vat.lateral, False]] = activations.bounds[f16]


def _nodes(engine: TorchEngine, image: np.ndarray) -> dict[str, Any]:
    seen = engine.vat(image)
    rows, columns = seen.none.shape[1:]
    rng = np.random.default_rng(rows * columns)
    count = 12
    cells = np.stack([rng.integers(0, rows, count), rng.integers(0, columns, count)], -1)[None]
    return {
        "features": seen.features.numpy(),
        "memory": seen.memory.numpy(),
        "cells": cells,
        "classes": rng.integers(0, 100, (1, count)),
        "endings": np.zeros((1, count), np.int64),
        "scores": rng.random((1, count), np.float32),
        "mask": np.ones((1, count), np.float32),
    }


def _tensor(value: np.ndarray) -> Any:
    """Maps are tensors to the torch engine, nodes are arrays."""
    return torch.from_numpy(value) if value.ndim == 4 else value


def _batch(config: TrainConfig, pack: Path) -> Batch:
    vocabulary = Vocabulary.load("crohme")
    ink = TrainingSet(
        load_pack(pack).formulas, vocabulary, config.preprocessing, config.augmentation
    )
    return next(loader(ink, ink.plan(0, 4, 0)))


def _loss(weights: Path, config: TrainConfig, batch: Batch) -> float:
    """Of the rounded model, with the ranges that this very batch has."""
    objective = Objective(load_weights(weights)[0], config.loss, config.candidates)
    quantized = QuantizationAware(objective)
    quantized.eval()
    quantized.activations.train()
    with torch.no_grad():
        losses: dict[str, Tensor] = quantized(batch, (0,))
    return float(losses["loss"])


def test_it_mends_what_rounding_breaks_and_plain_training_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights of -1, 0 and 1 steps, for eight bits hardly hurt so small a model."""
    pack = tmp_path / "four.npz"
    save_pack(pack, Pack([written(number) for number in (0, 1, 3, 4)], Report(4), {}))
    brief = ["batch_size=4", "validation=", "warmup_epochs=1"]
    learning = [*brief, "epochs=40", "learning_rate=2e-3"]
    train(load_config("edge", settings(pack, tmp_path / "learn", *learning)))
    learned = tmp_path / "learn" / "last.safetensors"
    monkeypatch.setattr(quantization_aware, "LARGEST_WEIGHT", 1)
    tuning = [*brief, "epochs=20", "learning_rate=1e-3", f"init={learned}"]
    config = load_config("edge", settings(pack, tmp_path / "aware", *tuning, "qat=true"))
    train(config)
    train(load_config("edge", settings(pack, tmp_path / "plain", *tuning)))
    batch = _batch(config, pack)
    losses = {
        name: _loss(tmp_path / name / "last.safetensors", config, batch)
        for name in ("learn", "aware", "plain")
    }
    assert losses["aware"] < 0.6 * min(losses["learn"], losses["plain"]), losses


def test_the_checkpoint_is_one_like_any_other(untrained: Path, pack: Path, tmp_path: Path) -> None:
    more = ["qat=true", f"init={untrained}", "epochs=1", "ema=0.9", "batch_size=4"]
    train(load_config("edge", settings(pack, tmp_path / "run", *more)))
    before, preprocessing, _ = load_weights(untrained)
    after, same, record = load_weights(tmp_path / "run" / "best.safetensors")
    assert (after.architecture, same) == (before.architecture, preprocessing)
    assert record["config"]["qat"] is True
    # Batch normalization kept its statistics; weights moved, and are not rounded.
    for name, value in before.state_dict().items():
        if "running" in name:
            assert torch.equal(value, after.state_dict()[name])
    weight = after.vat.classify.weight
    assert not torch.allclose(weight, before.vat.classify.weight, atol=1e-6)
    assert len(weight[0].unique()) > 129


def test_what_is_validated_is_the_rounded_model(
    untrained: Path, pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    validation: list[Namer] = []

    def judge(namer: Namer, *_: Any) -> dict[str, float]:
        validation.append(namer)
        return {"exprate": 1.0}

    monkeypatch.setattr("namer_edge.training.loop.validate", judge)
    more = ["qat=true", f"init={untrained}", "epochs=1"]
    train(load_config("edge", settings(pack, tmp_path / "run", *more)))
    assert all(len(channel.unique()) <= 129 for channel in validation[0].vat.classify.weight)
    memory = validation[0].encode(torch.rand(1, 1, 64, 128)).memory
    assert len(memory.unique()) <= 256


def test_a_stopped_run_goes_on_to_the_same_weights(
    untrained: Path, pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = ["qat=true", f"init={untrained}", "epochs=2", "batch_size=4"]
    train(load_config("edge", settings(pack, tmp_path / "whole", *more)))
    halves = load_config("edge", settings(pack, tmp_path / "halves", *more))
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_agree_on_stopping", _after(3))
        train(halves)
    train(halves, resume=True)
    whole, resumed = (
        load_state(tmp_path / name / "state.safetensors")[0] for name in ("whole", "halves")
    )
    for group in ("model", "ranges"):
        assert all(torch.equal(whole[group][name], resumed[group][name]) for name in whole[group])
    assert whole["ranges"]["bounds"].abs().sum() > 0


def _after(steps: int) -> Callable[[Trainer], None]:
    def stop(trainer: Trainer) -> None:
        trainer.stopping = trainer.progress.step == steps

    return stop


def test_there_must_be_something_to_fine_tune() -> None:
    with pytest.raises(ConfigError, match="init=CHECKPOINT"):
        load_config("edge", ["qat=true"])
