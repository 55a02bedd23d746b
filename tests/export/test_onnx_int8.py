"""`namer-edge export --precision int8`: calibrated on ink, and never written without passing."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from namer_edge.checkpoints.weights import load_weights
from namer_edge.data.formula import Formula
from namer_edge.data.pack import Pack, save_pack
from namer_edge.data.report import Report
from namer_edge_export.export import verify
from namer_edge_export.fused_decoder import fused_attention
from namer_edge_export.memory import STATUS
from namer_edge_export.onnx import export_pgd
from namer_edge_export.quantization import pipeline as int8_module
from namer_edge_export.quantization.accuracy_gate import (
    load_evaluation,
)
from namer_edge_export.quantization.calibration import draw, vat_inputs
from namer_edge_export.quantization.onnx_qdq import find_profile
from namer_edge_export.quantization.pipeline import (
    QuantizationData,
    explain,
    quantize,
    quantized_graphs,
)
from namer_edge_export.quantization.sensitivity import Sensitivity
from namer_edge_runtime.command import main
from namer_edge_runtime.diagnostics.graph_metadata import read_metadata
from namer_edge_runtime.engine.int8_sums import int8_unit
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import STROKE_PLANES, Preprocessing
from namer_edge_runtime.recognizer import Recognizer

from ..handwriting import WRITTEN, written
from .conftest import CHECKPOINT, traced


def save(path: Path, formulas: list[Formula]) -> Path:
    save_pack(path, Pack(formulas, Report(len(formulas)), {}))
    return path


@pytest.fixture(scope="session")
def training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty formulas to calibrate on."""
    many = [written(number % len(WRITTEN), number // len(WRITTEN)) for number in range(40)]
    return save(tmp_path_factory.mktemp("training") / "training.npz", many)


@pytest.fixture(scope="session")
def evaluation(tmp_path_factory: pytest.TempPathFactory, fp32: ModelFile) -> Path:
    """Five hundred formulas labeled with what fp32 reads, so that it has all of them right."""
    reader = Recognizer.from_pretrained(fp32.path, threads=1)
    drawn = [written(number, seed) for number in (6, 8, 11, 13, 15) for seed in (2, 3)]
    read = [
        replace(formula, tokens=tuple(reader.strokes(formula.strokes).canonical.split()))
        for formula in drawn
    ]
    assert all(len(formula.tokens) > 0 for formula in read)
    many = [replace(read[number % 10], name=f"{number}.inkml") for number in range(500)]
    return save(tmp_path_factory.mktemp("evaluation") / "five-hundred.npz", many)


@pytest.fixture(scope="session")
def fp32(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    """What int8 is made of: the checkpoint with attention as one operator."""
    plain = ModelFile.open(trained)
    pgd = export_pgd(load_weights(CHECKPOINT)[0], fused_attention)
    path = tmp_path_factory.mktemp("fused") / "fp32"
    return ModelFile.write(path, plain.meta, {"vat": plain.read("vat"), "pgd": pgd})


@pytest.fixture
def quick(fp32: ModelFile) -> Iterator[None]:
    with traced(fp32):
        yield


@pytest.fixture(scope="session")
def int8(
    fp32: ModelFile, training: Path, evaluation: Path, tmp_path_factory: pytest.TempPathFactory
) -> ModelFile:
    path = tmp_path_factory.mktemp("int8") / "edge.zip"
    material = QuantizationData.gather(training, evaluation, fp32.preprocessing, max_drop=100)
    made = quantize(fp32, fp32.meta, material, path, print)
    return ModelFile.write(path, made.meta, made.parts)


def test_the_model_file_says_how_it_was_made(int8: ModelFile, training: Path) -> None:
    meta = int8.meta
    assert int8.precision == "int8"
    assert meta["quantization"]["name"] == "x86"
    assert meta["quantization"]["weight_bits"] == 7
    calibration = meta["calibration"]
    assert calibration["size"] == len(calibration["names"]) == 40
    assert calibration["sha256"] == draw(training, int8.preprocessing).sha256
    gate = meta["metrics"]["gate"]
    assert gate["total"] == 500
    assert gate["drop"] == pytest.approx(gate["fp32"]["exprate"] - gate["int8"]["exprate"])
    assert gate["drop_interval"][0] <= gate["drop"] <= gate["drop_interval"][1]
    assert gate["int8"]["bytes"] < 0.5 * gate["fp32"]["bytes"]
    assert gate["arithmetic"]["int8 unit"] == int8_unit()
    assert gate["arithmetic"]["int8 sums"] in ("exact", "saturated")
    assert len(meta["reference_readings"]["readings"]) == 16
    json.dumps(dict(meta))


def test_fused_attention_computes_what_the_checkpoint_computes(fp32: ModelFile) -> None:
    assert verify(load_weights(CHECKPOINT)[0], fp32) < 1e-5


def test_both_graphs_fit_into_six_megabytes(int8: ModelFile) -> None:
    assert sum(part.bytes for part in int8.parts.values()) <= 6e6


def test_weights_are_s8_by_channel_and_activations_u8(int8: ModelFile) -> None:
    for role, operator in (("vat", "Conv"), ("pgd", "MatMul")):
        graph = onnx.load_from_string(int8.read(role)).graph
        constants = {tensor.name: tensor for tensor in graph.initializer}
        made_by = {name: node for node in graph.node for name in node.output}
        scales = {n.output[0]: n for n in graph.node if n.op_type == "DequantizeLinear"}
        quantized = [n for n in graph.node if n.op_type == operator and n.input[1] in scales]
        assert quantized
        for node in quantized:
            weight, activation = scales[node.input[1]], scales[node.input[0]]
            assert constants[weight.input[0]].data_type == onnx.TensorProto.INT8
            # One scale for each channel; all of them lie in one constant.
            assert made_by[weight.input[1]].op_type == "Split"
            assert len(weight.input) == 2, "symmetric"
            assert made_by[activation.input[0]].op_type == "QuantizeLinear"
            assert constants[activation.input[2]].data_type == onnx.TensorProto.UINT8
        # Scales taken at run time would be those of the whole batch.
        assert not any(node.op_type == "DynamicQuantizeLinear" for node in graph.node)


def test_attention_and_connectivity_stay_in_float(int8: ModelFile) -> None:
    graph = onnx.load_from_string(int8.read("pgd")).graph
    made_by = {name: node for node in graph.node for name in node.output}
    scaled = {n.output[0] for n in graph.node if n.op_type == "DequantizeLinear"}
    attentions = [node for node in graph.node if node.op_type == "MultiHeadAttention"]
    assert len(attentions) == 2 * 2 * 3
    products = [node for node in graph.node if node.op_type == "MatMul"]
    of_activations = [n for n in products if n.input[1] in made_by and n.input[1] not in scaled]
    assert len(of_activations) == 2, "left and right"
    assert not any(set(node.input) & scaled for node in (*attentions, *of_activations))


@pytest.mark.parametrize("role", ["vat", "pgd"])
def test_a_graph_that_lost_its_folder_explains_itself(
    int8: ModelFile, role: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tmp_path / "alone.onnx"
    alone.write_bytes(int8.read(role))
    said = read_metadata(alone)
    assert said["role"] == role
    for key in ("precision", "look", "vocabulary", "decoding", "quantization", "licence"):
        assert said[key] == int8.meta[key]
    assert said["checkpoint_sha256"] == int8.meta["training"]["checkpoint_sha256"]
    assert said["calibration"]["sha256"] == int8.meta["calibration"]["sha256"]
    assert main(["check", str(alone)]) == 0
    text = capsys.readouterr().out
    assert all(part in text for part in (said["checkpoint_sha256"], said["licence"], role, "x86"))


def test_a_graph_of_somebody_else_says_nothing(
    fp32: ModelFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "foreign.onnx").write_bytes(fp32.read("pgd"))
    assert main(["check", str(tmp_path / "foreign.onnx")]) == 2
    assert "says nothing of itself" in capsys.readouterr().out


def test_a_batch_reads_as_one_by_one(int8: ModelFile) -> None:
    recognizer = Recognizer.from_pretrained(int8.path, threads=1)
    prepared = [
        prepare_input(written(number, seed).strokes, int8.preprocessing)
        for number in range(len(WRITTEN))
        for seed in range(4, 7)
    ]
    assert len({picture.image.shape for picture in prepared}) < len(prepared) / 2, "few batches"
    alone = [recognizer.each([p])[0] for p in prepared]
    together = recognizer.each(prepared, batch_size=8)
    read = [a.canonical for a in alone]  # type: ignore[union-attr]
    assert read == [t.canonical for t in together]  # type: ignore[union-attr]
    assert len(set(read)) > len(WRITTEN) / 2, "the comparison is worth little if nothing is read"


@pytest.mark.parametrize(("name", "kind"), [(None, "uint8"), ("arm64", "int8")])
def test_t10_every_profile_has_weights_whose_sums_cannot_saturate(
    name: str | None, kind: str, fp32: ModelFile, training: Path
) -> None:
    calibration = draw(training, fp32.preprocessing, 2)
    graphs = quantized_graphs(fp32, calibration, find_profile(name))
    for graph in (onnx.load_from_string(content).graph for content in graphs.values()):
        assert largest_weight(graph) == 64
        constants = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
        zeros = [n.input[2] for n in graph.node if n.op_type == "QuantizeLinear"]
        assert {constants[zero].dtype for zero in zeros} == {np.dtype(kind)}


@pytest.mark.parametrize("role", ["vat", "pgd"])
def test_sums_of_the_packaged_model_cannot_saturate_on_any_processor(role: str) -> None:
    """Pairs of products U8 x S8 stay below 2^15, beyond which x86 without VNNI saturates."""
    assert (
        2 * 255 * largest_weight(onnx.load_from_string(ModelFile.open().read(role)).graph) < 2**15
    )


def largest_weight(graph: onnx.GraphProto) -> int:
    """Largest magnitude among the constants that the graph multiplies in int8."""
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
    scaled = {n.output[0]: n.input[0] for n in graph.node if n.op_type == "DequantizeLinear"}
    multiplied = [n.input[1] for n in graph.node if n.op_type in ("Conv", "MatMul", "Gemm")]
    weights = [constants[scaled[name]] for name in multiplied if name in scaled]
    assert len(weights) > 10
    assert all(weight.dtype == np.int8 for weight in weights)
    return max(int(np.abs(weight.astype(int)).max()) for weight in weights)


@pytest.mark.parametrize("name", ["vnni", "avx2"])
def test_former_profiles_are_names_of_the_one_for_x86(name: str) -> None:
    assert find_profile(name) is find_profile(None)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["--profile", "arm64"], "onnx fp32 has no use for --profile"),
        (
            ["--precision", "int8", "--calibration", "c", "--eval", "e", "--profile", "mips"],
            "no profile 'mips': there are x86",
        ),
    ],
)
def test_a_profile_that_does_not_fit(
    command: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "x.safetensors", "-o", "m", *command]) == 2
    assert says in capsys.readouterr().err


