"""int8 for OpenVINO, by NNCF: symmetric weights per channel, activations per tensor.

As in the ONNX graphs, what multiplies activations with activations stays in float: attention, and
the connectivity Q_0 · Q_J, where a rounded logit is a wrong edge.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import openvino
from numpy.typing import NDArray
from tqdm import tqdm

from namer_edge.data.labels import Label
from namer_edge.evaluation.pairing import Answer, reading
from namer_edge.evaluation.samples import Sample
from namer_edge_runtime.engine.base import (
    PGD_OUTPUTS,
    VAT_OUTPUTS,
    Engine,
    PgdInputs,
    PgdOutput,
    VatOutput,
    open_engine,
)
from namer_edge_runtime.errors import NamerEdgeError
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import Prepared, Preprocessing
from namer_edge_runtime.recognizer import Recognizer

from ..openvino import opened, written
from ..quiet import quiet
from .calibration import Calibration, pgd_inputs, vat_inputs

SCHEME = "NNCF static"
RANKED = 100
"""Formulas by which accuracy control ranks the layers; all of them judge each step it takes."""


def nncf_parts(
    model: ModelFile,
    meta: Mapping[str, Any],
    calibration: Calibration,
    limit: "Limit | None" = None,
) -> dict[str, bytes]:
    """The parts of the int8 twin, which `meta` describes, of the fp32 OpenVINO `model`.

    With a `limit`, layers return to float one by one until ExpRate falls by no more; that takes
    many readings of the whole set.
    """
    nncf = _nncf()
    engine = open_engine(None, model, threads=1)
    recognizer = Recognizer.of_model(model, engine, calibrated=False)
    inputs = {
        "vat": list(vat_inputs(calibration, model.preprocessing)),
        # Each is read once and needed several times.
        "pgd": list(_bar(pgd_inputs(calibration, recognizer), len(calibration.pictures))),
    }
    judge = None if limit is None else _Judge(model, engine, limit)
    parts: dict[str, bytes] = {}
    with quiet("nncf"):
        for role, values in inputs.items():
            graph = opened(model, role)
            data = nncf.Dataset(values)
            options: dict[str, Any] = {"subset_size": len(values), **_options(nncf, role, graph)}
            # Weights of 7 bits, as in the ONNX graphs: sums are exact without VNNI too.
            exact = nncf.AdvancedQuantizationParameters(overflow_fix=nncf.OverflowFix.ENABLE)
            if judge is None:
                small = nncf.quantize(graph, data, advanced_parameters=exact, **options)
            else:
                options["advanced_quantization_parameters"] = exact
                small = judge.quantize(nncf, role, graph, data, options)
            parts |= written(small, meta, role)
    return parts


def _options(nncf: Any, role: str, graph: Any) -> dict[str, Any]:
    if role == "vat":
        return {"preset": nncf.QuantizationPreset.MIXED}
    return {
        "model_type": nncf.ModelType.TRANSFORMER,
        "ignored_scope": nncf.IgnoredScope(names=_of_activations(graph)),
    }


def _of_activations(graph: Any) -> list[str]:
    """Names of the products in which neither side is a weight."""
    return [
        node.get_friendly_name()
        for node in graph.get_ops()
        if node.get_type_name() == "MatMul"
        and not any(_constant(node.input_value(side).get_node()) for side in (0, 1))
    ]


def _constant(node: Any) -> bool:
    """Whether a node depends on no input: a weight, perhaps turned or widened."""
    if node.get_type_name() == "Constant":
        return True
    sources = [value.get_source_output().get_node() for value in node.inputs()]
    return bool(sources) and all(_constant(source) for source in sources)


@dataclass(frozen=True)
class Limit:
    """The accuracy that int8 may lose, and the formulas that measure it."""

    samples: tuple[Sample, ...]
    max_drop: float
    """Points of ExpRate, in one pass; the gate has the last word."""


class _Judge:
    """Has NNCF quantize graph after graph and keep ExpRate within a limit."""

    def __init__(self, model: ModelFile, engine: Engine, limit: Limit) -> None:
        self._model, self._limit = model, limit
        self._graphs = _Graphs(engine)
        self._pictures = list(_prepared(limit.samples, model.preprocessing))
        self._first: float | None = None

    def quantize(self, nncf: Any, role: str, graph: Any, data: Any, options: Any) -> Any:
        """The graph in int8; the ones after it will be judged beside it."""

        def rate(compiled: Any, numbers: Iterable[int]) -> tuple[float, list[float]]:
            return self._rate(self._graphs.with_(role, compiled), numbers)

        everything = range(len(self._pictures))
        now = self._rate(self._graphs, everything)[0]
        self._first = now if self._first is None else self._first
        small = nncf.quantize_with_accuracy_control(
            graph,
            data,
            nncf.Dataset(everything),
            rate,
            max_drop=self._limit.max_drop - (self._first - now),
            advanced_accuracy_restorer_parameters=nncf.AdvancedAccuracyRestorerParameters(
                ranking_subset_size=min(RANKED, len(self._pictures)), num_ranking_workers=1
            ),
            **options,
        )
        compiled = openvino.Core().compile_model(small, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        self._graphs = self._graphs.with_(role, compiled)
        return small

    def _rate(self, engine: Engine, numbers: Iterable[int]) -> tuple[float, list[float]]:
        """ExpRate in percent, and 1 or 0 for each formula."""
        model = self._model
        recognizer = Recognizer.of_model(model, engine, calibrated=False)
        right = []
        for number in numbers:
            label, picture = self._pictures[int(number)]
            (answer,) = recognizer.each([picture])
            if isinstance(answer, NamerEdgeError):
                raise answer  # a picture that is prepared fails only where an engine does
            read = Answer(label.name, answer.canonical)
            right.append(float(reading(label, read, loose=False).errors == 0))
        return 100 * float(np.mean(right)), right


def _prepared(
    samples: Iterable[Sample], preprocessing: Preprocessing
) -> Iterator[tuple[Label, Prepared]]:
    """Formulas that can be read; the others are wrong whatever the model."""
    for sample in samples:
        if sample.label is None or sample.source.error is not None:
            continue
        try:
            yield sample.label, prepare_input(sample.source.value, preprocessing)
        except NamerEdgeError:
            continue


class _Graphs:
    """An engine in which compiled graphs may take the place of its own."""

    def __init__(self, engine: Engine, instead: Mapping[str, Any] | None = None) -> None:
        self.name, self.device, self.precision = engine.name, engine.device, engine.precision
        self._engine, self._instead = engine, dict(instead or {})

    def with_(self, role: str, compiled: Any) -> "_Graphs":
        return _Graphs(self._engine, {**self._instead, role: compiled})

    def vat(self, images: NDArray[np.uint8]) -> VatOutput:
        if "vat" not in self._instead:
            return self._engine.vat(images)
        answers = self._instead["vat"]({"image": images})
        return VatOutput(*(answers[name] for name in VAT_OUTPUTS))

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        if "pgd" not in self._instead:
            return self._engine.pgd(inputs)
        answers = self._instead["pgd"](vars(inputs))
        return PgdOutput(*(answers[name] for name in PGD_OUTPUTS))


def _nncf() -> Any:
    """NNCF, which unless it takes this for its own tests tells its makers what it is used for."""
    before = os.environ.get("NNCF_CI")
    os.environ["NNCF_CI"] = "1"
    try:
        import nncf
    finally:
        if before is None:
            del os.environ["NNCF_CI"]
        else:
            os.environ["NNCF_CI"] = before
    return nncf


def _bar(
    inputs: Iterable[dict[str, NDArray[Any]]], total: int
) -> Iterable[dict[str, NDArray[Any]]]:
    bar: Iterable[dict[str, NDArray[Any]]] = tqdm(
        inputs, "calibrate pgd", total, unit=" formulas", disable=None
    )
    return bar
