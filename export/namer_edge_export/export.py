"""Checkpoint → model file: one function behind `namer-edge export`."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from namer_edge.checkpoints.decoding import decoding_of
from namer_edge.checkpoints.weights import load_weights
from namer_edge.model.engine import TorchEngine
from namer_edge.model.graph_decoder import PARTS
from namer_edge.model.namer import Namer
from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.engine.base import open_engine
from namer_edge_runtime.errors import ExportError, UsageError
from namer_edge_runtime.model_file import ModelFile, check_replaceable
from namer_edge_runtime.outputs import check_writable
from namer_edge_runtime.reference_readings import KEY

from .agreement import check_agreement
from .formats import Target, check_options, check_packages, find_target
from .fp16 import halved
from .fused_decoder import fused_attention, plain_attention
from .onnx import export_pgd, export_vat
from .parity import Pictures, parity
from .quantization.onnx_qdq import find_profile
from .quantization.pipeline import QuantizationData, quantize
from .references import reference_readings
from .staging import unverified
from .strip import compact_parts


def export(
    checkpoint: str | Path,
    output: str | Path,
    format: str = "onnx",
    precision: str | None = None,
    name: str | None = None,
    metrics: dict[str, Any] | None = None,
    *,
    second_looks: Sequence[float] | None = None,
    sure: float | None = None,
    calibration: str | Path | None = None,
    evaluation: str | Path | None = None,
    max_drop: float | None = None,
    verification: str | Path | None = None,
    profile: str | None = None,
    explain: str | Path | None = None,
    explain_worst: int | None = None,
    force: bool = False,
    show: Callable[[str], object] = lambda text: None,
    progress: Callable[[str], object] = lambda text: None,
) -> ModelFile:
    """Write the model file of a checkpoint (.safetensors with its JSON) to `output`.

    `precision` defaults to the format's first in the table, `name` to that of `output`; `metrics`
    go into the model file as they are; `second_looks` and `sure` are `tta_scales` and
    `confidence_threshold` of `DecodingOptions`, and where they are None what the checkpoint's JSON
    says under "decoding", else one pass. int8 is calibrated on a draw from data set `calibration`;
    ExpRate of fp32 and int8 on the data set `evaluation` is given to `show` and may fall by
    `max_drop` points (0.5). fp32 is made to read the pictures of the data set `verification`, where
    given, as the checkpoint reads them.
    `profile` names the processors that int8 for ONNX is made for; `explain` is a JSON file for what
    each layer costs alone, the `explain_worst` of them in ExpRate too. A model that is there
    already is replaced with `force` alone. `progress` is told each step as it begins.

    Raises `UsageError` for a target that does not exist or options that do not fit it,
    `MissingExtraError` where what makes it is not installed, `CheckpointError` for a checkpoint
    that cannot be read, `DataError` for data that cannot, `ExportError` where the result does not
    compute what the checkpoint computes or, in int8, loses too much; then nothing is written.
    """
    target = find_target(format, precision)
    check_options(
        target,
        calibration=calibration,
        eval=evaluation,
        max_drop=max_drop,
        verify=verification,
        profile=profile,
        explain=explain,
        explain_worst=explain_worst,
    )
    processors = find_profile(profile)
    check_packages(target)
    checkpoint, output = Path(checkpoint), Path(output)
    check_replaceable(output)
    if output.exists() and not force:
        raise UsageError(f"{output} exists: --force replaces it, or give another place")
    check_writable(None if explain is None else str(explain))
    namer, preprocessing, record = load_weights(checkpoint)
    decoding = _decoding(record, second_looks, sure)
    show(_reading(decoding))
    if len(namer.architecture.pgd_parts) < len(PARTS):
        raise ExportError(
            f"{checkpoint} lacks heads of PGD, it is of an ablation: devices run whole models"
        )
    material = None
    if calibration is not None and evaluation is not None:
        progress("opening the formulas for calibration and gate")
        material = QuantizationData.gather(
            Path(calibration),
            Path(evaluation),
            preprocessing,
            max_drop,
            processors,
            None if explain is None else Path(explain),
            explain_worst or 0,
        )
    pictures = None if verification is None else Pictures.of(Path(verification), preprocessing)
    meta: dict[str, Any] = {
        "name": name or output.stem,
        "engine_format": format,
        "precision": target.precision,
        "look": preprocessing.to_json(),
        "vocabulary": namer.vocabulary.to_json(),
        "decoding": decoding.to_json(),
        "architecture": record["architecture"],
        "training": {
            "checkpoint_sha256": record["sha256"],
            **{key: record[key] for key in ("progress", "data", "config") if key in record},
        },
        "metrics": metrics or {},
        "calibration": None,
        "licence": record.get("licence") or "that of the training data",
    }
    if format == "torch":
        progress(f"writing {output}")
        return ModelFile.write(output, meta, {"weights": checkpoint})
    attend = fused_attention if (format, target.precision) == ("onnx", "int8") else plain_attention
    progress("tracing the two graphs")
    graphs = {"vat": export_vat(namer), "pgd": export_pgd(namer, attend)}
    meta["sources"] = {role: hashlib.sha256(graph).hexdigest() for role, graph in graphs.items()}
    # int8 is made of fp32, once that is known to be right.
    tried = {**meta, "precision": "fp32" if target.precision == "int8" else target.precision}
    progress(f"converting to {format} {tried['precision']}")
    parts = _parts(target, graphs, tried)
    with unverified(output, tried, parts) as model:
        progress("comparing with the checkpoint on random ink")
        verify(namer, model)
        if pictures is not None:
            progress(f"comparing with the checkpoint on {pictures.data}")
            same = parity(namer, model, target.engine, pictures)
            show(same.text())
            same.check()
            meta["metrics"] = {**meta["metrics"], "parity": same.to_json()}
        if material is not None:
            passed = quantize(model, meta, material, output, show, progress)
            meta, parts = passed.meta, passed.parts
        else:
            meta[KEY] = reference_readings(model)
    progress(f"writing {output}")
    return ModelFile.write(output, meta, parts)


def _reading(decoding: DecodingOptions) -> str:
    """Describes test-time augmentation in a sentence."""
    if not decoding.tta_scales:
        return "the model reads each input once"
    sizes = ", ".join(f"{factor:g}" for factor in decoding.tta_scales)
    threshold = f"{decoding.confidence_threshold:g}"
    return (
        f"the model reads each input once, and again where the score is under {threshold}: at "
        f"{sizes} times the size"
    )


def _decoding(
    record: Mapping[str, Any], second_looks: Sequence[float] | None, sure: float | None
) -> DecodingOptions:
    """The checkpoint's decoding options, overridden by the given ones."""
    value = {**decoding_of(record["config"]).to_json(), **record.get("decoding", {})}
    if second_looks is not None:
        value["second_looks"] = list(second_looks)
    if sure is not None:
        value["sure"] = sure
    return DecodingOptions.from_json(value)


def _parts(target: Target, graphs: dict[str, bytes], meta: dict[str, Any]) -> dict[str, bytes]:
    """The ONNX graphs in the format and precision (no int8) of the model that `meta` describes."""
    if target.format == "openvino":
        from .openvino import openvino_parts

        return openvino_parts(graphs, meta, half=target.precision == "fp16")
    if target.precision == "int8":
        return graphs  # what is quantized is not yet compact
    if target.precision == "fp16":
        graphs = {role: halved(graph) for role, graph in graphs.items()}
    return compact_parts(graphs, meta)


def verify(namer: Namer, model: ModelFile) -> float:
    """Largest difference of any probability between `namer` and the exported `model`.

    Both graphs run on random ink at sizes never traced, alone and in a batch. Raises `ExportError`
    where it exceeds the `TOLERANCE` of the model's precision.
    """
    return check_agreement(TorchEngine.of(namer), open_engine(None, model), model, "the checkpoint")
