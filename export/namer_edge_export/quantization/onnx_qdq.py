"""int8 graphs: static QDQ, weights of 7 bits per channel, activations U8 (ARM: S8) per tensor.

Scales are fixed at export. Scales taken while the model runs would be taken over a whole batch,
and a formula would then read otherwise in company than alone.
"""

import ast
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from namer_edge.training.quantization_aware import NEGLIGIBLE
from namer_edge_runtime.errors import UsageError

ACTIVATIONS = {"U8": QuantType.QUInt8, "S8": QuantType.QInt8}
SCOPES = "pkg.torch.onnx.name_scopes"
"""Under which the exporter keeps the modules that a node lies in, from the outermost."""
Inputs = Iterable[dict[str, NDArray[Any]]]
VAT_OPERATORS = ("Conv", "Relu", "Add", "Concat", "MaxPool", "AveragePool")
"""Operators to quantize in encoder and VAT: all between picture and softmax."""


WEIGHT_BITS = 7
"""Bits of a weight, so that sums are exact on every processor.

x86 without VNNI adds pairs of products U8 x S8 in 16 bits, which saturate at 32767. Two products of
weights from -64 to 64 reach at most 2 x 255 x 64 = 32640.
"""


FINER = 4096
"""Steps that are one more where there may be no ties: far above a float's error, and 255 of them
are still rounded to 255."""


@dataclass(frozen=True)
class Profile:
    """The processors for which a quantized graph is quickest; it is right on all of them."""

    name: str
    meaning: str
    activations: str = "U8"
    """"U8" or "S8": the type that the processor multiplies with weights, which are S8."""

    def to_json(self) -> dict[str, Any]:
        """The profile as the model file states it, with the bits of a weight."""
        return {"name": self.name, "weight_bits": WEIGHT_BITS, "activations": self.activations}


X86 = Profile("x86", "x86 with VNNI and without")
PROFILES = (X86, Profile("arm64", "ARM64 with dot products of S8 and S8", activations="S8"))
ALIASES = {"vnni": "x86", "avx2": "x86"}
"""Former profiles, which one graph of 7-bit weights replaces."""


def find_profile(name: str | None) -> Profile:
    """The profile of this name, x86 for None; raises `UsageError` with those there are."""
    name = X86.name if name is None else ALIASES.get(name, name)
    for profile in PROFILES:
        if profile.name == name:
            return profile
    known = "; ".join(f"{profile.name} ({profile.meaning})" for profile in PROFILES)
    raise UsageError(f"no profile {name!r}: there are {known}")


def quantize_vat(graph: bytes, inputs: Callable[[], Inputs], profile: Profile = X86) -> bytes:
    """The VAT graph in int8; `inputs` starts an iteration over the calibration, and is called
    twice.

    The logits need care: 8 bits over all that they reach are steps of a quarter, too coarse for
    the thresholds of node picking. So their range ends where probabilities become negligible.
    """
    model = prepared(graph)
    logits = next(node.input[0] for node in model.graph.node if node.op_type == "Softmax")
    low, high = (np.float32(x) for x in _range_of_logits(model, logits, inputs()))
    return _quantized(
        model,
        inputs(),
        profile,
        op_types_to_quantize=list(VAT_OPERATORS),
        extra_options={"TensorQuantOverrides": {logits: [{"rmin": low, "rmax": high}]}},
    )


def quantize_pgd(graph: bytes, inputs: Inputs, profile: Profile = X86) -> bytes:
    """The PGD graph in int8: the linear layers, with results in float.

    What multiplies activations with activations stays in float: attention, and the connectivity
    Q_0 · Q_J, where a rounded logit is a wrong edge. Both are small beside the linear layers.
    """
    model = prepared(graph)
    weights = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    linear = [
        node.name
        for node in model.graph.node
        # A weight of one row only stretches a number, the node's score; there is nothing to gain.
        if node.op_type == "MatMul" and weights.get(node.input[1], (1,))[0] > 1
    ]
    return _quantized(
        model,
        inputs,
        profile,
        op_types_to_quantize=["MatMul"],
        nodes_to_quantize=linear,
        extra_options={"OpTypesToExcludeOutputQuantization": ["MatMul"]},
    )


