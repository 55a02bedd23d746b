"""The mean of checkpoints is a checkpoint, and names its parents."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from namer_edge.checkpoints.average import average_checkpoints
from namer_edge.checkpoints.weights import load_weights, save_weights
from namer_edge.model.namer import Architecture, Namer
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import CheckpointError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.preprocessing import STROKE_PLANES, Preprocessing

SMALL = Architecture("edge", (8, 8, 16, 16), (0, 0, 0, 1), 16, 16, 1, 2)


def checkpoint(
    path: Path, seed: int, architecture: Architecture = SMALL, stroke_planes: bool = False
) -> Path:
    torch.manual_seed(seed)
    namer = Namer(architecture, Vocabulary.load("crohme"))
    record = {"licence": f"of {seed}", "progress": {"epoch": seed}}
    preprocessing = Preprocessing(26.0, 2.0, 8, 512, 2048, stroke_planes=stroke_planes)
    save_weights(path, namer, preprocessing, record)
    return path


def test_weights_are_averaged_and_named(tmp_path: Path) -> None:
    paths = [checkpoint(tmp_path / f"{seed}.safetensors", seed) for seed in (1, 2, 3)]
    output = tmp_path / "mean.safetensors"
    assert main(["train", "average", *map(str, paths), "-o", str(output)]) == 0
    found, preprocessing, record = load_weights(output)
    parts = [load_weights(path) for path in paths]
    for name, value in found.state_dict().items():
        if value.is_floating_point():
            wanted = sum(part[0].state_dict()[name] for part in parts) / 3
            assert torch.allclose(value, wanted, atol=1e-3), name
    assert preprocessing == parts[0][1]
    assert record["licence"] == "of 3"
    assert [a["progress"] for a in record["averaged"]] == [{"epoch": n} for n in (1, 2, 3)]
    assert [a["sha256"] for a in record["averaged"]] == [part[2]["sha256"] for part in parts]


def test_each_parent_is_named_once_in_full(tmp_path: Path) -> None:
    one, two, three = (checkpoint(tmp_path / f"{n}.safetensors", n) for n in (1, 2, 3))
    inner, outer = tmp_path / "inner.safetensors", tmp_path / "outer.safetensors"
    average_checkpoints([one, two], inner)
    average_checkpoints([inner, two, three, inner], outer)
    record = load_weights(outer)[2]
    first, second, third, fourth = record["averaged"]
    assert [part["progress"] for part in first["averaged"]] == [{"epoch": 1}, {"epoch": 2}]
    assert second == {"sha256": first["averaged"][1]["sha256"]}
    assert third["progress"] == {"epoch": 3}
    assert fourth == {"sha256": first["sha256"]}


def test_weights_without_stroke_planes_have_zeros_for_them(tmp_path: Path) -> None:
    plain = checkpoint(tmp_path / "plain.safetensors", 1)
    architecture = replace(SMALL, channels=1 + STROKE_PLANES)
    seeing = checkpoint(tmp_path / "seeing.safetensors", 2, architecture, stroke_planes=True)
    output = tmp_path / "mean.safetensors"
    average_checkpoints([plain, seeing], output)
    found, preprocessing, _ = load_weights(output)
    first = "encoder.stages.0.down.conv.weight"
    old, new, half = (
        load_weights(path)[0].get_parameter(first) for path in (plain, seeing, output)
    )
    assert preprocessing.stroke_planes
    assert torch.allclose(half[:, :1], (old + new[:, :1]) / 2, atol=1e-3)
    assert torch.allclose(half[:, 1:], new[:, 1:] / 2, atol=1e-3)
    assert found.architecture == architecture
    with pytest.raises(CheckpointError, match="differs"):
        average_checkpoints([seeing, plain], output)


def test_unlike_models_have_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = checkpoint(tmp_path / "one.safetensors", 1)
    other = checkpoint(tmp_path / "other.safetensors", 1, replace(SMALL, blocks=(0, 0, 1, 1)))
    output = tmp_path / "mean.safetensors"
    for wrong, complaint in (
        (other, "architecture"),
        (tmp_path / "none.safetensors", "cannot read"),
    ):
        assert main(["train", "average", str(wrong), str(one), "-o", str(output)]) == 1
        assert complaint in capsys.readouterr().err
    assert not output.exists()


def test_the_former_module_averages_too(tmp_path: Path) -> None:
    one, output = checkpoint(tmp_path / "one.safetensors", 1), tmp_path / "mean.safetensors"
    command = [sys.executable, "-m", "namer_edge.training.mean", str(one), "-o", str(output)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (parent,) = load_weights(output)[2]["averaged"]
    assert parent == {"sha256": load_weights(one)[2]["sha256"], "progress": {"epoch": 1}}


def test_without_arguments_its_usage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "average"]) == 2
    assert "usage: namer-edge train average" in capsys.readouterr().err