def test_the_report_names_what_each_layer_costs_alone(
    fp32: ModelFile, training: Path, evaluation: Path, tmp_path: Path
) -> None:
    some = replace(load_evaluation(evaluation), samples=load_evaluation(evaluation).samples[:5])
    report, shown = tmp_path / "layers.json", list[str]()
    material = QuantizationData(
        draw(training, fp32.preprocessing, 2), some, explain=report, worst=1
    )
    found = list[Sensitivity]()
    quantized_graphs(
        fp32,
        material.calibration,
        inspect=lambda graphs: found.append(
            explain(fp32, fp32.meta, graphs, material, tmp_path / "m", shown.append)
        ),
    )
    layers = json.loads(report.read_text())["layers"]
    operators = [layer["operator"] for layer in layers]
    assert operators.count("Conv") == 19
    assert operators.count("MatMul") == 40
    assert operators.count("Softmax") == 1, "VAT's logits"
    assert all(0 < layer["error"] < 0.1 for layer in layers if layer["operator"] == "MatMul")
    assert [layer["drop"] is not None for layer in layers].count(True) == 1
    (costliest,) = (cost for cost in found[0].costs if cost.drop is not None)
    assert costliest.error == max(layer["error"] for layer in layers)
    assert costliest.layer in shown[0]
    assert [path.name for path in tmp_path.iterdir()] == ["layers.json"]


