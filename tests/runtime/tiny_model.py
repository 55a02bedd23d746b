"""A model made by hand, of two small ONNX graphs without weights, that really reads.

It knows strokes by their slope: upright ones are `1`, level ones `-`, slanted ones `^`, which takes
what is right of it. VAT looks at 8 × 8 cells for how much brightness changes across and along, and
fires at the middle of a stroke. PGD corrects nothing and puts the nodes in the order of their
columns, endings last.
"""

from pathlib import Path
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, checker, helper, numpy_helper

from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.formula.vocabulary import GROUP, Vocabulary
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import Preprocessing

VOCABULARY = Vocabulary("strokes", ("1", "-"), {"^": (GROUP,)})
STROKES = {
    "1": [[(0, 0), (0, 20)]],
    "-": [[(0, 10), (20, 10)]],
    "^": [[(0, 20), (14, 6)]],
}
FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64
Shape = tuple[int, list[Any]]


def formula(tokens: str) -> list[list[tuple[float, float]]]:
    """The strokes of visual tokens, one beside the other."""
    return [
        [(x + 56 * place, y) for x, y in stroke]
        for place, token in enumerate(tokens.split())
        for stroke in STROKES[token]
    ]


def write_tiny_model(path: Path, **decoding: float) -> ModelFile:
    meta = {
        "name": "tiny",
        "engine_format": "onnx",
        "precision": "fp32",
        "look": Preprocessing().to_json(),
        "vocabulary": VOCABULARY.to_json(),
        "decoding": {**DecodingOptions().to_json(), **decoding},
        "licence": "Apache-2.0",
    }
    return ModelFile.write(path, meta, {"vat": vat(), "pgd": pgd()})


def write_openvino(tiny: ModelFile, path: Path) -> ModelFile:
    """Its graphs as OpenVINO has them."""
    import openvino

    parts: dict[str, bytes | Path] = {}
    for role in ("vat", "pgd"):
        stem = path.parent / f"{path.stem}-{role}"
        stem.with_suffix(".onnx").write_bytes(tiny.read(role))
        graph = openvino.convert_model(stem.with_suffix(".onnx"))
        openvino.save_model(graph, stem.with_suffix(".xml"), compress_to_fp16=False)
        parts |= {role: stem.with_suffix(".xml"), f"{role}.bin": stem.with_suffix(".bin")}
    meta = {key: value for key, value in tiny.meta.items() if key != "parts"}
    return ModelFile.write(path, {**meta, "engine_format": "openvino"}, parts)


