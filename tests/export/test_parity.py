"""Every engine reads what the checkpoint reads: trained weights, from pictures and not tensors."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from namer_edge.checkpoints.weights import load_weights
from namer_edge.data.formula import Formula
from namer_edge.data.pack import Pack, save_pack
from namer_edge.data.report import Report
from namer_edge.model.engine import TorchEngine
from namer_edge_export import export as export_module
from namer_edge_export.agreement import SIZES
from namer_edge_export.export import export
from namer_edge_export.formats import TARGETS, Target
from namer_edge_export.parity import Difference, Parity, Pictures, parity
from namer_edge_runtime.bulk.input_files import NamedBytes
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import DataError, ExportError, UnreadableError
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result

from ..crohme_files import find_split
from ..handwriting import WRITTEN, written
from .conftest import CHECKPOINT, traced

NAMER, LOOK, RECORD = load_weights(CHECKPOINT)
GAP = 0.7
"""Between formulas on a page, where a digit is 1 high."""


@pytest.fixture(scope="module", params=[t for t in TARGETS if t.precision == "fp32"])
def target(request: pytest.FixtureRequest) -> Target:
    """Every format of the table in fp32."""
    found: Target = request.param
    if found.engine == "openvino":
        pytest.importorskip("openvino")
    return found


@pytest.fixture(scope="module")
def model(target: Target, trained: Path, tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    onnx = ModelFile.open(trained)
    if target.format == "onnx":
        return onnx
    with traced(onnx):
        return export(CHECKPOINT, tmp_path_factory.mktemp(target.format) / "fp32", target.format)


@pytest.fixture(scope="module")
def pair(target: Target, model: ModelFile) -> tuple[Recognizer, Recognizer]:
    """One recognizer on torch, one on what was exported, alike in all else, in one pass."""
    exported = Recognizer.from_pretrained(model.path, engine=target.engine, threads=1)
    exported.decoding = replace(exported.decoding, tta_scales=())
    torch = Recognizer(TorchEngine.of(NAMER), LOOK, NAMER.vocabulary, exported.decoding)
    return torch, exported


def png(image: np.ndarray) -> bytes:
    return cv2.imencode(".png", image)[1].tobytes()


def page(rows: Sequence[Sequence[int]]) -> bytes:
    """A picture of written formulas beside and below one another, black on white."""
    strokes = []
    y = 0.0
    for row, numbers in enumerate(rows):
        x = low = 0.0
        for seed, number in enumerate(numbers):
            own = [stroke.astype(np.float32) for stroke in written(number, seed + row).strokes]
            points = np.concatenate(own)
            shift = np.array([x, y], np.float32) - points.min(0)
            strokes += [stroke + shift for stroke in own]
            x += float(np.ptp(points[:, 0])) + GAP
            low = max(low, float(np.ptp(points[:, 1])))
        y += low + GAP
    return png(255 - render(strokes, replace(LOOK, max_height=4096, max_width=8192)).image)


def read(recognizer: Recognizer, pictures: Sequence[Any], batch_size: int = 1) -> list[str]:
    answers = recognizer.each(pictures, batch_size)
    assert all(isinstance(answer, Result | UnreadableError) for answer in answers)
    return [answer.canonical if isinstance(answer, Result) else "" for answer in answers]


def test_t11_at_sizes_that_were_never_exported_alone_and_batched_and_again(
    pair: tuple[Recognizer, Recognizer],
) -> None:
    pictures = [png(255 - render(written(n).strokes, LOOK).image) for n in range(len(WRITTEN))]
    pictures += [page([range(n, n + length)]) for length in (2, 3, 5, 8) for n in (0, 6)]
    pictures += [page([[n], [n + 1, 2]]) for n in range(8)]
    pictures += [page([[n], [3], [n + 2, 5, 4]]) for n in range(4)]
    sizes = {prepare_input(picture, LOOK).image.shape for picture in pictures}
    assert len(sizes - set(SIZES) - {(64, 96)}) >= 20
    torch, exported = pair
    expected = read(torch, pictures)
    assert sum(len(answer.split()) > 1 for answer in expected) > len(expected) / 2
    for batch_size in (1, 8, 1, 8):
        assert read(exported, pictures, batch_size) == expected
    assert read(torch, pictures, batch_size=8) == expected


def test_a_picture_of_17_by_33_pixels(pair: tuple[Recognizer, Recognizer]) -> None:
    picture = np.full((17, 33), 255, np.uint8)
    picture[3:15, 8:10] = 0
    picture[8:10, 14:28] = 0
    torch, exported = pair
    expected = read(torch, [png(picture)])
    assert expected[0]
    assert read(exported, [png(picture)]) == read(exported, [png(picture)]) == expected


def test_a_line_as_long_as_the_look_allows(pair: tuple[Recognizer, Recognizer]) -> None:
    line = page([[number % 16 for number in range(30)]])
    assert prepare_input(line, LOOK).image.shape[1] == LOOK.max_width
    torch, exported = pair
    expected = read(torch, [line])
    assert len(expected[0].split()) > 10
    assert read(exported, [line]) == read(exported, [line]) == expected


def test_t11_a_blank_page_and_a_single_token(pair: tuple[Recognizer, Recognizer]) -> None:
    torch, exported = pair
    letters = [png(255 - render(written(15, seed).strokes, LOOK).image) for seed in range(12)]
    pictures = [png(np.full((60, 90), 255, np.uint8)), *letters]
    expected = read(torch, pictures)
    assert {len(answer.split()) for answer in expected} >= {0, 1}
    assert read(exported, pictures) == read(exported, pictures) == expected


def test_ink_in_which_nothing_is_seen(pair: tuple[Recognizer, Recognizer]) -> None:
    """PGD has <sos> and <eos> alone."""
    answers = []
    for recognizer in pair:
        none = replace(recognizer.decoding, max_nodes=2)
        blind = Recognizer(recognizer.engine, LOOK, NAMER.vocabulary, none)
        answers += [blind(written(0).strokes) for _ in range(2)]
    assert {answer.canonical for answer in answers} == {""}
    assert all(answer.truncated for answer in answers)


def test_t11_a_page_of_more_nodes_than_are_taken(pair: tuple[Recognizer, Recognizer]) -> None:
    crowded = page([[(row + number) % 16 for number in range(12)] for row in range(10)])
    torch, exported = pair
    assert torch.decoding.max_nodes == 512
    prepared = prepare_input(crowded, LOOK)  # as one line
    expected = torch(prepared)
    assert expected.truncated
    assert len(expected.tokens) > 10
    for _ in range(2):
        answer = exported(prepared)
        assert answer.truncated
        assert answer.canonical == expected.canonical


def test_written_formulas(target: Target, model: ModelFile) -> None:
    pictures = drawn([written(number, seed) for number in range(16) for seed in range(2)])
    found = parity(NAMER, model, target.engine, pictures)
    assert found.total == 32
    assert found.passed, found.text()


def drawn(formulas: list[Formula]) -> Pictures:
    files = [NamedBytes(png(255 - render(f.strokes, LOOK).image), f.name) for f in formulas]
    return Pictures(tuple(files), "written")


def test_every_12th_formula_of_2014(target: Target, model: ModelFile, shared_data: Path) -> None:
    """All of them: `namer-edge export CHECKPOINT --verify test2014.npz …`."""
    pictures = Pictures.of(Path(find_split(shared_data, "test2014").ink), LOOK)
    assert len(pictures.files) >= 986
    some = replace(pictures, files=pictures.files[::12])
    found = parity(NAMER, model, target.engine, some)
    assert found.passed, found.text()


def save(path: Path, formulas: list[Formula]) -> Path:
    save_pack(path, Pack(formulas, Report(len(formulas)), {}))
    return path


@pytest.fixture
def quick(trained: Path) -> Iterator[None]:
    with traced(ModelFile.open(trained)):
        yield


@pytest.mark.usefixtures("quick")
def test_one_command_verifies_and_the_model_file_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = save(tmp_path / "two.npz", [written(0), written(8)])
    command = ["export", str(CHECKPOINT), "--verify", str(data), "-o", str(tmp_path / "m")]
    assert main(command) == 0
    assert "reads 100.00% of 2 pictures (two.npz)" in capsys.readouterr().out
    metrics = json.loads((tmp_path / "m" / "model.json").read_text())["metrics"]
    assert metrics["parity"]["identical"] == 100
    assert metrics["parity"]["engine"] == "onnxruntime"


@pytest.mark.usefixtures("quick")
def test_what_reads_otherwise_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = load_weights(CHECKPOINT)[0]
    other.vat.classify.bias.data += 3 * np.random.default_rng(0).random()
    other.vat.classify.bias.data[-1] -= 20  # sees something nearly everywhere
    real = export_module.parity
    monkeypatch.setattr(export_module, "parity", lambda namer, *rest: real(other, *rest))
    data = save(tmp_path / "two.npz", [written(0), written(8)])
    command = ["export", str(CHECKPOINT), "--verify", str(data), "-o", str(tmp_path / "m")]
    assert main(command) == 1
    said = capsys.readouterr()
    assert "nothing was written" in said.err
    assert "→" in said.out
    assert [path.name for path in tmp_path.iterdir()] == ["two.npz"]


@pytest.mark.parametrize(
    ("total", "margins", "passes"),
    [
        (1000, [], True),
        (1000, [1e-4, 9e-4], True),
        (1000, [1e-4, 2e-3], False),
        (1000, [1e-5, 1e-5, 1e-5], False),
    ],
)
def test_few_may_differ_and_by_rounding_alone(
    total: int, margins: list[float], passes: bool
) -> None:
    differences = tuple(Difference(f"{m}", "x", "y", m) for m in margins)
    found = Parity("some.npz", "onnxruntime", total, differences)
    assert found.passed == passes
    if not passes:
        with pytest.raises(ExportError, match="nothing was written"):
            found.check()


def test_data_in_which_nothing_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "broken.inkml").write_text("<ink><trace>1 2, 3")
    with pytest.raises(DataError, match="nothing can be verified"):
        Pictures.of(tmp_path, Preprocessing())


def test_int8_is_judged_by_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["export", "x.safetensors", "--precision", "int8", "-o", "m", "--verify", "v"]
    assert main([*command, "--calibration", "c", "--eval", "e"]) == 2
    assert "onnx int8 has no use for --verify" in capsys.readouterr().err


def test_the_packaged_model_comes_from_the_committed_checkpoint() -> None:
    assert ModelFile.open().meta["training"]["checkpoint_sha256"] == RECORD["sha256"]
