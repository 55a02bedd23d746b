"""What surrounds the weights of an int8 graph, stored in fewer bytes.

Beside each byte of weight stand scales, biases and zero points: with layers as narrow as those of
`edge` these are a twentieth of the file. Constants that half precision holds are stored so and
widened when the graph is loaded, where the engine folds the `Cast` away.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper

LARGEST = 127
"""Largest weight, in steps of its scale."""


def slim(quantized: bytes) -> bytes:
    """An int8 graph (`quantize_vat`, `quantize_pgd`) in fewer bytes.

    Same results but for small roundings: scales of weights and biases to half precision (at most
    0.05 %, where a rounded weight is off by up to 0.8 % of the largest), and looked-up rows to S8.
    """
    model = onnx.load_from_string(quantized)
    graph = model.graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    nodes = list(_rows_in_s8(list(graph.node), constants))
    nodes = list(_computed_biases(nodes, constants))
    for node in nodes:
        _drop_zero_point(node, constants)
    nodes = [*_halves(nodes, constants), *nodes]
    graph.ClearField("node")
    graph.node.extend(nodes)
    graph.ClearField("initializer")
    graph.initializer.extend(numpy_helper.from_array(v, name) for name, v in constants.items())
    result: bytes = model.SerializeToString()
    return result


Constants = dict[str, NDArray[Any]]


def _rows_in_s8(nodes: list[NodeProto], constants: Constants) -> Iterator[NodeProto]:
    """Tables whose rows are looked up, as embeddings are: S8 with a scale for each column."""
    for node in nodes:
        yield node
        table = constants.get(node.input[0]) if node.op_type == "Gather" else None
        if table is None or table.dtype != np.float32 or table.ndim != 2:
            continue
        name, found = node.input[0], node.output[0]
        scale = (np.abs(table).max(0) / LARGEST).astype(np.float16).astype(np.float32)
        scale = np.maximum(scale, np.finfo(np.float16).smallest_normal, dtype=np.float32)
        steps = np.rint(table / scale).clip(-LARGEST, LARGEST)
        constants |= {f"{name}_steps": steps.astype(np.int8), f"{name}_scale": scale}
        node.input[0], node.output[0] = f"{name}_steps", f"{found}_steps"
        yield helper.make_node(
            "DequantizeLinear", [f"{found}_steps", f"{name}_scale"], [found], axis=-1
        )


def _computed_biases(nodes: list[NodeProto], constants: Constants) -> Iterator[NodeProto]:
    """Biases of convolutions as they were before they were brought to 32 bits, in steps of picture
    times weight: these are counted when the graph is loaded. One more or less is nothing."""
    scaled = {node.output[0]: node for node in nodes if node.op_type == "DequantizeLinear"}
    steps = {
        node.input[2]: [scaled[name].input[1] for name in node.input[:2]]
        for node in nodes
        if node.op_type == "Conv" and all(name in scaled for name in node.input)
    }
    for node in nodes:
        bias = node.output[0]
        if node.op_type == "DequantizeLinear" and bias in steps:
            step, value, ratio, count = (f"{bias}_{x}" for x in ("step", "value", "ratio", "count"))
            counted = constants[node.input[0]] * constants[node.input[1]]
            constants[value] = counted.astype(np.float32)
            yield helper.make_node("Mul", steps[bias], [step])
            yield helper.make_node("Div", [value, step], [ratio])
            yield helper.make_node("Cast", [ratio], [count], to=onnx.TensorProto.INT32)
            node.input[:] = [count, step]
        yield node


def _drop_zero_point(node: NodeProto, constants: Constants) -> None:
    """Drops the zero-point input of symmetric constants, which defaults to 0."""
    if node.op_type == "DequantizeLinear" and node.input[0] in constants and len(node.input) > 2:
        assert not constants[node.input[2]].any()
        del node.input[2]


def _halves(nodes: list[NodeProto], constants: Constants) -> Iterator[NodeProto]:
    """Floats that are halves already, as the weights of a checkpoint are, scales of weights, and
    biases: end to end in one constant, which is cut where the graph is loaded."""
    read = {name for node in nodes for name in node.input}
    biases = {name for node in nodes if node.op_type in {"Add", "Div"} for name in node.input}
    scales = {
        node.input[1]
        for node in nodes
        if node.op_type == "DequantizeLinear" and node.input[0] in constants
    }
    found: Constants = {}
    for name, value in constants.items():
        if name not in read or value.dtype != np.float32 or value.ndim != 1:
            continue
        with np.errstate(over="ignore"):  # to infinity, and then it stays as it is
            half = value.astype(np.float16)
        rounds_well = name in biases or (
            name in scales and value.min() >= np.finfo(np.float16).smallest_normal
        )
        if (rounds_well and np.isfinite(half).all()) or (half == value).all():
            found[name] = half
    if not found:
        return
    for name in found:
        del constants[name]
    constants["halves"] = np.concatenate(list(found.values()))
    constants["lengths"] = np.array([len(half) for half in found.values()], np.int64)
    yield helper.make_node("Cast", ["halves"], ["floats"], to=onnx.TensorProto.FLOAT)
    yield helper.make_node("Split", ["floats", "lengths"], list(found), axis=0)