def test_the_same_formulas_are_drawn_every_time(training: Path) -> None:
    first, again = draw(training, Preprocessing(), 10), draw(training, Preprocessing(), 10)
    other = draw(training, Preprocessing(), 10, seed=1)
    assert first.names == again.names
    assert first.sha256 == again.sha256 != other.sha256
    assert len(set(first.names)) == 10


def test_every_second_formula_is_calibrated_as_a_picture(training: Path) -> None:
    written_down = draw(training, Preprocessing(stroke_planes=True), 10)
    hidden = [picture.strokes is None for picture in written_down.pictures]
    assert hidden == [False, True] * 5
    images = [
        inputs["image"] for inputs in vat_inputs(written_down, Preprocessing(stroke_planes=True))
    ]
    assert all(image.shape[1] == 1 + STROKE_PLANES for image in images)
    assert [not image[:, 1:].any() for image in images] == hidden
    assert written_down.sha256 != draw(training, Preprocessing(), 10).sha256


def test_blank_and_unreadable_files_are_no_calibration(tmp_path: Path) -> None:
    (tmp_path / "broken.inkml").write_text("<ink><trace>1 2, 3")
    (tmp_path / "empty.png").write_bytes(b"")
    with pytest.raises(DataError, match="nothing can be calibrated on it"):
        draw(tmp_path, Preprocessing())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], ("--calibration DATA", "--eval DATA")),
        (["--calibration", "x"], ("give --eval DATA",)),
        (["--eval", "x"], ("give --calibration DATA",)),
    ],
)
def test_int8_without_data_is_refused_and_says_what_to_pass(
    given: list[str], says: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", "x.safetensors", "--precision", "int8", "-o", "m", *given]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert all(text in error for text in says)


def test_fp32_has_no_use_for_the_options_of_int8(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "x.safetensors", "-o", "m", "--max-drop", "1"]) == 2
    assert "onnx fp32 has no use for --max-drop" in capsys.readouterr().err


