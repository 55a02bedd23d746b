"""`namer-edge export`: one command from checkpoint to a model file that computes the same."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from namer_edge.training.checkpoint import load_weights
from namer_edge_export import export as export_module
from namer_edge_export.export import export, verify
from namer_edge_export.formats import TARGETS, find_target
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import ExportError, UsageError
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.picture.look import Prepared
from namer_edge_runtime.recognizer import Recognizer


@pytest.fixture(scope="session")
def model(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return export(checkpoint, tmp_path_factory.mktemp("model") / "small")


def test_odd_sizes_come_through_the_recognizer(model: ModelFile) -> None:
    recognizer = Recognizer.from_pretrained(model.path, threads=1)
    for size in ((17, 33), (1, 1), (3, 999), (33, 17)):
        picture = np.full(size, 255, np.uint8)
        picture[size[0] // 2, size[1] // 3 :] = 0
        recognizer(picture)  # whatever it reads, it does not fail


def test_a_batch_reads_as_one_by_one(model: ModelFile) -> None:
    recognizer = Recognizer.from_pretrained(model.path, threads=1)
    rng = np.random.default_rng(1)
    sizes = [(48, 112), (64, 64)] * 8
    prepared = [
        Prepared(np.where(rng.random(s) < 0.08, 255, 0).astype(np.uint8), 1.0, (0.0, 0.0))
        for s in sizes
    ]
    alone = [recognizer.each([p])[0] for p in prepared]
    together = recognizer.each(prepared, batch_size=8)
    assert [a.canonical for a in alone] == [t.canonical for t in together]  # type: ignore[union-attr]


def test_the_model_file_explains_itself(model: ModelFile, checkpoint: Path) -> None:
    meta = json.loads((model.path / "model.json").read_text())
    record = json.loads(checkpoint.with_suffix(".json").read_text())
    assert meta["training"]["checkpoint_sha256"] == record["sha256"]
    assert meta["decoding"]["threshold"] == record["config"]["threshold"]
    assert meta["look"] == record["look"]
    assert set(meta["parts"]) == {"vat", "pgd"}
    assert "licence" in meta


def test_what_does_not_compute_the_same_is_not_written(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = export_module.export_pgd

    def other_weights(namer: torch.nn.Module) -> bytes:
        with torch.no_grad():
            namer.pgd.correct.bias.add_(torch.linspace(0, 1, len(namer.pgd.correct.bias)))  # type: ignore
        try:
            return real(namer)  # type: ignore[arg-type]
        finally:
            with torch.no_grad():
                namer.pgd.correct.bias.sub_(  # type: ignore
                    torch.linspace(0, 1, len(namer.pgd.correct.bias))  # type: ignore
                )

    monkeypatch.setattr(export_module, "export_pgd", other_weights)
    with pytest.raises(ExportError, match="differ from the checkpoint"):
        export(checkpoint, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_the_difference_is_rounding_alone(model: ModelFile, checkpoint: Path) -> None:
    assert verify(load_weights(checkpoint)[0], model) < 1e-5


def test_a_target_that_does_not_exist_is_refused_with_what_does() -> None:
    with pytest.raises(UsageError, match="did you mean 'onnx'"):
        find_target("onxn", "fp32")
    with pytest.raises(UsageError, match="only fp32"):
        find_target("onnx", "int3")


def test_help_lists_every_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--help"]) == 0
    text = capsys.readouterr().out
    assert all(t.format in text and t.precision in text for t in TARGETS)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["none.safetensors", "-o", "m"], 1, "cannot read the weights"),
        (["x.safetensors", "-o", "m", "--format", "tflite"], 2, "no format 'tflite'"),
    ],
)
def test_the_command_says_what_is_wrong(
    arguments: list[str], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", *arguments]) == code
    assert says in capsys.readouterr().err