def prepared(graph: bytes) -> onnx.ModelProto:
    """The fp32 graph as it is quantized: constants folded, batch normalization inside convolutions,
    shapes known, no trace of the exporter's, which weighs more than the small layers do."""
    with tempfile.TemporaryDirectory() as folder:
        source, path = Path(folder) / "source.onnx", Path(folder) / "prepared.onnx"
        source.write_bytes(graph)
        # Symbolic shape inference fails on the exporter's `16*rows`, and is not needed.
        quant_pre_process(source, path, skip_symbolic_shape=True)
        model = onnx.load(path)
    for number, node in enumerate(model.graph.node):
        node.name = f"{_module(node)}:{node.op_type}_{number}"
    for part in (model.graph.node, model.graph.input, model.graph.output, model.graph.value_info):
        for item in part:
            del item.metadata_props[:]
    return model


def _module(node: onnx.NodeProto) -> str:
    """The part of the network that a node comes from, as far as the exporter tells."""
    scopes = {item.key: item.value for item in node.metadata_props}.get(SCOPES, "[]")
    # The last one is the operator's own name.
    return str(["", *ast.literal_eval(scopes)[:-1]][-1])


def _range_of_logits(model: onnx.ModelProto, logits: str, inputs: Inputs) -> tuple[float, float]:
    """From where the least certain cell's logits become negligible, to the largest logit."""
    seen = onnx.ModelProto()
    seen.CopyFrom(model)
    del seen.graph.output[:]
    seen.graph.output.append(onnx.helper.make_empty_tensor_value_info(logits))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        seen.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    largest = [session.run([logits], item)[0].max(axis=1) for item in inputs]
    low = min(float(cells.min()) for cells in largest) - NEGLIGIBLE
    return low, max(float(cells.max()) for cells in largest)


def _quantized(model: onnx.ModelProto, inputs: Inputs, profile: Profile, **options: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, path = Path(folder) / "prepared.onnx", Path(folder) / "quantized.onnx"
        onnx.save(model, source)
        quantize_static(
            source,
            path,
            _Reader(inputs),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            reduce_range=WEIGHT_BITS < 8,
            activation_type=ACTIVATIONS[profile.activations],
            weight_type=QuantType.QInt8,
            calibration_providers=["CPUExecutionProvider"],
            **options,
        )
        quantized = onnx.load(path)
    del quantized.graph.value_info[:]
    result: bytes = without_ties(quantized).SerializeToString()
    return result


def without_ties(model: onnx.ModelProto) -> onnx.ModelProto:
    """The QDQ graph with a step of its own, finer by a part in `FINER`, behind every `Resize`.

    What is interpolated between whole steps often lies half way between two of them.
    There the last bit of a float decides how it is rounded, and so the order in which an engine
    multiplies and adds.
    """
    nodes, constants = model.graph.node, model.graph.initializer
    for resize in [node for node in nodes if node.op_type == "Resize"]:
        users = [node for node in nodes if node.input[0] in resize.output]
        for quantize in [node for node in users if node.op_type == "QuantizeLinear"]:
            step = next(c for c in constants if c.name == quantize.input[1])
            finer = onnx.numpy_helper.to_array(step) * np.float32(1 - 1 / FINER)
            name = f"{quantize.output[0]}_step"
            constants.append(onnx.numpy_helper.from_array(finer, name))
            quantize.input[1] = name
            for node in nodes:
                if node.op_type == "DequantizeLinear" and node.input[0] in quantize.output:
                    node.input[1] = name
    return model


class _Reader(CalibrationDataReader):
    """Hands out the calibration, input by input."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs: Iterator[dict[str, NDArray[np.generic]]] = iter(inputs)

    def get_next(self) -> dict[str, NDArray[Any]] | None:
        return next(self._inputs, None)
