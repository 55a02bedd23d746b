"""fp16 graphs for engines on GPUs: weights and activations in half precision, fp32 at the ends.

Half precision has eleven bits. Two things need more: positions, whose sine is taken of angles of
hundreds of radians, and the last softmaxes, whose probabilities are compared with thresholds. Both
are several operators long; ONNX Runtime's converter rounds between any two of them, this one does
not.
"""

from collections.abc import Collection, Iterable, Iterator

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

PROBABILITIES = frozenset({"scores", "classes", "none", "self", "left", "right"})
"""Outputs of either graph that a softmax gives, sorted or not."""
ALWAYS_WIDE = {("Resize", 2)}
"""Inputs, by operator and place, that ONNX wants in fp32 whatever the others are."""


def halved(graph: bytes) -> bytes:
    """The fp32 graph (`export_vat`, `export_pgd`) in half precision; inputs and outputs stay."""
    model = onnx.shape_inference.infer_shapes(onnx.load_from_string(graph))
    nodes = list(model.graph.node)
    waves = [node for node in nodes if node.op_type in {"Sin", "Cos"}]
    angles = {name for node in waves for name in node.input}
    ends = PROBABILITIES & {output.name for output in model.graph.output}
    wide = [*waves, *_upstream(nodes, angles), *_upstream(nodes, ends, until=("Softmax",))]
    _Halving(model.graph, {node.output[0] for node in wide}).run()
    onnx.checker.check_model(model)
    result: bytes = model.SerializeToString()
    return result


class _Halving:
    """Turns every float of a graph into a half, save around the nodes that give `wide`."""

    def __init__(self, graph: onnx.GraphProto, wide: Collection[str]) -> None:
        self.graph, self.wide = graph, wide
        self.constants = {tensor.name: tensor for tensor in graph.initializer}
        # All floats there are, and whether each is still one of 32 bits.
        declared = (*graph.input, *graph.value_info, *graph.output)
        floats = {i.name for i in declared if i.type.tensor_type.elem_type == TensorProto.FLOAT}
        floats |= {t.name for t in graph.initializer if t.data_type == TensorProto.FLOAT}
        self.is_wide = dict.fromkeys(floats, True)
        self.nodes: list[NodeProto] = []
        self.twins: dict[str, str] = {}

    def run(self) -> None:
        outputs = {output.name for output in self.graph.output}
        for node in self.graph.node:
            wide = node.output[0] in self.wide
            for place, name in enumerate(node.input):
                if name in self.is_wide:
                    wanted = wide or (node.op_type, place) in ALWAYS_WIDE
                    node.input[place] = self._as(name, wanted)
            self.nodes.append(node)
            if wide:
                continue
            for attribute in node.attribute:
                if node.op_type == "Cast" and attribute.i == TensorProto.FLOAT:
                    attribute.i = TensorProto.FLOAT16
            for place, name in enumerate(node.output):
                if name in self.is_wide and name in outputs:
                    node.output[place] = f"{name}_half"
                    self.twins[name] = node.output[place]
                    self._cast(node.output[place], name, TensorProto.FLOAT)
                elif name in self.is_wide:
                    self.is_wide[name] = False
        used = {name for node in self.nodes for name in node.input}
        kept = [tensor for name, tensor in self.constants.items() if name in used]
        for field, values in (("node", self.nodes), ("initializer", kept), ("value_info", [])):
            self.graph.ClearField(field)
            getattr(self.graph, field).extend(values)

    def _as(self, name: str, wide: bool) -> str:
        """The name under which tensor `name` is to be had in this precision."""
        if self.is_wide[name] == wide:
            return name
        if name not in self.twins:
            self.twins[name] = f"{name}_{'wide' if wide else 'half'}"
            if name in self.constants:
                value = numpy_helper.to_array(self.constants[name]).astype(np.float16)
                twin = numpy_helper.from_array(value, self.twins[name])
                self.constants[twin.name] = twin
            else:
                kind = TensorProto.FLOAT if wide else TensorProto.FLOAT16
                self._cast(name, self.twins[name], kind)
        return self.twins[name]

    def _cast(self, source: str, target: str, kind: int) -> None:
        self.nodes.append(helper.make_node("Cast", [source], [target], f"{target}_cast", to=kind))


def _upstream(
    nodes: Iterable[NodeProto], names: Collection[str], until: Collection[str] = ()
) -> Iterator[NodeProto]:
    """What computes the tensors of these names, back to the operators `until`, these included."""
    made_by = {name: node for node in nodes for name in node.output}
    waiting, seen = list(names), set(names)
    while waiting:
        node = made_by.get(waiting.pop())
        if node is None:
            continue
        yield node
        if node.op_type not in until:
            waiting += (name for name in node.input if name not in seen)
            seen.update(node.input)
