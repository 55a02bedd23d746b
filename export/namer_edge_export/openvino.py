"""The two graphs as OpenVINO has them: converted from the ONNX ones, weights in fp32 or fp16."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openvino

from namer_edge_runtime.diagnostics.graph_metadata import OWNER
from namer_edge_runtime.engine.openvino_rounding import round_before_sums
from namer_edge_runtime.model_file import ModelFile

from .graph_metadata import card


def openvino_parts(
    graphs: Mapping[str, bytes], meta: Mapping[str, Any], half: bool = False
) -> dict[str, bytes]:
    """Both ONNX graphs, as dynamic in their sizes as they are, → the parts `vat`, `vat.bin`, `pgd`
    and `pgd.bin` of the model that `meta` describes.

    `half` halves the weights; a device computes with them as it likes, the CPU in fp32.
    """
    core = openvino.Core()
    parts: dict[str, bytes] = {}
    for role, graph in graphs.items():
        model = core.read_model(graph)
        round_before_sums(model)
        parts |= written(model, meta, role, half)
    return parts


def written(graph: Any, meta: Mapping[str, Any], role: str, half: bool = False) -> dict[str, bytes]:
    """A graph with its card as the two parts that it is kept in."""
    for key, value in card(meta, role).items():
        graph.set_rt_info(value, [OWNER, key])
    with tempfile.TemporaryDirectory() as folder:
        xml = Path(folder) / f"{role}.xml"
        openvino.save_model(graph, xml, compress_to_fp16=half)
        return {role: xml.read_bytes(), f"{role}.bin": xml.with_suffix(".bin").read_bytes()}


def opened(model: ModelFile, role: str) -> Any:
    """A graph of an OpenVINO model file, to be worked on."""
    return openvino.Core().read_model(model.read(role), model.read(f"{role}.bin"))
