"""What `namer-edge check` finds out: versions, processor, kernels, model, engines, a reading."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

from .engine.base import engine_names, open_engine, usable_cpus
from .errors import MissingExtraError, NamerEdgeError
from .lone_graph import is_lone_graph, said_by
from .model_file import ModelFile, packaged_models

PACKAGES = ("namer-edge", "numpy", "numba", "onnxruntime", "opencv-python-headless")
EXTRA_PACKAGES = ("onnxruntime-gpu", "openvino", "torch", "onnx")
FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "asimd", "asimddp", "i8mm")
"""Of a processor's features, those that decide how fast int8 is."""
CROSS = [[(0, 0), (20, 20)], [(20, 0), (0, 20)]]
"""The strokes of the test reading, an x."""


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
    """Looks at everything that recognition with this model (the default one for None) needs.

    A lone ONNX file is asked what it says of itself; nothing can be read with it.
    """
    health = Health()
    health.sections["versions"] = {
        "python": platform.python_version(),
        "system": platform.platform(),
        **{package: _version(package) for package in (*PACKAGES, *EXTRA_PACKAGES)},
    }
    health.sections["processor"] = {
        "machine": platform.machine(),
        "usable CPUs": usable_cpus(),
        "features": _cpu_flags(),
    }
    health.sections["kernels"] = _kernels()
    model = _model(health, name_or_path)
    _engines(health, model)
    return health


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu_flags() -> list[str]:
    """From Linux's list; elsewhere nothing is known."""
    try:
        words = set(Path("/proc/cpuinfo").read_text("utf-8", "replace").lower().split())
    except OSError:
        return []
    return [flag for flag in FLAGS if flag in words]


def _kernels() -> dict[str, Any]:
    from .decode.warm_up import warm_up

    first = warm_up()
    again = warm_up()
    return {
        "compiled": first.compiled,
        "from the disk cache": f"{first.cached} of {first.kernels}",
        "first call, ms": round(first.seconds * 1000, 1),
        "later calls, ms": round(again.seconds * 1000, 3),
    }


def _model(health: Health, name_or_path: str | None) -> ModelFile | None:
    section: dict[str, Any] = {"packaged": packaged_models()}
    health.sections["model"] = section
    try:
        if name_or_path is not None and is_lone_graph(name_or_path):
            said = said_by(name_or_path)
            section |= {"path": str(name_or_path), "part": said.get("role"), **_described(said)}
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
    """What a model, or a graph of it, says of itself, in lines."""
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


def _engines(health: Health, model: ModelFile | None) -> None:
    """Which engines are there; the model's own one reads a test formula."""
    section: dict[str, Any] = {}
    health.sections["engines"] = section
    try:
        import onnxruntime

        section["onnxruntime"] = onnxruntime.get_available_providers()
    except ImportError as error:
        section["onnxruntime"] = None
        health.problem(MissingExtraError(f"ONNX Runtime cannot be imported ({error})"))
    if "onnxruntime" in section and _version("onnxruntime") and _version("onnxruntime-gpu"):
        health.problem(
            MissingExtraError(
                "onnxruntime and onnxruntime-gpu are both installed and overwrite each other: "
                "pip uninstall -y onnxruntime onnxruntime-gpu && pip install onnxruntime-gpu"
            )
        )
    for name in engine_names():
        section.setdefault(name, "declared")
    if model is None:
        return
    try:
        section |= _test_reading(model)
    except NamerEdgeError as error:
        health.problem(error)


def _test_reading(model: ModelFile) -> dict[str, Any]:
    from .recognizer import Recognizer

    started = perf_counter()
    engine = open_engine(None, model)
    recognizer = Recognizer(engine, model.look, model.vocabulary, model.decoding)
    loaded = perf_counter()
    result = recognizer.strokes(CROSS)
    first = perf_counter()
    recognizer.strokes(CROSS)
    return {
        "runs on": f"{engine.name}, {engine.device}, {engine.precision}",
        "a drawn x reads": result.latex,
        "load, ms": round((loaded - started) * 1000, 1),
        "first reading, ms": round((first - loaded) * 1000, 1),
        "next reading, ms": round((perf_counter() - first) * 1000, 1),
    }
