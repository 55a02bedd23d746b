"""A model on probation beside its place: exports to one path at once, and writes that fail."""

import os
from pathlib import Path

import pytest

from namer_edge_export.export import export
from namer_edge_export.staging import unverified
from namer_edge_runtime.command import main
from namer_edge_runtime.model_file import ModelFile

from ..runtime.tiny_model import write_tiny_model


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


def parts(model: ModelFile) -> dict[str, bytes]:
    return {role: model.read(role) for role in model.parts}


@pytest.mark.parametrize("name", ["model", "model.zip"])
def test_exports_to_one_path_try_each_its_own_model(
    name: str, tiny: ModelFile, tmp_path: Path
) -> None:
    with unverified(tmp_path / name, tiny.meta, parts(tiny)) as first:
        other = {**tiny.meta, "name": "other"}
        with unverified(tmp_path / name, other, parts(tiny)) as second:
            assert first.path != second.path
        assert ModelFile.open(first.path).name == tiny.name  # still whole
    assert os.listdir(tmp_path) == []


def test_a_full_disk_leaves_the_old_model(
    checkpoint: Path, tiny: ModelFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    resource = pytest.importorskip("resource")
    output = tmp_path / "model"
    before = ModelFile.write(output, tiny.meta, parts(tiny))
    command = ["export", str(checkpoint), "--format", "torch", "-o", str(output), "--force"]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        assert main(command) == 1
        with (
            pytest.raises(OSError, match="File too large") as caught,
            unverified(output, tiny.meta, {**parts(tiny), "more.bin": bytes(20_000)}),
        ):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    *_, told = capsys.readouterr().err.splitlines()
    assert told == f"namer-edge: error: {output}: File too large"
    assert caught.value.filename == str(output)
    assert os.listdir(tmp_path) == ["model"]
    assert parts(ModelFile.open(output)) == parts(before)
    assert export(checkpoint, output, "torch", force=True).engine_format == "torch"
