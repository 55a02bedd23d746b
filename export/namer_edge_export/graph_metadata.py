"""Metadata embedded in each graph, so that a single file explains itself."""

import json
from collections.abc import Mapping
from typing import Any

from namer_edge_runtime.model_file import FORMAT, FORMAT_VERSION

COPIED = ("name", "engine_format", "precision", "look", "vocabulary", "decoding", "licence")
"""Keys of `model.json` to embed: what recognition needs, and the license."""


def card(meta: Mapping[str, Any], role: str) -> dict[str, str]:
    """Keys (without their owner) and values for the graph `role` ("vat", "pgd") of the model whose
    `model.json` is `meta`: texts as they are, all else as JSON.

    What is measured is not among them, since the graphs are written before they are measured.
    """
    calibration = meta.get("calibration")
    values = {
        "about": f"The {role} graph of a handwritten mathematics recognizer, read by namer-edge",
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "role": role,
        **{key: meta[key] for key in COPIED if key in meta},
        "checkpoint_sha256": meta.get("training", {}).get("checkpoint_sha256"),
        # Without the names of all formulas: their hash tells the draw.
        "calibration": calibration and {k: v for k, v in calibration.items() if k != "names"},
        "quantization": meta.get("quantization"),
    }
    return {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in values.items()
        if value is not None
    }
