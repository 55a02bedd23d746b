"""`namer-edge export MODEL --format openvino`: an ONNX model file for OpenVINO, without PyTorch."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from namer_edge_export import convert as convert_module
from namer_edge_export.agreement import check_agreement
from namer_edge_export.convert import convert, is_model_file
from namer_edge_export.export import export
from namer_edge_runtime.command import main
from namer_edge_runtime.engine.base import open_engine
from namer_edge_runtime.errors import ExportError, ModelFileError, UsageError
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.reference_readings import ReadAgain

from ..runtime.tiny_model import write_tiny_model

pytest.importorskip("openvino")
WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None  # makes every import of it fail
from namer_edge_runtime.command import main
sys.exit(main())
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return write_tiny_model(tmp_path_factory.mktemp("tiny") / "tiny")


@pytest.fixture(scope="module")
def small(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return export(checkpoint, tmp_path_factory.mktemp("small") / "small")


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    """The packaged model, converted by the command line where PyTorch is not installed."""
    place = tmp_path_factory.mktemp("converted") / "model"
    command = [sys.executable, "-c", WITHOUT_TORCH, "export", "crohme-edge", "-o", str(place)]
    done = subprocess.run(
        [*command, "--format", "openvino"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "reference readings: " in done.stdout
    return ModelFile.open(place)


def test_the_packaged_model_keeps_precision_size_and_what_it_says(packaged: ModelFile) -> None:
    source = ModelFile.open()
    assert (packaged.engine_format, packaged.precision) == ("openvino", "int8")
    assert packaged.decoding == source.decoding
    assert packaged.meta["quantization"] == source.meta["quantization"]
    said = packaged.meta["metrics"]["conversion"]
    assert said["from"] == {role: part.sha256 for role, part in source.parts.items()}
    assert said["reference readings"].endswith(" of 16")
    sizes = [sum(part.bytes for part in model.parts.values()) for model in (packaged, source)]
    assert sizes[0] < 1.2 * sizes[1]


def test_the_converted_encoder_computes_what_the_engine_reads_in_onnx(packaged: ModelFile) -> None:
    ink = (np.random.default_rng(2).random((2, 1, 96, 160)) < 0.1).astype(np.uint8) * np.uint8(255)
    converted = open_engine(None, packaged, threads=1).vat(ink)
    read = open_engine("openvino", ModelFile.open(), threads=1).vat(ink)
    assert np.array_equal(converted.memory, read.memory)
    assert np.array_equal(converted.classes, read.classes)


@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 1e-5), ("fp16", 1e-2)])
def test_a_float_model_computes_as_before(
    small: ModelFile, tmp_path: Path, precision: str, tolerance: float
) -> None:
    converted = convert(small.path, tmp_path / "ov.zip", precision=precision, name="mine")
    assert (converted.name, converted.precision) == ("mine", precision)
    before, after = (open_engine(None, model, threads=1) for model in (small, converted))
    assert check_agreement(before, after, converted, "small") < tolerance


def test_what_is_a_model_and_what_a_checkpoint(tiny: ModelFile, tmp_path: Path) -> None:
    assert is_model_file("crohme-edge")
    assert is_model_file(tiny.path)
    assert not is_model_file("x.safetensors")
    assert not is_model_file(tmp_path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "onnx"], "from onnx to openvino alone"),
        (["--format", "openvino", "--precision", "int8"], "it becomes fp32 or fp16"),
        (["--format", "openvino", "--sure", "0.5"], "no use for --sure"),
        (["--format", "openvino", "--calibration", "x"], "no use for --calibration"),
    ],
)
def test_what_cannot_be_converted_is_told(
    options: list[str],
    said: str,
    tiny: ModelFile,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["export", str(tiny.path), "-o", str(tmp_path / "m"), *options]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


def test_a_model_that_is_there_stays_without_force(small: ModelFile, tmp_path: Path) -> None:
    first = convert(small.path, tmp_path / "m")
    with pytest.raises(UsageError, match="--force"):
        convert(small.path, tmp_path / "m")
    assert convert(small.path, tmp_path / "m", force=True).parts.keys() == first.parts.keys()
    with pytest.raises(UsageError, match="format 'openvino'"):
        convert(first.path, tmp_path / "again")
    with pytest.raises(ModelFileError):
        convert(tmp_path / "nothing", tmp_path / "again")


def test_nothing_is_written_where_readings_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        convert_module, "read_again", lambda *_: ReadAgain(13, 16, ("x for y",) * 3)
    )
    with pytest.raises(ExportError, match=r"13 of 16 .* 14 are needed.*x for y"):
        convert("crohme-edge", tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_int8_without_reference_readings_needs_labeled_data(tmp_path: Path) -> None:
    model = ModelFile.open()
    meta = {key: value for key, value in model.meta.items() if key != "reference_readings"}
    parts = {role: model.read(role) for role in model.parts}
    older = ModelFile.write(tmp_path / "older", meta, parts)
    with pytest.raises(UsageError, match="give --eval DATA"):
        convert(older.path, tmp_path / "m")
    assert json.loads((older.path / "model.json").read_text())["name"] == model.name
