"""The paper's encoder in int8: as whole as `edge` is, and as small as promised."""

import numpy as np
import onnx
import pytest
import torch

from namer_edge.model.namer import Namer
from namer_edge.training.config import load_config
from namer_edge.training.quantization_aware import points
from namer_edge_export.onnx import export_vat
from namer_edge_export.quantization.onnx_qdq import quantize_vat
from namer_edge_runtime.formula.vocabulary import Vocabulary

SETTINGS = ["encoder=densenet", "vat_width=256", "pgd_width=256", "pgd_heads=8"]


@pytest.mark.slow
def test_all_of_it_is_quantized_and_small() -> None:
    """Random weights: what is read must wait for trained ones, size and form need not."""
    torch.manual_seed(0)
    namer = Namer(load_config("edge", SETTINGS).architecture, Vocabulary.load("crohme"))
    ink = np.random.default_rng(0).random((1, 1, 48, 112)) < 0.1
    image = np.where(ink, 255, 0).astype(np.uint8)
    quantized = quantize_vat(export_vat(namer), lambda: [{"image": image}])
    graph = onnx.load_from_string(quantized).graph
    made_by = {name: node.op_type for node in graph.node for name in node.output}
    convolutions = [node for node in graph.node if node.op_type == "Conv"]
    assert len(convolutions) == 102
    assert all(made_by[node.input[1]] == "DequantizeLinear" for node in convolutions)
    # The picture itself needs no rounding, its 256 values are the steps.
    rounded = [node.input[0] for node in graph.node if node.op_type == "QuantizeLinear"]
    inside_pgd = set(namer.pgd.modules())
    expected = [point for point in points(namer) if point.module not in inside_pgd]
    assert len(rounded) == len(expected) + 1
    # PGD has a byte for each weight, and little else.
    pgd = sum(parameter.numel() for parameter in namer.pgd.parameters())
    assert len(quantized) + 1.1 * pgd < 13e6
