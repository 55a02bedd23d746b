"""Diagnostics of `namer-edge check`: versions, processor, model, engines, kernels, a reading."""

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..engine.base import engine_names, open_engine
from ..engine.cpus import usable_cpus
from ..engine.int8_sums import (
    CURE,
    SATURATED,
    UNKNOWN,
    cpu_flags,
    int8_unit,
    needs_exact_sums,
    sums_of,
)
from ..engine.probe import probe
from ..errors import EngineError, MissingExtraError, NamerEdgeError, UsageError
from ..model_file import ModelFile, packaged_models
from ..reference_readings import FEWEST_EQUAL, read_again
from .cold_start import ROOT, cold_start
from .graph_metadata import is_lone_graph, read_metadata

if TYPE_CHECKING:
    from ..recognizer import Recognizer

PACKAGES = ("namer-edge", "numpy", "numba", "onnxruntime", "opencv-python-headless")
EXTRA_PACKAGES = ("onnxruntime-gpu", "openvino", "torch", "onnx")
SWAP = "python -m pip uninstall -y onnxruntime onnxruntime-gpu && python -m pip install {0}"
"""Command that leaves one package of ONNX Runtime, whichever were installed. They share one folder:
installing the second overwrites the first, and removing one breaks both."""


@dataclass
class Health:
    """Findings by section, and what is wrong."""

    sections: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    exit_code: int = 0

    def problem(self, error: NamerEdgeError) -> None:
        self.problems.append(str(error))
        self.exit_code = self.exit_code or error.exit_code

    def to_json(self) -> dict[str, Any]:
        return {**self.sections, "problems": self.problems}


def examine(name_or_path: str | None = None) -> Health:
    """Examines everything that recognition with this model (None: the default one) needs.

    A lone ONNX file is asked what it says of itself; nothing can be read with it. Raises
    `UsageError` in a frozen program: engines are tried by fresh Pythons, and it has none to start.
    """
    if getattr(sys, "frozen", False):
        raise UsageError(
            "a frozen program cannot be checked, it has no Python to try the engines with: run "
            "namer-edge check in the environment that it was made from"
        )
    health = Health()
    health.sections["versions"] = {
        "python": platform.python_version(),
        "system": platform.platform(),
        **{package: installed_version(package) for package in (*PACKAGES, *EXTRA_PACKAGES)},
    }
    health.sections["processor"] = {
        "machine": platform.machine(),
        "usable CPUs": usable_cpus(),
        "features": cpu_flags(),
        "int8": _speed(),
    }
    model = _model(health, name_or_path)
    _engines(health)
    if model is not None:
        _reading(health, model)
    health.sections["kernels"] = _kernels()
    return health


def installed_version(package: str) -> str | None:
    """Installed version; None for a missing package."""
    if package == "namer-edge":  # it runs, with metadata or without
        return __version__
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _speed() -> str:
    """The speed of int8 that the processor's features promise."""
    unit = int8_unit()
    if unit == "none":
        return "no VNNI or dot product: int8 is right but slower, fp32 may be as fast: time both"
    return unit if unit == UNKNOWN else f"fast ({unit}): int8 is multiplied in one step"


def _kernels() -> dict[str, Any]:
    """Reports on the kernels of this process, which has read a formula and so ordered them."""
    from ..decode.jit import kernels
    from ..decode.warm_up import warm_up

    first = warm_up()
    again = warm_up()
    folders = sorted({kernel.cache_folder or "" for kernel in kernels()} - {""})
    return {
        "compiled": first.compiled,
        "disk cache": folders or "none: no folder can be written, each process compiles anew",
        "from the disk cache": f"{first.cached} of {first.kernels}",
        "call with all of them, ms": round(again.seconds * 1000, 3),
    }


def _model(health: Health, name_or_path: str | None) -> ModelFile | None:
    section: dict[str, Any] = {"packaged": packaged_models()}
    health.sections["model"] = section
    try:
        if name_or_path is not None and is_lone_graph(name_or_path):
            metadata = read_metadata(name_or_path)
            section |= {
                "path": str(name_or_path),
                "part": metadata.get("role"),
                **_described(metadata),
            }
            return None
        started = perf_counter()
        model = ModelFile.open(name_or_path)
    except NamerEdgeError as error:
        health.problem(error)
        return None
    section |= {
        "path": str(model.path),
        "classes": model.vocabulary.size,
        "bytes": sum(part.bytes for part in model.parts.values()),
        "verified": True,
        "verified in, ms": round((perf_counter() - started) * 1000, 1),
        **_described(model.meta),
    }
    return model


