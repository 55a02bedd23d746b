"""Graphs without what only an exporter's author reads, and with every constant stored once."""

import string
from collections.abc import Iterator, Mapping
from itertools import count, product
from typing import Any

import onnx

from namer_edge_runtime.diagnostics.graph_metadata import OWNER

from .graph_metadata import card
from .onnx import OPSET

LETTERS = string.ascii_letters + string.digits


def compact_parts(graphs: Mapping[str, bytes], meta: Mapping[str, Any]) -> dict[str, bytes]:
    """Both graphs, each with its card, of the ONNX model that `meta` describes."""
    return {
        role: compact(graph, {f"{OWNER}.{key}": value for key, value in card(meta, role).items()})
        for role, graph in graphs.items()
    }


def compact(graph: bytes, embedded: Mapping[str, str] | None = None) -> bytes:
    """The same computation in fewer bytes, with `embedded` as its metadata.

    Inputs and outputs keep their names, other tensors get the shortest there are; nodes have none.
    """
    model = onnx.load_from_string(graph)
    _strip(model)
    _share_constants(model.graph)
    _rename(model.graph)
    onnx.helper.set_model_props(model, dict(embedded or {}))
    result: bytes = model.SerializeToString()
    return result


def _strip(model: onnx.ModelProto) -> None:
    graph = model.graph
    for field in ("value_info", "metadata_props", "quantization_annotation"):
        graph.ClearField(field)
    for node in graph.node:
        for name in ("name", "doc_string", "metadata_props", "overload"):
            node.ClearField(name)
        _strip_defaults(node)
    for item in (*graph.input, *graph.output, *graph.initializer):
        item.ClearField("metadata_props")
        item.ClearField("doc_string")
    used = {node.domain for node in graph.node} | {""}
    kept = [opset for opset in model.opset_import if opset.domain in used]
    model.ClearField("opset_import")
    model.opset_import.extend(kept)


def _strip_defaults(node: onnx.NodeProto) -> None:
    """Attributes that say what is meant without them."""
    if node.domain:
        return
    known = onnx.defs.get_schema(node.op_type, OPSET).attributes
    attributes = [
        attribute
        for attribute in node.attribute
        if attribute.name not in known or attribute != known[attribute.name].default_value
    ]
    node.ClearField("attribute")
    node.attribute.extend(attributes)


def _share_constants(graph: onnx.GraphProto) -> None:
    """Leaves out constants that nothing reads and all but one of those that are alike."""
    read = {name for node in graph.node for name in node.input}
    first: dict[bytes, str] = {}
    kept, same = [], {}
    for tensor in graph.initializer:
        if tensor.name not in read:
            continue
        content = onnx.TensorProto()
        content.CopyFrom(tensor)
        content.ClearField("name")
        name = first.setdefault(content.SerializeToString(deterministic=True), tensor.name)
        same[tensor.name] = name
        if name == tensor.name:
            kept.append(tensor)
    for node in graph.node:
        node.input[:] = [same.get(name, name) for name in node.input]
    graph.ClearField("initializer")
    graph.initializer.extend(kept)


def _rename(graph: onnx.GraphProto) -> None:
    ends = {item.name for item in (*graph.input, *graph.output)}
    short = (name for name in _names() if name not in ends)
    names = {name: name for name in (*ends, "")}
    for tensor in graph.initializer:
        names[tensor.name] = tensor.name = next(short)
    for node in graph.node:
        node.input[:] = [names[name] for name in node.input]
        for place, name in enumerate(node.output):
            if name not in names:
                names[name] = next(short)
            node.output[place] = names[name]


def _names() -> Iterator[str]:
    """a, b, … Z, and so on with ever more letters; none begins with a digit."""
    for length in count(1):
        for first in string.ascii_letters:
            for rest in product(LETTERS, repeat=length - 1):
                yield first + "".join(rest)
