"""NAMER → two ONNX graphs with dynamic batch, height, width and number of nodes."""

from typing import Any
from warnings import catch_warnings

import torch
from torch import Tensor, nn
from torch.export import Dim

from namer_edge.model.namer import Namer, VatGraph
from namer_edge_runtime.engine.base import PGD_OUTPUTS, VAT_OUTPUTS

from .fused_decoder import Attend, FusedDecoder, plain_attention
from .quiet import quiet

OPSET = 18


def export_vat(namer: Namer) -> bytes:
    """Encoder + VAT: `image` uint8 [B, channels, 16·h, 16·w] → the five outputs of `VatGraph`."""
    image = torch.zeros(2, namer.architecture.channels, 64, 96, dtype=torch.uint8)
    shapes = {"image": {0: Dim("batch"), 2: 16 * Dim("rows"), 3: 16 * Dim("columns")}}
    return _export(VatGraph(namer), (image,), ["image"], VAT_OUTPUTS, shapes)


def export_pgd(namer: Namer, attend: Attend = plain_attention) -> bytes:
    """PGD: features, memory and nodes → self, left, right (probabilities)."""
    rows, columns, nodes = 4, 6, 5
    features = torch.randn(2, namer.architecture.vat_width, 2 * rows, 2 * columns)
    memory = torch.randn(2, namer.encoder.width16, rows, columns)
    numbers = torch.ones(2, nodes, dtype=torch.int64)
    inputs = {
        "features": features,
        "memory": memory,
        "cells": torch.ones(2, nodes, 2, dtype=torch.int64),
        "classes": numbers,
        "endings": numbers.clone(),
        "scores": torch.rand(2, nodes),
        "mask": torch.ones(2, nodes),
    }
    batch, length = Dim("batch"), Dim("nodes")
    height, width = Dim("rows"), Dim("columns")
    per_node = {0: batch, 1: length}
    shapes = dict.fromkeys(inputs, per_node)  # the exporter wants them in this order
    shapes["features"] = {0: batch, 2: 2 * height, 3: 2 * width}
    shapes["memory"] = {0: batch, 2: height, 3: width}
    graph = FusedDecoder(namer.pgd, attend)
    return _export(graph, tuple(inputs.values()), list(inputs), PGD_OUTPUTS, shapes)


def _export(
    graph: nn.Module,
    inputs: tuple[Tensor, ...],
    names: list[str],
    outputs: tuple[str, ...],
    shapes: dict[str, Any],
) -> bytes:
    with quiet("torch.onnx"), catch_warnings(action="ignore"), torch.inference_mode():
        program = torch.onnx.export(
            graph.eval(),
            inputs,
            dynamo=True,
            opset_version=OPSET,
            input_names=names,
            output_names=list(outputs),
            dynamic_shapes=shapes,
            external_data=False,
            verbose=False,
        )
    assert program is not None
    model: bytes = program.model_proto.SerializeToString()
    return model
