"""Whether int8 sums are exact: the probe, what `check` says of it, and when opening warns."""

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from namer_edge_runtime.command import main
from namer_edge_runtime.diagnostics import health
from namer_edge_runtime.engine import base, int8_sums
from namer_edge_runtime.engine.base import open_engine
from namer_edge_runtime.engine.int8_sums import EXACT, PROBE, SATURATED, weight_bits
from namer_edge_runtime.engine.onnxruntime import OnnxRuntimeEngine
from namer_edge_runtime.model_file import ModelFile


def probe() -> bytes:
    """A convolution with quantized results and a matrix product without, both of U8 x S8."""

    def constant(name: str, value: Any, kind: type) -> TensorProto:
        return numpy_helper.from_array(np.array(value, kind), name)

    constants = [
        constant("one", 1, np.float32),
        constant("zero", 0, np.uint8),
        constant("step", int8_sums.STEP, np.float32),
        constant("weight", np.full((16, 8), 127), np.int8),
        constant("kernel", np.full((8, 16, 1, 1), 127), np.int8),
    ]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "one", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "one", "zero"], ["d"]),
        helper.make_node("DequantizeLinear", ["kernel", "one"], ["dk"]),
        helper.make_node("Conv", ["d", "dk"], ["c"]),
        helper.make_node("QuantizeLinear", ["c", "step", "zero"], ["qc"]),
        helper.make_node("DequantizeLinear", ["qc", "step", "zero"], ["conv"]),
        helper.make_node("QuantizeLinear", ["y", "one", "zero"], ["qy"]),
        helper.make_node("DequantizeLinear", ["qy", "one", "zero"], ["dy"]),
        helper.make_node("DequantizeLinear", ["weight", "one"], ["dw"]),
        helper.make_node("MatMul", ["dy", "dw"], ["matmul"]),
    ]
    sizes = {"x": [1, 16, 4, 4], "y": [4, 16], "conv": [1, 8, 4, 4], "matmul": [4, 8]}
    ends = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, size)
        for name, size in sizes.items()
    }
    graph = helper.make_graph(
        nodes, "int8_sums", [ends["x"], ends["y"]], [ends["conv"], ends["matmul"]], constants
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9
    ).SerializeToString(deterministic=True)


def test_the_probe_is_what_is_written_here_and_under_a_kilobyte() -> None:
    content = PROBE.read_bytes()
    assert onnx.load_from_string(content) == onnx.load_from_string(probe())
    assert len(content) < 1000


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
def test_each_engine_tells_exact_sums_from_saturated_ones(engine: str) -> None:
    """A processor with a unit for int8 must not saturate; one with AVX2 alone must be seen to."""
    pytest.importorskip(engine)
    sums = open_engine(engine, ModelFile.open(), threads=1).int8_sums()  # type: ignore[attr-defined]
    unit = int8_sums.int8_unit()
    if unit == "unknown":
        assert sums in (EXACT, SATURATED)
    else:
        avx2 = "avx2" in int8_sums.cpu_flags()
        assert sums == (SATURATED if unit == "none" and avx2 else EXACT)


def test_unoptimized_graphs_have_exact_sums_on_every_processor() -> None:
    assert OnnxRuntimeEngine(ModelFile.open(), threads=1, optimize=False).int8_sums() == EXACT


def test_saturated_sums_are_seen() -> None:
    """Pairs of products clipped to 16 bits, as x86 without VNNI adds them."""
    pairs = np.full(8, min(2 * 255 * 127, 2**15 - 1)).sum()

    def run(graph: bytes, inputs: Any, outputs: Any) -> list[NDArray[Any]]:
        return [np.full((1, 8, 4, 4), pairs), np.full((4, 8), pairs)]

    assert int8_sums.int8_sums(run) == SATURATED


def with_bits(model: ModelFile, said: dict[str, Any]) -> ModelFile:
    return replace(model, meta={**model.meta, "quantization": said})