def test_a_small_set_decides_nothing(
    training: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", str(CHECKPOINT), "--precision", "int8", "-o", str(tmp_path / "m")]
    command += ["--calibration", str(training), "--eval", str(training)]
    assert main(command) == 2
    assert "40 labeled formulas and the gate needs 500" in capsys.readouterr().err


@pytest.mark.usefixtures("quick")
def test_t10_one_command_calibrates_measures_and_writes(
    training: Path,
    evaluation: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["export", str(CHECKPOINT), "--precision", "int8", "-o", str(tmp_path / "m")]
    command += ["--calibration", str(training), "--eval", str(evaluation), "--max-drop", "100"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "fp32      100.00%" in text
    assert "int8" in text
    assert "95% interval" in text
    assert "peak memory" in text
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    model = ModelFile.open(tmp_path / "m")
    assert model.precision == "int8"
    if STATUS.exists():
        gate = model.meta["metrics"]["gate"]
        assert 50e6 < gate["int8"]["memory"] < 2e9


@pytest.mark.usefixtures("quick")
def test_t10_what_loses_too_much_is_shown_and_not_written(
    training: Path,
    evaluation: Path,
    int8: ModelFile,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    parts = {"vat": int8.read("vat"), "pgd": int8.read("pgd")}
    monkeypatch.setattr(int8_module, "quantized_graphs", lambda *_: parts)
    command = ["export", str(CHECKPOINT), "--precision", "int8", "-o", str(tmp_path / "m")]
    command += ["--calibration", str(training), "--eval", str(evaluation), "--max-drop", "-1"]
    assert main(command) == 1
    said = capsys.readouterr()
    assert "nothing was written" in said.err
    assert "95% interval" in said.out
    assert list(tmp_path.iterdir()) == []