class Graph:
    """Collects nodes; each call returns the name of what the node gives."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def __call__(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        output = name or f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def constant(self, value: Any, dtype: type = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def cast(self, name: str) -> str:
        return self("Cast", name, to=FLOAT)

    def model(self, inputs: dict[str, Shape], outputs: dict[str, Shape]) -> bytes:
        def declared(table: dict[str, Shape]) -> list[Any]:
            return [helper.make_tensor_value_info(n, t, shape) for n, (t, shape) in table.items()]

        graph = helper.make_graph(
            self.nodes, "tiny", declared(inputs), declared(outputs), self.constants
        )
        opset = [helper.make_opsetid("", 18)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=9)
        checker.check_model(model, full_check=True)
        return model.SerializeToString()


def vat() -> bytes:
    """image → scores, classes, none, features, memory."""
    g = Graph()
    image = g("Div", g.cast("image"), g.constant(255))
    image = g("ReduceMean", image, g.constant([1], np.int64), keepdims=1)
    across = _energy(g, image, [[0, 0, 0], [-1, 0, 1], [0, 0, 0]])
    along = _energy(g, image, [[0, -1, 0], [0, 0, 0], [0, 1, 0]])
    ink = g("Add", across, along)
    # The middle of a stroke has the most ink round it.
    peak = g("MaxPool", ink, kernel_shape=[5, 5], pads=[2, 2, 2, 2])
    has_ink = g("Greater", ink, g.constant(0.3))
    fires = g.cast(g("And", g("GreaterOrEqual", ink, peak), has_ink))
    slope = g("Div", g("Sub", across, along), g("Add", ink, g.constant(1e-6)))
    logits = g(
        "Concat",
        g("Sub", slope, g.constant(0.5)),
        g("Sub", g("Neg", slope), g.constant(0.5)),
        g("Sub", g.constant(0.5), g("Abs", slope)),
        axis=1,
    )
    classes = g("Softmax", g("Mul", logits, g.constant(20)), axis=1)
    g.nodes.append(
        helper.make_node(
            "TopK",
            [g("Mul", classes, fires), g.constant([2], np.int64)],
            ["scores", "classes"],
            axis=1,
        )
    )
    g("Squeeze", g("Sub", g.constant(1), fires), g.constant([1], np.int64), name="none")
    g("Identity", ink, name="features")
    g("AveragePool", ink, name="memory", kernel_shape=[2, 2], strides=[2, 2])
    cells = ["batch", None, "rows", "columns"]
    return g.model(
        {"image": (TensorProto.UINT8, ["batch", "channels", "height", "width"])},
        {
            "scores": (FLOAT, cells),
            "classes": (INT, cells),
            "none": (FLOAT, ["batch", "rows", "columns"]),
            "features": (FLOAT, cells),
            "memory": (FLOAT, ["batch", None, "half_rows", "half_columns"]),
        },
    )


def _energy(g: Graph, image: str, kernel: list[list[int]]) -> str:
    """Change of brightness in one direction, gathered round each cell, most from its middle."""
    change = g("Abs", g("Conv", image, g.constant([[kernel]]), pads=[1, 1, 1, 1]))
    cells = g("AveragePool", change, kernel_shape=[8, 8], strides=[8, 8])
    away = np.abs(np.arange(-2, 3))
    window = np.outer(3 - away, 3 - away) + 0.01 * np.arange(25).reshape(5, 5)  # breaks ties
    return g("Conv", cells, g.constant([[window]]), pads=[2, 2, 2, 2])


def pgd() -> bytes:
    """Nodes → self, left, right."""
    g = Graph()
    column = g.cast(
        g("Gather", "cells", g.constant(1, np.int64), axis=2),
    )
    is_ending = g("Greater", "endings", g.constant(0, np.int64))
    place = g("Where", is_ending, g("Sub", g.constant(1000), column), column)
    for token, value in ((VOCABULARY.sos, -1.0), (VOCABULARY.eos, 1e4)):
        is_token = g("Equal", "classes", g.constant(token, np.int64))
        place = g("Where", is_token, g.constant(value), place)
    ahead = g(
        "Sub",
        g("Unsqueeze", place, g.constant([1], np.int64)),
        g("Unsqueeze", place, g.constant([2], np.int64)),
    )  # [B, i, j]: how far j is to the right of i
    padding = g("Equal", g("Unsqueeze", "mask", g.constant([1], np.int64)), g.constant(0))
    for name, distance in (("right", ahead), ("left", g("Neg", ahead))):
        behind = g("LessOrEqual", distance, g.constant(0))
        far = g("Where", g("Or", behind, padding), g.constant(1e5), distance)
        g("Softmax", g("Neg", far), name=name, axis=2)
    depth = VOCABULARY.size + 2
    g(
        "OneHot",
        "classes",
        g.constant(depth, np.int64),
        g.constant([0.01, 0.96]),
        name="self",
        axis=-1,
    )
    g.cast("features"), g.cast("memory"), g.cast("scores")
    nodes = ["batch", "nodes"]
    feature = ["batch", None, "rows", "columns"]
    return g.model(
        {
            "features": (FLOAT, feature),
            "memory": (FLOAT, ["batch", None, "half_rows", "half_columns"]),
            "cells": (INT, [*nodes, 2]),
            "classes": (INT, nodes),
            "endings": (INT, nodes),
            "scores": (FLOAT, nodes),
            "mask": (FLOAT, nodes),
        },
        {
            "self": (FLOAT, [*nodes, depth]),
            "left": (FLOAT, [*nodes, "others"]),
            "right": (FLOAT, [*nodes, "others"]),
        },
    )