def test_the_bits_of_weights_are_known_of_older_files_too() -> None:
    model = ModelFile.open()
    assert weight_bits(model) == 7
    assert weight_bits(with_bits(model, {"reduce_range": True})) == 7
    assert weight_bits(with_bits(model, {"reduce_range": False})) == 8
    assert weight_bits(with_bits(model, {})) == 8
    assert weight_bits(replace(model, precision="fp32")) is None


@pytest.mark.parametrize(("bits", "warned"), [(8, True), (7, False)])
def test_opening_warns_where_8_bits_saturate(
    bits: int, warned: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(OnnxRuntimeEngine, "int8_sums", lambda self: SATURATED)
    with caplog.at_level(logging.WARNING, base.__name__):
        open_engine(None, with_bits(ModelFile.open(), {"weight_bits": bits}), threads=1)
    assert ("export the model again" in caplog.text) == warned


@pytest.fixture
def eight_bits(tmp_path: Path) -> Path:
    """The packaged model with a file that says 8 bits, as older ones are."""
    model = ModelFile.open()
    meta = {key: value for key, value in model.meta.items() if key != "reference_readings"}
    meta["quantization"] = {"reduce_range": False}
    parts = {role: model.read(role) for role in model.parts}
    return ModelFile.write(tmp_path / "older", meta, parts).path


def test_check_ends_with_an_error_where_an_older_model_saturates(
    eight_bits: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert health.examine(str(eight_bits)).exit_code == 0, "exact here, or 7 bits in truth"
    monkeypatch.setattr(OnnxRuntimeEngine, "int8_sums", lambda self: SATURATED)
    assert main(["check", str(eight_bits)]) != 0
    said = capsys.readouterr().out
    assert "int8 sums: saturated" in said
    assert "reference readings: none" in said
    assert "export the model again" in said


def test_check_names_sums_and_reference_readings_of_the_packaged_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check"]) == 0
    said = capsys.readouterr().out
    assert "int8 sums: exact" in said or "int8 sums: saturated" in said
    assert "reference readings: 16 of 16" in said
    assert main(["check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["arithmetic"]["reference readings"] == "16 of 16"
    readings = ModelFile.open().meta["reference_readings"]["readings"]
    assert all(reading["score"] < 0.7 for reading in readings)


def test_malformed_reference_readings_are_a_fault_of_the_model_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ModelFile.open()
    parts = {role: model.read(role) for role in model.parts}
    for number, broken in enumerate(({}, {"readings": [{"strokes": "1,x"}]}, {"readings": 3})):
        meta = {**model.meta, "reference_readings": broken}
        path = ModelFile.write(tmp_path / f"m{number}", meta, parts).path
        assert main(["check", str(path)]) == 2
        assert "reference_readings are malformed" in capsys.readouterr().out


def clipped(graph: bytes, largest: int) -> bytes:
    """The graph with weights cut off, as if arithmetic had saturated."""
    model = onnx.load_from_string(graph)
    scaled = {n.output[0]: n.input[0] for n in model.graph.node if n.op_type == "DequantizeLinear"}
    multiplied = {
        scaled.get(n.input[1]) for n in model.graph.node if n.op_type in ("Conv", "MatMul")
    }
    for tensor in model.graph.initializer:
        if tensor.name in multiplied:
            cut = numpy_helper.to_array(tensor).clip(-largest, largest)
            tensor.CopyFrom(numpy_helper.from_array(cut, tensor.name))
    return model.SerializeToString()


def test_check_finds_out_spoilt_arithmetic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ModelFile.open()
    parts = {role: clipped(model.read(role), 40) for role in model.parts}
    path = ModelFile.write(tmp_path / "spoilt", model.meta, parts).path
    assert main(["check", str(path)]) != 0
    said = capsys.readouterr().out
    assert "reference readings: 16 of 16" not in said
    assert "formulas as its exporter did" in said
