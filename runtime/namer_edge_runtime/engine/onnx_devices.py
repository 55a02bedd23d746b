"""Options of ONNX Runtime for NVIDIA devices, and binding of outputs that stay on the device."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import EngineError
from ..model_file import ModelFile
from ..preprocessing import CELL, padded_length
from .base import PgdInputs

LOGGER = logging.getLogger(__name__)
TENSORRT, CUDA = "TensorrtExecutionProvider", "CUDAExecutionProvider"
LARGEST_BATCH, USUAL_BATCH = 32, 8
"""Largest and usual batch size of TensorRT's shape profile."""
USUAL = {"rows": 6, "columns": 20, "nodes": 64}
"""A usual formula: 96 × 320 pixels."""
ON_DEVICE = ("features", "memory")
"""Outputs of VAT that only PGD reads."""


def check_precision(model: ModelFile, providers: Sequence[str]) -> None:
    """Warns of int8 on CUDA. Raises `EngineError` for int8 that TensorRT does not take."""
    if model.precision != "int8":
        return
    activations = model.meta.get("quantization", {}).get("activations", "U8")
    if TENSORRT in providers and activations != "S8":
        raise EngineError(
            f"{model.path}: TensorRT takes signed int8 alone, and this model has {activations} "
            "activations: export it with --precision fp16, or with --profile arm64"
        )
    if CUDA in providers and TENSORRT not in providers:
        LOGGER.warning(
            "%s: CUDA computes int8 graphs in float, with each rounding as a kernel of its own, "
            "more slowly than fp32: export the model with --precision fp16 or fp32",
            model.path,
        )


def tensorrt_options(
    model: ModelFile, inputs: Mapping[str, Sequence[int | str]], cache: Path
) -> dict[str, str]:
    """Options for a graph of these input shapes, whose symbols are those of exported models: one
    engine for all sizes of pictures, kept in a folder."""
    look = model.preprocessing
    ranges = {
        "batch": (1, USUAL_BATCH, LARGEST_BATCH),
        "rows": (1, USUAL["rows"], padded_length(look.max_height) // (2 * CELL)),
        "columns": (1, USUAL["columns"], padded_length(look.max_width) // (2 * CELL)),
        "nodes": (1, USUAL["nodes"], padded_length(model.decoding.max_nodes)),
    }

    def shapes(which: int) -> str:
        return ",".join(
            f"{name}:" + "x".join(str(_length(side, ranges, which)) for side in shape)
            for name, shape in inputs.items()
        )

    profiles = {
        f"trt_profile_{name}_shapes": shapes(which)
        for which, name in enumerate(("min", "opt", "max"))
    }
    return profiles | {
        "trt_engine_cache_enable": "1",
        "trt_engine_cache_path": str(cache),
        "trt_timing_cache_enable": "1",
        "trt_int8_enable": "1" if model.precision == "int8" else "0",
        "trt_fp16_enable": "1" if model.precision == "fp16" else "0",
    }


def _length(side: int | str, ranges: Mapping[str, tuple[int, int, int]], which: int) -> int:
    """The length of a side such as 192, "nodes" or "16*rows"."""
    if isinstance(side, int):
        return side
    factor, _, symbol = side.rpartition("*")
    return int(factor or 1) * ranges[symbol][which]


def run_on_device(
    session: Any, outputs: Sequence[str], inputs: Mapping[str, Any], device: str = "cuda"
) -> list[Any]:
    """The outputs of a graph, those `ON_DEVICE` as they lie there; inputs are arrays, or outputs
    that lie there."""
    binding = session.io_binding()
    for name, value in inputs.items():
        if isinstance(value, np.ndarray):
            binding.bind_cpu_input(name, np.ascontiguousarray(value))
        else:
            binding.bind_ortvalue_input(name, value)
    for name in outputs:
        binding.bind_output(name, device if name in ON_DEVICE else "cpu")
    session.run_with_iobinding(binding)
    return [
        value if name in ON_DEVICE else value.numpy()
        for name, value in zip(outputs, binding.get_outputs(), strict=True)
    ]


def bucketed(inputs: PgdInputs) -> PgdInputs:
    """The nodes padded to one of few counts, as pictures are: each new shape is planned anew."""
    count = inputs.classes.shape[1]
    more = padded_length(count) - count
    nodes = ("cells", "classes", "endings", "scores", "mask")
    arrays = {name: getattr(inputs, name) for name in nodes}
    padded = {n: np.pad(a, [(0, 0), (0, more), (0, 0)][: a.ndim]) for n, a in arrays.items()}
    return replace(inputs, **padded)


def computing(session: Any) -> dict[str, int]:
    """Provider → how many nodes of the graph it computes; ONNX Runtime leaves to the CPU what a
    device cannot. Empty where it was not asked to record that, or is too old."""
    counts: dict[str, int] = {}
    try:
        parts = session.get_provider_graph_assignment_info()
    except (AttributeError, RuntimeError):
        return {}
    for part in parts:
        counts[part.ep_name] = counts.get(part.ep_name, 0) + len(part.get_nodes())
    return counts
