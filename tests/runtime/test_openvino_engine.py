"""The same model on OpenVINO: it reads the same, and says where it runs."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from namer_edge_runtime.engine.base import open_engine
from namer_edge_runtime.errors import EngineError, UsageError
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

from .tiny_model import formula, write_openvino

openvino = pytest.importorskip("openvino")
INPUTS = [formula(tokens) for tokens in ("1", "1 - 1", "1 ^ 1", "- 1 - 1 1", "1 1 ^ - 1")] * 3


@pytest.fixture(scope="module", params=["", ".zip"])
def model(
    tiny_model: ModelFile, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> ModelFile:
    """In a folder and in a zip."""
    return write_openvino(tiny_model, tmp_path_factory.mktemp("openvino") / f"model{request.param}")


@pytest.fixture(scope="module")
def recognizer(model: ModelFile) -> Recognizer:
    """No engine is named: the format of the model tells."""
    return Recognizer.from_pretrained(model.path, threads=1)


def read(recognizer: Recognizer, batch_size: int = 1) -> list[str]:
    return [result.canonical for result in recognizer(INPUTS, batch_size=batch_size)]


def test_it_reads_as_onnx_runtime_does_alone_and_batched(
    recognizer: Recognizer, tiny_model: ModelFile
) -> None:
    expected = read(Recognizer.from_pretrained(tiny_model.path, threads=1))
    assert expected[:3] == ["1", "1 - 1", "1 ^ { 1 }"]
    assert read(recognizer) == read(recognizer, batch_size=8) == expected


def test_an_onnx_model_is_read_without_being_exported_again(tiny_model: ModelFile) -> None:
    expected = read(Recognizer.from_pretrained(tiny_model.path, threads=1))
    on_openvino = Recognizer.from_pretrained(tiny_model.path, engine="openvino", threads=1)
    assert read(on_openvino) == expected


def test_the_result_says_what_ran(recognizer: Recognizer) -> None:
    result = recognizer(INPUTS[0])
    assert (result.engine, result.device, result.precision) == ("openvino", "CPU", "fp32")


def test_it_can_be_pickled_and_used_by_several_threads(recognizer: Recognizer) -> None:
    expected = read(recognizer)
    copy = pickle.loads(pickle.dumps(recognizer))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: read(copy), range(8))) == [expected] * 8


@pytest.mark.parametrize("fixed_sizes", [None, True])
def test_the_second_start_finds_its_compiled_graphs(
    model: ModelFile, tmp_path: Path, fixed_sizes: bool | None
) -> None:
    first, second = (
        open_engine(None, model, threads=1, cache_dir=tmp_path / "kept", fixed_sizes=fixed_sizes)
        for _ in range(2)
    )
    assert any((tmp_path / "kept").iterdir())
    assert not first.cached  # type: ignore[attr-defined]
    assert second.cached  # type: ignore[attr-defined]


def test_a_cache_that_cannot_be_used_does_no_harm(
    model: ModelFile, recognizer: Recognizer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder can be made in a file, whoever asks")
    cached = Recognizer.from_pretrained(model.path, threads=1, cache_dir=tmp_path / "file" / "kept")
    assert read(cached) == read(recognizer)
    assert "cannot be used" in caplog.text


def test_graphs_of_fixed_sizes_read_as_graphs_of_any_size(
    model: ModelFile, recognizer: Recognizer
) -> None:
    """As on devices that know no other; blank space means nothing to this model."""
    fixed = Recognizer.from_pretrained(model.path, threads=1, fixed_sizes=True)
    assert read(fixed) == read(fixed, batch_size=8) == read(recognizer)
    graphs = fixed.engine._open().vat._compiled  # type: ignore[attr-defined]
    sizes = {shape for ((_, shape),) in graphs}
    assert {side for size in sizes for side in size[2:]} <= {64, 128, 256, 512}
    assert len(sizes) > 1


def test_an_option_of_another_engine_is_refused(tiny_model: ModelFile, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'onnxruntime' takes no cache_dir"):
        open_engine(None, tiny_model, cache_dir=tmp_path)


def test_a_device_that_is_not_there_is_an_error_unless_allowed(model: ModelFile) -> None:
    if any(name.startswith("NPU") for name in openvino.Core().available_devices):
        pytest.skip("an NPU is there")
    with pytest.raises(EngineError, match=r"no NPU here, only CPU.*fallback=True"):
        open_engine("openvino", model, device="npu")
    assert open_engine("openvino", model, device="npu", fallback=True).device == "CPU"
    with pytest.raises(EngineError, match="no device 'abacus'"):
        open_engine("openvino", model, device="abacus")


def test_a_model_of_another_format_or_a_broken_graph_is_an_error(
    model: ModelFile, tiny_model: ModelFile, tmp_path: Path
) -> None:
    with pytest.raises(EngineError, match="reads openvino and onnx models"):
        open_engine("openvino", replace(tiny_model, engine_format="torch"))
    meta = {k: v for k, v in model.meta.items() if k != "parts"}
    parts: dict[str, bytes | Path] = {role: model.read(role) for role in model.parts}
    broken = ModelFile.write(tmp_path / "m", meta, {**parts, "pgd": b"no graph"})
    with pytest.raises(EngineError, match="part 'pgd'"):
        open_engine("openvino", broken)
