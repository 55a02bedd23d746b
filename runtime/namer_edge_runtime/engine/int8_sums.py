"""Whether an engine adds up int8 products exactly on this processor.

x86 without VNNI adds pairs of products U8 x S8 in 16 bits, which saturate: a model with weights of
8 bits then reads wrong. The probe is a graph of one convolution and one matrix product whose sums
are known and are halved by saturation; weights of 7 bits cannot saturate.
"""

import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model_file import ModelFile

FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "asimd", "asimddp", "i8mm")
"""Processor features that decide how fast int8 is."""
INT8_UNITS = ("avx512_vnni", "avx_vnni", "asimddp")
"""Features that multiply int8 at full speed."""
PROBE = Path(__file__).with_suffix(".onnx")
INPUTS = {
    "x": np.full((1, 16, 4, 4), 255, np.float32),
    "y": np.full((4, 16), 255, np.float32),
}
"""The largest activations; all weights of the probe are 127."""
OUTPUTS = ("conv", "matmul")
SUM = 16 * 255 * 127
"""Each of the probe's sums; rounded to a multiple of `STEP` in the convolution."""
STEP = 4096
EXACT, SATURATED, UNKNOWN = "exact", "saturated", "unknown"
WITHOUT = "int8 sums saturate here: figures of int8 models with weights of 8 bits are wrong"
"""Warning in a record that was made without exact sums."""
CURE = "export the model again, whose weights then have 7 bits, or read with one in fp32"

Run = Callable[[bytes, Mapping[str, NDArray[Any]], tuple[str, ...]], list[NDArray[Any]]]
"""Computes the outputs of these names of an ONNX graph."""


def int8_sums(run: Run) -> str:
    """ "exact" or "saturated": the outcome of the probe as `run` computes it."""
    convolution, product = run(PROBE.read_bytes(), INPUTS, OUTPUTS)
    exact = np.all(np.abs(convolution - SUM) <= STEP) and np.all(product == SUM)
    return EXACT if exact else SATURATED


def sums_of(engine: object) -> str:
    """The outcome of the probe on an engine, "unknown" for one that computes no ONNX graphs."""
    probed = getattr(engine, "int8_sums", None)
    return UNKNOWN if probed is None else str(probed())


def weight_bits(model: ModelFile) -> int | None:
    """Bits of the weights that the model multiplies in int8; None where it multiplies none.

    Older model files say `reduce_range` for 7 bits, or nothing.
    """
    if model.precision != "int8":
        return None
    quantization = model.meta.get("quantization") or {}
    return int(quantization.get("weight_bits", 7 if quantization.get("reduce_range") else 8))


def needs_exact_sums(model: ModelFile) -> bool:
    """Whether the model reads wrong where sums saturate, as those of 7-bit weights cannot."""
    return (weight_bits(model) or 0) > 7


def _cpuinfo() -> str:
    """Content of Linux's `/proc/cpuinfo`; empty elsewhere."""
    try:
        return Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return ""


def cpu_flags() -> list[str]:
    """Those of `FLAGS` that Linux lists; elsewhere nothing is known."""
    words = set(_cpuinfo().lower().split())
    return [flag for flag in FLAGS if flag in words]


def int8_unit() -> str:
    """The processor's features that multiply int8 in one step; "none", "unknown" off Linux."""
    features = cpu_flags()
    units = [unit for unit in INT8_UNITS if unit in features]
    return " ".join(units) or ("none" if features else UNKNOWN)


def arithmetic(engine: object) -> dict[str, str]:
    """What a record of int8 figures must name: processor, int8 unit, outcome of the probe."""
    return {
        "processor": processor(),
        "int8 unit": int8_unit(),
        "int8 sums": sums_of(engine),
    }


def processor() -> str:
    """The processor's name."""
    for line in _cpuinfo().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
