"""Metadata inside a graph that is found without its model file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..errors import ModelFileError

OWNER = "namer_edge"
"""Prefix of the keys: `namer_edge.KEY` in ONNX, `namer_edge/KEY` in OpenVINO's rt_info."""
SUFFIXES = (".onnx", ".xml")


def is_lone_graph(name_or_path: str | Path | None) -> bool:
    """Whether this is one ONNX or OpenVINO graph in place of a model file."""
    return name_or_path is not None and Path(name_or_path).suffix.lower() in SUFFIXES


def read_metadata(path: str | Path) -> dict[str, Any]:
    """The metadata inside a graph: `role`, `look`, `vocabulary`, `decoding`, `licence` and so on.

    Raises `ModelFileError` for a file that is missing, no graph, or none of this project's.
    """
    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"no file {path}: give the path of a graph or of a model file")
    found = _in_openvino(path) if path.suffix.lower() == ".xml" else _in_onnx(path)
    metadata = {key: _value(text) for key, text in found.items()}
    if not metadata:
        raise ModelFileError(
            f"{path} says nothing of itself: it was not written by `namer-edge export`, or by a "
            "version that kept all in the folder of the model"
        )
    return metadata


def _in_openvino(path: Path) -> Mapping[str, str]:
    """The graph is plain XML, so that neither OpenVINO nor the weights beside it are needed."""
    try:
        card = ElementTree.parse(path).getroot().find(f"rt_info/{OWNER}")
    except (ElementTree.ParseError, ValueError) as error:
        raise ModelFileError(f"{path}: it is no XML ({error})") from error
    return {} if card is None else {item.tag: item.get("value", "") for item in card}


def _in_onnx(path: Path) -> Mapping[str, str]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        found = session.get_modelmeta().custom_metadata_map
    except Exception as error:  # ONNX Runtime's own exceptions have no common base
        raise ModelFileError(f"{path}: ONNX Runtime cannot load it ({error})") from error
    own = f"{OWNER}."
    return {key.removeprefix(own): text for key, text in found.items() if key.startswith(own)}


def _value(text: str) -> Any:
    """Texts stand as they are in a card, all else as JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text
