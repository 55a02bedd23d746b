"""int8 on OpenVINO rounds wherever the graph does, before the sums of residual blocks too."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from namer_edge_runtime.engine.base import open_engine
from namer_edge_runtime.engine.onnxruntime import OnnxRuntimeEngine
from namer_edge_runtime.model_file import ModelFile

openvino = pytest.importorskip("openvino")
rounding = pytest.importorskip("namer_edge_runtime.engine.openvino_rounding")
STEP, ZERO = 0.5, 131
"""Of the rounding before the sum."""


def residual(sums: int = 1) -> bytes:
    """x + round(conv x), rounded, of multiples of 1/8 from 0 to 31.875; without `sums` x goes
    nowhere else."""
    rng = np.random.default_rng(0)
    constants = {
        "eighth": np.float32(0.125),
        "half": np.float32(STEP),
        "none": np.uint8(0),
        "zero": np.uint8(ZERO),
        "kernel": rng.integers(-64, 65, (8, 8, 3, 3)).astype(np.int8),
        "scale": np.float32(2**-9),
    }

    def rounded(name: str, step: str, zero: str) -> list[object]:
        return [
            helper.make_node("QuantizeLinear", [name, step, zero], [f"{name}_q"]),
            helper.make_node("DequantizeLinear", [f"{name}_q", step, zero], [f"{name}_d"]),
        ]

    nodes = [
        *rounded("x", "eighth", "none"),
        helper.make_node("DequantizeLinear", ["kernel", "scale"], ["weight"]),
        helper.make_node("Conv", ["x_d", "weight"], ["conv"], pads=[1, 1, 1, 1]),
        *rounded("conv", "half", "zero"),
        helper.make_node("Add", ["x_d", "conv_d"], ["sum"])
        if sums
        else helper.make_node("Relu", ["conv_d"], ["sum"]),
        *rounded("sum", "half", "none"),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 12, 12])
        for name in ("x", "sum_d")
    ]
    graph = helper.make_graph(
        nodes,
        "residual",
        ends[:1],
        ends[1:],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


def computed(graph: object, x: np.ndarray) -> np.ndarray:
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    (result,) = openvino.Core().compile_model(graph, "CPU", options)({"x": x}).values()
    return np.asarray(result)


def test_a_residual_sum_is_exact() -> None:
    """All steps are powers of two, so that every float is exact: no result may differ."""
    x = np.random.default_rng(1).integers(0, 256, (1, 8, 12, 12)).astype(np.float32) / 8
    session = pytest.importorskip("onnxruntime").InferenceSession(residual())
    (exact,) = session.run(None, {"x": x})
    graph = openvino.Core().read_model(residual())
    assert rounding.round_before_sums(graph) == 1
    assert np.array_equal(computed(graph, x), exact)
    assert len(np.unique(exact)) > 20, "most are not cut off"


def test_roundings_that_no_sum_follows_stay_as_they_are() -> None:
    assert rounding.round_before_sums(openvino.Core().read_model(residual(sums=0))) == 0


def test_the_packaged_graph_is_that_of_exact_arithmetic() -> None:
    """Floats decide few cells of ten thousand; one of thirty differed while the interpolated map
    was rounded where it lies half way between two steps, a fifth while sums were not rounded
    before."""
    model = ModelFile.open()
    planes = model.preprocessing.inputs
    drawn = np.random.default_rng(2).random((2, planes, 96, 160)) < 0.1
    ink = drawn.astype(np.uint8) * np.uint8(255)
    exact = OnnxRuntimeEngine(model, threads=1, optimize=False).vat(ink)
    read = open_engine("openvino", model, threads=1).vat(ink)
    for output in ("memory", "features"):
        differing = np.abs(getattr(read, output) - getattr(exact, output)) > 1e-4
        assert differing.mean() < 0.002, output
