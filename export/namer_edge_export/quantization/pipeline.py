"""From the fp32 model to its int8 twin: calibrate, quantize, and pass the gate or fail."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import onnx
from tqdm import tqdm

from namer_edge_runtime.atomic import atomic_file
from namer_edge_runtime.engine.base import open_engine
from namer_edge_runtime.errors import ExportError
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.reference_readings import KEY

from ..references import reference_readings
from ..staging import unverified
from ..strip import compact_parts
from .accuracy_gate import EvaluationSet, compare, load_evaluation
from .calibration import Calibration, draw, pgd_inputs, vat_inputs
from .int8_storage import slim
from .onnx_qdq import WEIGHT_BITS, X86, Inputs, Profile, prepared, quantize_pgd, quantize_vat
from .sensitivity import Cost, Sensitivity, alone, sensitivity

EXPLAINED = 32
"""Formulas of the calibration on which layers are compared."""
MAX_DROP = 0.5
"""Points of ExpRate that int8 may cost where nothing else is said."""


@dataclass(frozen=True)
class QuantizationData:
    """The data that int8 needs, and how much it may cost."""

    calibration: Calibration
    evaluation: EvaluationSet
    max_drop: float = MAX_DROP
    profile: Profile = X86
    explain: Path | None = None
    """Path of the sensitivity report (JSON), if wanted."""
    worst: int = 0
    """Layers of the report whose cost in ExpRate is measured."""

    @classmethod
    def gather(
        cls,
        calibration: Path,
        evaluation: Path,
        preprocessing: Preprocessing,
        max_drop: float | None,
        profile: Profile = X86,
        explain: Path | None = None,
        worst: int = 0,
    ) -> "QuantizationData":
        """Reads both data sets; raises what `draw` and `load_evaluation` raise."""
        return cls(
            evaluation=load_evaluation(evaluation),
            calibration=draw(calibration, preprocessing),
            max_drop=MAX_DROP if max_drop is None else max_drop,
            profile=profile,
            explain=explain,
            worst=worst,
        )


@dataclass(frozen=True)
class Quantized:
    """An int8 model that passed the gate, ready to be written."""

    meta: dict[str, Any]
    parts: dict[str, bytes]


def quantize(
    model: ModelFile,
    meta: Mapping[str, Any],
    material: QuantizationData,
    output: Path,
    show: Callable[[str], object],
    progress: Callable[[str], object] = lambda text: None,
) -> Quantized:
    """The int8 twin of the fp32 `model`, whose JSON is `meta`; it will lie at `output`.

    `show` is given the comparison of the two, whichever way it goes, `progress` each step as it
    begins. Raises `ExportError` where ExpRate falls by more than `material.max_drop`.
    """
    for recipe in _recipes(model, meta, material, output, show):
        whole = {
            **meta,
            "precision": "int8",
            "calibration": material.calibration.to_json(),
            "quantization": recipe.record,
        }
        if recipe.notice:
            show(recipe.notice)
        progress(f"calibrating on {len(material.calibration.pictures)} formulas and quantizing")
        parts = recipe.make(whole)
        with unverified(output, whole, parts) as twin:
            progress(f"gate: reading {len(material.evaluation.samples)} formulas with both models")
            comparison = compare(model, twin, material.evaluation)
            whole[KEY] = reference_readings(twin)
        show(comparison.text())
        if comparison.drop <= material.max_drop:
            gate = comparison.to_json() | {"max_drop": material.max_drop}
            whole["scalings"] = comparison.after.score_calibration.to_json()
            return Quantized({**whole, "metrics": {**meta["metrics"], "gate": gate}}, parts)
    raise ExportError(
        f"int8 reads {comparison.drop:.2f} points fewer formulas right than fp32, more than the "
        f"{material.max_drop} allowed: nothing was written; calibrate on the data that the model "
        "was trained on, or allow more with --max-drop"
    )


@dataclass(frozen=True)
class _Recipe:
    """One way to int8."""

    record: dict[str, Any]
    """Record for the model file."""
    make: Callable[[Mapping[str, Any]], dict[str, bytes]]
    """The parts of the model that a `model.json` describes."""
    notice: str = ""
    """Progress message."""


def _recipes(
    model: ModelFile,
    meta: Mapping[str, Any],
    material: QuantizationData,
    output: Path,
    show: Callable[[str], object],
) -> Iterator[_Recipe]:
    """Yields recipes to try until one passes the gate."""
    calibration, profile = material.calibration, material.profile
    if model.engine_format == "onnx":

        def inspect(graphs: dict[str, bytes]) -> None:
            if material.explain is not None:
                explain(model, meta, graphs, material, output, show)

        yield _Recipe(
            profile.to_json() | {"scheme": "static QDQ"},
            lambda whole: compact_parts(
                quantized_graphs(model, calibration, profile, inspect), whole
            ),
        )
        return
    from .nncf import SCHEME, Limit, nncf_parts

    record = {"scheme": SCHEME, "weight_bits": WEIGHT_BITS}
    yield _Recipe(record, lambda meta: nncf_parts(model, meta, calibration))
    limit = Limit(material.evaluation.samples, material.max_drop)
    yield _Recipe(
        record | {"accuracy_control": True},
        lambda meta: nncf_parts(model, meta, calibration, limit),
        "again, with accuracy control: layers return to float, which takes many readings",
    )


def quantized_graphs(
    model: ModelFile,
    calibration: Calibration,
    profile: Profile = X86,
    inspect: Callable[[dict[str, bytes]], object] = lambda graphs: None,
) -> dict[str, bytes]:
    """Both graphs of the fp32 `model` in int8; `inspect` sees them before they are made slim."""
    engine = open_engine(None, model, threads=1)
    recognizer = Recognizer.of_model(model, engine, calibrated=False)

    def pictures() -> Inputs:
        return _bar("calibrate vat", vat_inputs(calibration, model.preprocessing), calibration)

    nodes = _bar("calibrate pgd", pgd_inputs(calibration, recognizer), calibration)
    graphs = {
        "vat": quantize_vat(model.read("vat"), pictures, profile),
        "pgd": quantize_pgd(model.read("pgd"), nodes, profile),
    }
    inspect(graphs)
    return {role: slim(graph) for role, graph in graphs.items()}


def explain(
    model: ModelFile,
    meta: Mapping[str, Any],
    quantized: Mapping[str, bytes],
    material: QuantizationData,
    output: Path,
    show: Callable[[str], object],
) -> Sensitivity:
    """Shows each layer's cost, and writes it as JSON to `material.explain`."""
    plain = {role: prepared(model.read(role)) for role in quantized}
    some = replace(material.calibration, pictures=material.calibration.pictures[:EXPLAINED])
    engine = open_engine(None, model, threads=1)
    recognizer = Recognizer.of_model(model, engine, calibrated=False)
    inputs = {
        "vat": list(vat_inputs(some, model.preprocessing)),
        "pgd": list(pgd_inputs(some, recognizer)),
    }

    def drop(cost: Cost) -> float:
        rounded = onnx.load_from_string(quantized[cost.graph])
        graph = alone(plain[cost.graph], rounded, cost.layer).SerializeToString()
        parts = {role: model.read(role) for role in quantized} | {cost.graph: graph}
        with unverified(output, {**meta, "precision": "int8"}, parts) as twin:
            return compare(model, twin, material.evaluation, memory=False).drop

    report = sensitivity(plain, quantized, inputs).with_drops(material.worst, drop)
    show(report.text())
    if material.explain is not None:
        with atomic_file(material.explain, "w") as file:
            json.dump(report.to_json(), file, indent=1)
    return report


def _bar(title: str, inputs: Inputs, calibration: Calibration) -> Inputs:
    total = len(calibration.pictures)
    bar: Inputs = tqdm(inputs, title, total, unit=" formulas", disable=None)
    return bar
