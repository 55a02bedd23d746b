"""Sensitivity of each layer: rounded alone, all others in fp32 (`export --explain`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import NodeProto, helper
from tqdm import tqdm

COMPARED = {"vat": ("scores", "none"), "pgd": ("self", "left", "right")}
"""Outputs of either graph that are probabilities."""
SHOWN = 20
"""Layers in the table; the JSON has all."""


@dataclass(frozen=True)
class Cost:
    """A layer that int8 rounds."""

    graph: str
    """"vat" or "pgd"."""
    layer: str
    """Name of its node: the module that it comes from, operator and number."""
    operator: str
    error: float
    """Mean absolute difference of the graph's probabilities where this layer alone is rounded."""
    drop: float | None = None
    """Points of ExpRate that it costs alone; None: not measured."""


@dataclass(frozen=True)
class Sensitivity:
    """All layers of both graphs, the costliest of each graph first."""

    costs: tuple[Cost, ...]
    formulas: int
    """Formulas on which the errors were measured."""

    def to_json(self) -> dict[str, Any]:
        return {"formulas": self.formulas, "layers": [asdict(cost) for cost in self.costs]}

    def text(self) -> str:
        lines = [f"each layer rounded alone, on {self.formulas} formulas, the costliest first:"]
        lines.append(f"{'graph':6}{'operator':12}{'error':>10}{'drop':>8}  layer")
        for cost in sorted(self.costs, key=lambda cost: -cost.error)[:SHOWN]:
            drop = "" if cost.drop is None else f"{cost.drop:.2f}"
            lines.append(
                f"{cost.graph:6}{cost.operator:12}{cost.error:10.2e}{drop:>8}  {cost.layer}"
            )
        if len(self.costs) > SHOWN:
            lines.append(f"… and {len(self.costs) - SHOWN} more that cost less")
        return "\n".join(lines)

    def with_drops(self, worst: int, drop: Callable[[Cost], float]) -> "Sensitivity":
        """The `worst` layers with what they cost in ExpRate, as `drop` measures it."""
        first = sorted(self.costs, key=lambda cost: -cost.error)[:worst]
        known = {cost: replace(cost, drop=drop(cost)) for cost in first}
        return replace(self, costs=tuple(known.get(cost, cost) for cost in self.costs))


def sensitivity(
    plain: Mapping[str, onnx.ModelProto],
    quantized: Mapping[str, bytes],
    inputs: Mapping[str, Sequence[dict[str, NDArray[Any]]]],
) -> Sensitivity:
    """`plain` graphs in fp32 (`quantize.prepared`), what `quantize_vat` and `quantize_pgd` made of
    them, and some inputs of each."""
    costs = []
    for role, model in plain.items():
        rounded = onnx.load_from_string(quantized[role])
        expected = _outputs(model, role, inputs[role])
        for node in tqdm(list(_rounded(rounded)), f"explain {role}", unit=" layers", disable=None):
            found = _outputs(alone(model, rounded, node.name), role, inputs[role])
            pairs = zip(expected, found, strict=True)
            error = float(np.mean([np.abs(a - b).mean() for a, b in pairs]))
            costs.append(Cost(role, node.name, node.op_type, error))
    costs.sort(key=lambda cost: (cost.graph != "vat", -cost.error))
    return Sensitivity(tuple(costs), len(inputs["vat"]))


def alone(plain: onnx.ModelProto, rounded: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """`plain` with the inputs of the node `name` rounded as in `rounded`, and nothing else."""
    model = onnx.ModelProto()
    model.CopyFrom(plain)
    graph = model.graph
    made_by = {output: node for node in rounded.graph.node for output in node.output}
    constants = {tensor.name: tensor for tensor in rounded.graph.initializer}
    twin = next(node for node in rounded.graph.node if node.name == name)
    place_of = {node.name: number for number, node in enumerate(graph.node)}
    node = graph.node[place_of[name]]
    added: list[NodeProto] = []
    for place, source in enumerate(twin.input):
        widen = made_by.get(source)
        if widen is None or widen.op_type != "DequantizeLinear":
            continue
        scale = [f"alone_{place}_{part}" for part in ("scale", "zero")][: len(widen.input) - 1]
        steps = f"alone_{place}_steps"
        for target, origin in zip(scale, widen.input[1:], strict=True):
            graph.initializer.append(_renamed(constants[origin], target))
        if widen.input[0] in constants:
            graph.initializer.append(_renamed(constants[widen.input[0]], steps))
        else:
            narrow = made_by[widen.input[0]]
            added.append(_copied(narrow, [node.input[place], *scale], steps))
        added.append(_copied(widen, [steps, *scale], f"alone_{place}"))
        node.input[place] = f"alone_{place}"
    nodes = list(graph.node)
    nodes[place_of[name] : place_of[name]] = added
    graph.ClearField("node")
    graph.node.extend(nodes)
    return model


def _rounded(model: onnx.ModelProto) -> Iterator[NodeProto]:
    """What reads a rounded tensor; first it is rounded, so a tensor's readers tell its cost."""
    widened = {n.output[0] for n in model.graph.node if n.op_type == "DequantizeLinear"}
    for node in model.graph.node:
        if node.op_type not in {"QuantizeLinear", "DequantizeLinear"} and widened & set(node.input):
            yield node


def _outputs(
    model: onnx.ModelProto, role: str, inputs: Sequence[dict[str, NDArray[Any]]]
) -> list[NDArray[Any]]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3  # what nothing reads any more is no news
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return [output for item in inputs for output in session.run(list(COMPARED[role]), item)]


def _renamed(tensor: onnx.TensorProto, name: str) -> onnx.TensorProto:
    copy = onnx.TensorProto()
    copy.CopyFrom(tensor)
    copy.name = name
    return copy


def _copied(node: NodeProto, inputs: list[str], output: str) -> NodeProto:
    copy = helper.make_node(node.op_type, inputs, [output])
    copy.attribute.extend(node.attribute)
    return copy
