"""A graph that lost its model file: what it still says of itself."""

import json
from pathlib import Path
from typing import Any

from .errors import ModelFileError

OWNER = "namer_edge"
"""Whose keys these are: ONNX has them as `namer_edge.KEY`, OpenVINO as rt_info `namer_edge/KEY`."""
SUFFIX = ".onnx"


def is_lone_graph(name_or_path: str | Path | None) -> bool:
    """Whether this is one ONNX file in place of a model file."""
    return name_or_path is not None and Path(name_or_path).suffix.lower() == SUFFIX


def said_by(path: str | Path) -> dict[str, Any]:
    """The card inside an ONNX file: `role`, `look`, `vocabulary`, `decoding`, `licence` and so on.

    Raises `ModelFileError` for a file that is missing, no ONNX, or none of this project's.
    """
    import onnxruntime

    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"no file {path}: give the path of a graph or of a model file")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        found = session.get_modelmeta().custom_metadata_map
    except Exception as error:  # ONNX Runtime's own exceptions have no common base
        raise ModelFileError(f"{path}: ONNX Runtime cannot load it ({error})") from error
    own = f"{OWNER}."
    said = {
        key.removeprefix(own): _value(text) for key, text in found.items() if key.startswith(own)
    }
    if not said:
        raise ModelFileError(
            f"{path} says nothing of itself: it was not written by `namer-edge export`, or by a "
            "version that kept all in the folder of the model"
        )
    return said


def _value(text: str) -> Any:
    """Texts stand as they are in a card, all else as JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text
