"""`namer-edge export`: one command from checkpoint to a model file that computes the same."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import onnx
import pytest
import torch

from namer_edge.checkpoints.load_pretrained import load_pretrained
from namer_edge.checkpoints.weights import load_weights, save_weights
from namer_edge.data.pack import Pack, save_pack
from namer_edge.data.report import Report
from namer_edge.model.namer import Namer
from namer_edge.training.config import load_config
from namer_edge_export import export as export_module
from namer_edge_export.export import export, verify
from namer_edge_export.formats import TARGETS, find_target
from namer_edge_export.parity import Pictures, parity
from namer_edge_runtime.command import INTERRUPTED, main
from namer_edge_runtime.errors import ExportError, UnreadableError, UsageError
from namer_edge_runtime.inputs import LoadedInput
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import Prepared
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result

from ..handwriting import VOCABULARY, written
from .conftest import CHECKPOINT, traced


@pytest.fixture(scope="session")
def model(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return export(checkpoint, tmp_path_factory.mktemp("model") / "small")


def test_odd_sizes_come_through_the_recognizer(model: ModelFile) -> None:
    recognizer = Recognizer.from_pretrained(model.path, threads=1)
    for size in ((17, 33), (1, 1), (3, 999), (33, 17)):
        picture = np.full(size, 255, np.uint8)
        picture[size[0] // 2, size[1] // 3 :] = 0
        (answer,) = recognizer.each([picture])  # whatever it reads, it does not fail
        assert isinstance(answer, Result | UnreadableError)


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


def test_a_model_that_sees_strokes_reads_as_its_checkpoint(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = load_config("edge", ["stroke_planes=true"])
    namer = Namer(config.architecture, VOCABULARY)
    load_pretrained(namer, CHECKPOINT)
    with torch.no_grad():
        namer.get_parameter("encoder.stages.0.down.conv.weight")[:, 1:].normal_(0, 0.02)
    path = tmp_path / "seeing.safetensors"
    save_weights(path, namer, config.preprocessing, {"config": asdict(config)})
    model = export(path, tmp_path / "model")
    assert model.preprocessing.stroke_planes
    pack = tmp_path / "written.npz"
    save_pack(pack, Pack([written(n) for n in range(6)], Report(6), {}))
    pictures = Pictures.of(pack, model.preprocessing)
    assert [isinstance(file, LoadedInput) for file in pictures.files] == [False, True] * 3
    found = parity(load_weights(path)[0], model, "onnxruntime", pictures)
    assert found.passed, found.text()
    seeing, blind = (
        Recognizer.from_pretrained(model.path, threads=1, one_look=True, as_picture=hidden)
        for hidden in (False, True)
    )
    strokes = written(5).strokes
    assert seeing.strokes(strokes).tokens
    assert seeing.strokes(strokes).score != blind.strokes(strokes).score


def test_what_does_not_compute_the_same_is_not_written(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = export_module.export_pgd

    def other_weights(namer: torch.nn.Module, *attend: object) -> bytes:
        with torch.no_grad():
            namer.pgd.correct.bias.add_(torch.linspace(0, 1, len(namer.pgd.correct.bias)))  # type: ignore
        try:
            return real(namer, *attend)  # type: ignore[arg-type]
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


def test_fp16_is_half_as_large_and_nearly_the_same(
    model: ModelFile, checkpoint: Path, tmp_path: Path
) -> None:
    half = export(checkpoint, tmp_path / "half", "onnx", "fp16")
    sizes = [sum(part.bytes for part in each.parts.values()) for each in (half, model)]
    assert sizes[0] < 0.6 * sizes[1]
    assert 1e-6 < verify(load_weights(checkpoint)[0], half) < 1e-2
    graph = onnx.load_from_string(half.read("pgd")).graph
    ends = {item.type.tensor_type.elem_type for item in (*graph.input, *graph.output)}
    assert onnx.TensorProto.FLOAT16 not in ends
    floats = [t for t in graph.initializer if t.data_type == onnx.TensorProto.FLOAT]
    assert sum(np.prod(t.dims) for t in floats) < 2000, "all but the waves of positions"
    assert Recognizer.from_pretrained(half.path, threads=1).engine.precision == "fp16"


def test_what_exists_is_replaced_only_by_force(
    model: ModelFile, checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", str(checkpoint), "-o", str(tmp_path / "m")]
    with traced(model):
        assert main(command) == 0
        before = (tmp_path / "m" / "model.json").read_bytes()
        assert main([*command, "--name", "other"]) == 2
        assert "--force" in capsys.readouterr().err
        assert (tmp_path / "m" / "model.json").read_bytes() == before
        assert main([*command, "--name", "other", "--force"]) == 0
    assert ModelFile.open(tmp_path / "m").name == "other"


def test_force_spares_what_is_no_model(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    assert main(["export", str(checkpoint), "-o", str(tmp_path), "--force"]) == 2
    assert "holds other files (letters.txt)" in capsys.readouterr().err
    assert (tmp_path / "letters.txt").read_text() == "dear"
    with ZipFile(tmp_path / "ink.zip", "w") as archive:
        archive.writestr("a.inkml", "<ink/>")
    packed = (tmp_path / "ink.zip").read_bytes()
    command = ["export", str(checkpoint), "--format", "torch", "--force", "-o"]
    assert main([*command, str(tmp_path / "ink.zip")]) == 2
    assert "no model" in capsys.readouterr().err
    assert (tmp_path / "ink.zip").read_bytes() == packed
    for _ in range(2):
        assert main([*command, str(tmp_path / "m.zip")]) == 0


def test_looks_are_those_that_the_checkpoint_names_unless_others_are_asked_for(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = checkpoint.with_suffix(".json")
    named = tmp_path / checkpoint.name
    named.write_bytes(checkpoint.read_bytes())
    meta = json.loads(said.read_text("utf-8"))
    meta["decoding"] = {"second_looks": [1.25, 0.8], "sure": 0.75}
    named.with_suffix(".json").write_text(json.dumps(meta), "utf-8")
    for source, more, looks, sure in (
        (checkpoint, [], (), 1.0),
        (named, [], (1.25, 0.8), 0.75),
        (named, ["--second-looks", "1.5", "--sure", "0.5"], (1.5,), 0.5),
        (named, ["--second-looks"], (), 0.75),
        (named, ["--tta-scales", "1.5", "--confidence-threshold", "0.5"], (1.5,), 0.5),
    ):
        target = ["--format", "torch", "--force", "-o", str(tmp_path / "m")]
        assert main(["export", str(source), *target, *more]) == 0
        told = capsys.readouterr().out
        assert "the model reads each input once" in told
        assert ("again where the score is under" in told) == bool(looks)
        decoding = ModelFile.open(tmp_path / "m").decoding
        assert (decoding.tta_scales, decoding.confidence_threshold) == (looks, sure)


def test_each_step_is_told_as_it_begins(
    model: ModelFile, checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with traced(model):
        assert main(["export", str(checkpoint), "-o", str(tmp_path / "m")]) == 0
    steps = [line for line in capsys.readouterr().err.splitlines() if line.endswith(" …")]
    assert [step.split()[0] for step in steps] == ["tracing", "converting", "comparing", "writing"]


@pytest.mark.parametrize("stage", ["verify", "export_pgd"])
def test_ctrl_c_leaves_nothing_half_written(
    stage: str, model: ModelFile, checkpoint: Path, tmp_path: Path
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with traced(model), pytest.MonkeyPatch.context() as patch:  # undone before `traced` is
        patch.setattr(export_module, stage, interrupted)
        assert main(["export", str(checkpoint), "-o", str(tmp_path / "m")]) == INTERRUPTED
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format_version": 99}, "reads version 1"),
        (
            {"vocabulary": {"name": "few", "symbols": ["x"], "relations": {}, "limits": []}},
            "do not fit their JSON",
        ),
        ({"sha256": "0" * 64}, "SHA-256 differs"),
    ],
)
def test_a_checkpoint_of_another_version_or_vocabulary(
    change: dict[str, Any],
    says: str,
    checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = json.loads(checkpoint.with_suffix(".json").read_text())
    other = tmp_path / "other.safetensors"
    other.write_bytes(checkpoint.read_bytes())
    other.with_suffix(".json").write_text(json.dumps({**record, **change}))
    assert main(["export", str(other), "-o", str(tmp_path / "m")]) == 1
    assert says in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


def test_a_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("namer_edge_export.")]:
        if name != "namer_edge_export.verb":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["export", "x.safetensors", "-o", "m"]) == 3
    assert "namer-edge[export]" in capsys.readouterr().err


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
