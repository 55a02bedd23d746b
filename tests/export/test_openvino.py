"""`namer-edge export --format openvino`: the same graphs for Intel's processors."""

import json
from pathlib import Path

import numpy as np
import pytest

from namer_edge.checkpoints.weights import load_weights
from namer_edge_export.export import export, verify
from namer_edge_runtime.diagnostics.graph_metadata import read_metadata
from namer_edge_runtime.errors import UnreadableError
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result

from .conftest import traced

openvino = pytest.importorskip("openvino")


@pytest.fixture(scope="module")
def onnx(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return export(checkpoint, tmp_path_factory.mktemp("onnx") / "small")


@pytest.fixture(scope="module")
def fp32(checkpoint: Path, onnx: ModelFile, tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    with traced(onnx):
        return export(checkpoint, tmp_path_factory.mktemp("fp32") / "small", "openvino")


@pytest.fixture(scope="module")
def fp16(checkpoint: Path, onnx: ModelFile, tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    path = tmp_path_factory.mktemp("fp16") / "small.zip"
    with traced(onnx):
        return export(checkpoint, path, "openvino", "fp16")


def test_the_difference_is_rounding_alone(fp32: ModelFile, checkpoint: Path) -> None:
    assert verify(load_weights(checkpoint)[0], fp32) < 1e-5


def test_fp16_is_half_as_large_and_close(
    fp32: ModelFile, fp16: ModelFile, checkpoint: Path
) -> None:
    for weights in ("vat.bin", "pgd.bin"):
        assert fp16.parts[weights].bytes < 0.55 * fp32.parts[weights].bytes
    assert 1e-6 < verify(load_weights(checkpoint)[0], fp16) < 1e-2


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_odd_sizes_come_through_the_recognizer(
    precision: str, request: pytest.FixtureRequest
) -> None:
    recognizer = Recognizer.from_pretrained(request.getfixturevalue(precision).path, threads=1)
    for size in ((17, 33), (1, 1), (3, 999), (33, 17)):
        picture = np.full(size, 255, np.uint8)
        picture[size[0] // 2, size[1] // 3 :] = 0
        (answer,) = recognizer.each([picture])  # whatever it reads, it does not fail
        assert isinstance(answer, Result | UnreadableError)


@pytest.mark.parametrize("role", ["vat", "pgd"])
def test_a_graph_that_lost_its_folder_explains_itself(
    role: str, fp16: ModelFile, checkpoint: Path, tmp_path: Path
) -> None:
    for part in (role, f"{role}.bin"):
        (tmp_path / fp16.parts[part].file).write_bytes(fp16.read(part))
    alone = openvino.Core().read_model(tmp_path / f"{role}.xml")
    said = alone.get_rt_info(["namer_edge"]).value
    (tmp_path / f"{role}.bin").unlink()
    checked = read_metadata(tmp_path / f"{role}.xml")
    assert set(checked) == set(said)
    assert checked["look"] == fp16.preprocessing.to_json()
    assert said["role"] == checked["role"] == role
    assert (said["engine_format"], said["precision"]) == ("openvino", "fp16")
    assert json.loads(said["vocabulary"]) == fp16.vocabulary.to_json()
    assert json.loads(said["look"]) == fp16.preprocessing.to_json()
    record = json.loads(checkpoint.with_suffix(".json").read_text())
    assert said["checkpoint_sha256"] == record["sha256"]
    assert said["licence"] == fp16.meta["licence"]
