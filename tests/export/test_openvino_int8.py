"""`namer-edge export --format openvino --precision int8`: by NNCF, calibrated on ink."""

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from namer_edge.data.labels import Label
from namer_edge.data.pack import Pack, save_pack
from namer_edge.data.report import Report
from namer_edge.evaluation.exprate import Prediction
from namer_edge.evaluation.samples import Sample
from namer_edge_export import formats as formats_module
from namer_edge_export.export import export
from namer_edge_export.quantization import pipeline as int8_module
from namer_edge_export.quantization.accuracy_gate import Comparison, EvaluationSet, Measured
from namer_edge_export.quantization.calibration import Calibration, draw
from namer_edge_export.quantization.pipeline import QuantizationData, quantize
from namer_edge_runtime.bulk.input_files import Source
from namer_edge_runtime.command import main
from namer_edge_runtime.engine.base import open_engine
from namer_edge_runtime.errors import ExportError
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

from ..handwriting import written
from .conftest import CHECKPOINT, traced

openvino = pytest.importorskip("openvino")
pytest.importorskip("nncf")
from namer_edge_export.quantization import nncf as nncf_module  # noqa: E402

FORMULAS = [written(number, seed) for number in (0, 6, 8, 11, 13, 15) for seed in range(2)]


@pytest.fixture(scope="module")
def fp32(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    with traced(ModelFile.open(trained)):
        return export(CHECKPOINT, tmp_path_factory.mktemp("fp32") / "edge", "openvino")


@pytest.fixture(scope="module")
def calibration(fp32: ModelFile, tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    path = tmp_path_factory.mktemp("training") / "twelve.npz"
    save_pack(path, Pack(FORMULAS, Report(len(FORMULAS)), {}))
    return draw(path, fp32.preprocessing)


@pytest.fixture(scope="module")
def evaluation(fp32: ModelFile) -> EvaluationSet:
    """Labelled with what fp32 reads in one pass, so that it has all of them right."""
    reader = Recognizer.from_pretrained(fp32.path, threads=1)
    labels = [
        Label(formula.name, reader.strokes(formula.strokes).canonical) for formula in FORMULAS
    ]
    samples = [
        Sample(Source(f.name, list(f.strokes)), label)
        for f, label in zip(FORMULAS, labels, strict=True)
    ]
    return EvaluationSet(tuple(samples), "twelve.npz", None)


@pytest.fixture(scope="module")
def int8(
    fp32: ModelFile, calibration: Calibration, tmp_path_factory: pytest.TempPathFactory
) -> ModelFile:
    meta = {**fp32.meta, "precision": "int8", "calibration": calibration.to_json()}
    parts = nncf_module.nncf_parts(fp32, meta, calibration)
    return ModelFile.write(tmp_path_factory.mktemp("int8") / "edge", meta, parts)


def test_weights_take_a_byte_and_attention_and_connectivity_stay_in_float(
    fp32: ModelFile, int8: ModelFile
) -> None:
    for role in ("vat", "pgd"):
        assert int8.parts[f"{role}.bin"].bytes < 0.3 * fp32.parts[f"{role}.bin"].bytes
    graph = nncf_module.opened(int8, "pgd")
    rounded = {
        n.get_friendly_name() for n in graph.get_ops() if n.get_type_name() == "FakeQuantize"
    }
    assert rounded
    products = [node for node in graph.get_ops() if node.get_type_name() == "MatMul"]
    in_float = nncf_module._of_activations(graph)
    assert len(in_float) == 2 * 2 * 3 * 2 + 2  # two of each attention, and left and right
    assert len(in_float) < len(products)
    for node in products:
        if node.get_friendly_name() in in_float:
            sources = [value.get_source_output().get_node() for value in node.inputs()]
            assert not {source.get_friendly_name() for source in sources} & rounded


def test_it_reads_alike_alone_and_batched_and_says_what_it_is(
    fp32: ModelFile, int8: ModelFile, calibration: Calibration
) -> None:
    small, large = (Recognizer.from_pretrained(m.path, threads=1) for m in (int8, fp32))
    pictures = [prepare_input(formula.strokes, int8.preprocessing) for formula in FORMULAS]
    alone: list[Any] = small.each(pictures, batch_size=1)
    together: list[Any] = small.each(pictures, batch_size=8)
    read = [result.canonical for result in alone]
    assert read == [result.canonical for result in together]
    expected: list[Any] = large.each(pictures)
    same = sum(a == b.canonical for a, b in zip(read, expected, strict=True))
    assert same > len(pictures) / 2
    assert (alone[0].engine, alone[0].precision) == ("openvino", "int8")
    said = nncf_module.opened(int8, "vat").get_rt_info(["namer_edge"]).value
    assert said["precision"] == "int8"
    assert json.loads(said["calibration"])["sha256"] == calibration.sha256


def test_nothing_is_told_to_the_makers_of_nncf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NNCF_CI", raising=False)
    nncf_module._nncf()
    from nncf.telemetry import wrapper

    assert not isinstance(wrapper.telemetry, wrapper.NNCFTelemetry)
    assert "NNCF_CI" not in os.environ, "what others do with it is for them to decide"


def test_accuracy_control_counts_formulas_and_what_was_lost_before(
    fp32: ModelFile, int8: ModelFile, evaluation: EvaluationSet
) -> None:
    """NNCF asks for the rate of graphs of its making; here they are the ones we have."""
    asked: list[tuple[float, float]] = []

    def control(graph: Any, data: Any, numbers: Any, rate: Any, **options: Any) -> Any:
        compiled = openvino.Core().compile_model(graph, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        value, each = rate(compiled, numbers)
        assert value == pytest.approx(100 * sum(each) / len(each))
        asked.append((options["max_drop"], value))
        return nncf_module.opened(int8, "vat")

    library = SimpleNamespace(
        quantize_with_accuracy_control=control,
        Dataset=list,
        AdvancedAccuracyRestorerParameters=SimpleNamespace,
    )
    engine = open_engine(None, fp32, threads=1)
    # One pass is judged, so the labels of a model without second looks are all right.
    judge = nncf_module._Judge(fp32, engine, nncf_module.Limit(evaluation.samples, 20.0))
    for role in ("vat", "pgd"):
        judge.quantize(library, role, nncf_module.opened(fp32, role), None, {})
        if role == "vat":
            lost = 100.0 - judge._rate(judge._graphs, range(len(FORMULAS)))[0]
    assert asked[0] == (20.0, 100.0)
    assert asked[1][0] == pytest.approx(20.0 - lost)


@pytest.mark.parametrize("drops", [[3.0, 0.0], [3.0, 3.0]])
def test_what_loses_too_much_is_made_again_with_accuracy_control(
    drops: list[float],
    fp32: ModelFile,
    calibration: Calibration,
    evaluation: EvaluationSet,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits: list[Any] = []

    def parts(model: ModelFile, meta: Any, drawn: Any, limit: Any = None) -> dict[str, bytes]:
        limits.append(limit)
        return {role: model.read(role) for role in model.parts}

    def compare(before: ModelFile, after: ModelFile, data: EvaluationSet) -> Comparison:
        lost = round(drops[len(limits) - 1])
        right = [Prediction(f"{n}", ("x",), ("x",)) for n in range(100)]
        worse = [replace(r, read=("y",)) if n < lost else r for n, r in enumerate(right)]
        return Comparison(
            data, Measured("fp32", 8, tuple(right), 2.0), Measured("int8", 2, tuple(worse), 1.0)
        )

    monkeypatch.setattr(nncf_module, "nncf_parts", parts)
    monkeypatch.setattr(int8_module, "compare", compare)
    material = QuantizationData(calibration, evaluation, max_drop=0.5)
    shown: list[str] = []
    if drops[-1] <= 0.5:
        made = quantize(fp32, fp32.meta, material, tmp_path / "m", shown.append)
        assert made.meta["quantization"]["accuracy_control"]
        assert made.meta["metrics"]["gate"]["drop"] == 0
    else:
        with pytest.raises(ExportError, match=r"3\.00 points fewer"):
            quantize(fp32, fp32.meta, material, tmp_path / "m", shown.append)
    assert limits[0] is None
    assert limits[1].max_drop == 0.5
    assert any("accuracy control" in text for text in shown)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("missing", "says"),
    [("openvino", "namer-edge[openvino]"), ("nncf", "namer-edge[export]")],
)
def test_a_missing_extra_is_named_before_anything_is_done(
    missing: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = formats_module.find_spec
    monkeypatch.setattr(
        formats_module, "find_spec", lambda name: None if name == missing else real(name)
    )
    command = ["export", "x.safetensors", "-o", "m", "--format", "openvino"]
    assert main([*command, "--precision", "int8", "--calibration", "c", "--eval", "e"]) == 3
    error = capsys.readouterr().err
    assert f"openvino int8: {missing} is not installed" in error
    assert says in error


@pytest.mark.parametrize(
    ("precision", "options", "says"),
    [
        ("fp32", ["--max-drop", "1"], "openvino fp32 has no use for --max-drop: it takes --verify"),
        ("fp16", ["--verify", "v"], "openvino fp16 has no use for --verify"),
        ("int8", [], "give --calibration DATA"),
        ("int3", [], "format 'openvino' has no precision 'int3', only fp32, fp16, int8"),
    ],
)
def test_an_option_that_a_target_does_not_take_is_refused_with_those_it_does(
    precision: str, options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", "x.safetensors", "-o", "m", "--format", "openvino"]
    assert main([*command, "--precision", precision, *options]) == 2
    assert says in capsys.readouterr().err


def test_a_mistyped_format_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "x.safetensors", "-o", "m", "--format", "openvno"]) == 2
    assert "did you mean 'openvino'?" in capsys.readouterr().err