def _described(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Lines about a model, or a single graph of one."""
    calibration = meta.get("calibration") or {}
    training = meta.get("training") or {}
    vocabulary = meta["vocabulary"]
    return {
        "name": meta["name"],
        "format": meta["engine_format"],
        "precision": meta["precision"],
        "format version": meta["format_version"],
        "licence": meta.get("licence"),
        "checkpoint": training.get("checkpoint_sha256") or meta.get("checkpoint_sha256"),
        "vocabulary": f"{vocabulary['name']}, {len(vocabulary['symbols'])} symbols",
        "look": _line(meta["look"]),
        "decoding": _line(meta["decoding"]),
        "quantization": _line(meta.get("quantization") or {}) or "none",
        "calibration": _line({key: calibration[key] for key in calibration if key != "names"})
        or "none",
    }


def _line(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())


def _engines(health: Health) -> None:
    """Engines, each with its devices as they fared when they ran something."""
    found = probe()
    section: dict[str, Any] = {
        name: [f"{device} {outcome}" for device, outcome in found.get(name, {}).items()] or None
        for name in engine_names()
    }
    health.sections["engines"] = section
    both = installed_version("onnxruntime") and installed_version("onnxruntime-gpu")
    if not any(outcome == "works" for outcome in found.get("onnxruntime", {}).values()):
        why = ", ".join(section.get("onnxruntime") or ["it is not installed"])
        health.problem(
            MissingExtraError(f"ONNX Runtime does not run ({why}): {SWAP.format('onnxruntime')}")
        )
    if both:
        health.problem(
            MissingExtraError(
                "onnxruntime and onnxruntime-gpu are both installed and overwrite each other: "
                + SWAP.format("onnxruntime-gpu")
                + ", or with onnxruntime at its end for CPU"
            )
        )
    elif installed_version("onnxruntime-gpu"):
        section["back to CPU only"] = SWAP.format("onnxruntime")
    else:
        section["for CUDA"] = SWAP.format("onnxruntime-gpu")


def _reading(health: Health, model: ModelFile) -> None:
    """The model's own engine reads a test formula, here and in a fresh process."""
    from ..recognizer import Recognizer

    section: dict[str, Any] = {}
    health.sections["reading"] = section
    try:
        engine = open_engine(None, model)
        recognizer = Recognizer.of_model(model, engine)
        result = recognizer.strokes(ROOT)
        _arithmetic(health, model, recognizer)
    except NamerEdgeError as error:
        health.problem(error)
        return
    section |= {
        "runs on": f"{engine.name}, {engine.device}, {engine.precision}",
        "a drawn root of 2 reads": result.latex,
    }
    try:
        fresh = cold_start(model.path)
    except RuntimeError as error:
        health.problem(EngineError(str(error)))
        return
    section |= {
        "import, ms": fresh.imports,
        "load, ms": fresh.load,
        "first reading, ms": fresh.first,
        "next reading, ms": fresh.next,
        "kernels ready after further, ms": fresh.kernels,
        "peak memory, MB": fresh.peak_memory or "unknown",
    }


def _arithmetic(health: Health, model: ModelFile, recognizer: "Recognizer") -> None:
    """Whether the engine computes here what the exporter computed."""
    sums = sums_of(recognizer.engine)
    section = {"int8 sums": sums}
    health.sections["arithmetic"] = section
    if sums == SATURATED and not needs_exact_sums(model):
        section["int8 sums"] += " (harmless: this model has no weights of 8 bits)"
    elif sums == SATURATED:
        health.problem(EngineError(f"sums of int8 saturate, {model.path} reads wrong here: {CURE}"))
    again = read_again(model, recognizer)
    if again is None:
        section["reference readings"] = "none: an older model"
        return
    section["reference readings"] = f"{again.equal} of {again.total}"
    if again.equal < FEWEST_EQUAL:
        health.problem(
            EngineError(
                f"{model.path} reads {again.equal} of {again.total} formulas as its exporter did "
                f"(not: {'; '.join(again.differing[:3])}): the engine computes otherwise here; try "
                "another engine or precision, and report this with what is printed above"
            )
        )
