"""ONNX model file → OpenVINO model file, without PyTorch."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from namer_edge_runtime.engine.base import open_engine
from namer_edge_runtime.errors import ExportError, UsageError
from namer_edge_runtime.model_file import CHECKPOINT, META, ModelFile, check_replaceable
from namer_edge_runtime.model_file import packaged_models as packaged
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.reference_readings import FEWEST_EQUAL, read_again

from .agreement import TOLERANCE, check_agreement
from .formats import INTEL, Target, check_options, check_packages
from .staging import unverified

MAX_DROP = 0.5
"""Points of ExpRate that the conversion may cost where nothing else is said."""
OWN = ("format", "format_version", "parts")
"""Of `model.json`: what `ModelFile.write` adds."""
BECOMES = {"fp32": ("fp32", "fp16"), "fp16": ("fp16",), "int8": ("int8",)}
"""Precision of a model → those that it can be converted to, the default one first."""


def is_model_file(name_or_path: str | Path) -> bool:
    """Whether this is a packaged model's name or a model file, rather than a checkpoint."""
    path = Path(name_or_path)
    if str(name_or_path) in packaged():
        return True
    is_zip = path.suffix.lower() == ".zip" and path.is_file()
    return path.suffix != CHECKPOINT and (is_zip or (path / META).is_file())


def convert(
    source: str | Path,
    output: str | Path,
    format: str = "openvino",
    precision: str | None = None,
    name: str | None = None,
    *,
    evaluation: str | Path | None = None,
    max_drop: float | None = None,
    force: bool = False,
    show: Callable[[str], object] = lambda text: None,
    progress: Callable[[str], object] = lambda text: None,
    **foreign: Any,
) -> ModelFile:
    """Write the ONNX model file `source` (a packaged name or a path) as one for OpenVINO.

    `precision` is the source's, or fp16 for fp32. The gate: fp32 and fp16 give the probabilities
    of the source on random ink; the reference readings that the source carries are repeated; and
    on the labeled data set `evaluation`, where given, which a model without reference readings
    needs in int8, ExpRate falls by `max_drop` points (0.5) at most.

    Raises `UsageError` for `foreign` options and for what cannot be converted, `MissingExtraError`
    where OpenVINO is not installed, `ModelFileError` for a source that cannot be read, and
    `ExportError` where the gate is not passed; then nothing is written.
    """
    output = Path(output)
    model = ModelFile.open(source)
    if format != "openvino" or model.engine_format != "onnx":
        raise UsageError(
            f"{source} is a model file in the format {model.engine_format!r}: from onnx to "
            "openvino alone it is converted, all else is exported from a checkpoint (.safetensors)"
        )
    possible = BECOMES[model.precision]
    precision = precision or possible[0]
    if precision not in possible:
        raise UsageError(f"{source} is in {model.precision}: it becomes {' or '.join(possible)}")
    target = Target(
        format, precision, format, INTEL, takes=("--eval", "--max-drop"), packages=(format,)
    )
    check_options(target, eval=evaluation, max_drop=max_drop, **foreign)
    check_packages(target)
    check_replaceable(output)
    if output.exists() and not force:
        raise UsageError(f"{output} exists: --force replaces it, or give another place")
    meta = {key: value for key, value in model.meta.items() if key not in OWN}
    meta |= {"name": name or output.stem, "engine_format": format, "precision": precision}
    conversion: dict[str, Any] = {"from": {role: part.sha256 for role, part in model.parts.items()}}
    from .openvino import openvino_parts

    progress(f"converting to {format} {precision}")
    graphs = {role: model.read(role) for role in ("vat", "pgd")}
    parts = openvino_parts(graphs, meta, half=precision == "fp16")
    with unverified(output, meta, parts) as twin:
        if precision in TOLERANCE:
            progress("comparing both on random ink")
            before, after = (open_engine(None, each, threads=1) for each in (model, twin))
            check_agreement(before, after, twin, str(source))
        conversion |= _references(twin, show, needed=precision == "int8" and evaluation is None)
        if evaluation is not None:
            progress(f"gate: reading {evaluation} with both models")
            conversion |= _gate(model, twin, Path(evaluation), max_drop, show)
    progress(f"writing {output}")
    meta["metrics"] = {**meta.get("metrics", {}), "conversion": conversion}
    return ModelFile.write(output, meta, parts)


def _references(twin: ModelFile, show: Callable[[str], object], needed: bool) -> dict[str, str]:
    again = read_again(twin, Recognizer.of_model(twin, open_engine(None, twin, threads=1)))
    if again is None:
        if needed:
            raise UsageError(
                f"{twin.name} carries no reference readings, older files do not: give --eval DATA "
                "(labeled formulas), or export its checkpoint again"
            )
        return {}
    equal = f"{again.equal} of {again.total}"
    show(f"reference readings: {equal}")
    if again.equal < FEWEST_EQUAL:
        raise ExportError(
            f"OpenVINO repeats {equal} reference readings, {FEWEST_EQUAL} are needed: nothing was "
            f"written; {'; '.join(again.differing[:3])}"
        )
    return {"reference readings": equal}


def _gate(
    model: ModelFile,
    twin: ModelFile,
    data: Path,
    max_drop: float | None,
    show: Callable[[str], object],
) -> dict[str, Any]:
    from .quantization.accuracy_gate import compare, load_evaluation

    allowed = MAX_DROP if max_drop is None else max_drop
    found = compare(model, twin, load_evaluation(data))
    before, after = (
        replace(measured, precision=f"{each.engine_format} {measured.precision}")
        for measured, each in ((found.before, model), (found.after, twin))
    )
    found = replace(found, before=before, after=after)
    show(found.text())
    if found.drop > allowed:
        raise ExportError(
            f"OpenVINO reads {found.drop:.2f} points fewer formulas right than the model it was "
            f"converted from, more than the {allowed} allowed: nothing was written"
        )
    return {"gate": found.to_json() | {"max_drop": allowed}}
