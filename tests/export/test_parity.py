"""torch and ONNX Runtime read the same, with the trained weights, from ink and not from tensors."""

from pathlib import Path

import numpy as np
import pytest

from namer_edge.data.crohme import load_crohme
from namer_edge.data.splits import find_split
from namer_edge.model.engine import TorchEngine
from namer_edge.training.checkpoint import load_weights
from namer_edge_export.export import SIZES
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.picture.look import Prepared
from namer_edge_runtime.recognizer import Recognizer

from ..handwriting import WRITTEN, written
from .conftest import CHECKPOINT


@pytest.fixture(scope="module")
def pair(trained: Path) -> tuple[Recognizer, Recognizer]:
    """One recognizer on ONNX Runtime, one on torch, alike in all else."""
    onnx = Recognizer.from_pretrained(trained, threads=1)
    namer, look, _ = load_weights(CHECKPOINT)
    return onnx, Recognizer(TorchEngine.of(namer), look, namer.vocabulary, onnx.decoding)


def read(recognizer: Recognizer, prepared: list[Prepared]) -> list[str]:
    return [answer.canonical for answer in recognizer.each(prepared)]  # type: ignore[union-attr]


def test_at_sizes_that_were_never_exported(pair: tuple[Recognizer, Recognizer]) -> None:
    """Written formulas in ever larger pictures, odd multiples of 16 among them; each run twice."""
    onnx, torch = pair
    prepared: list[Prepared] = []
    for number in range(len(WRITTEN)):
        image = onnx_input(onnx, number)
        for add in ((0, 0), (16 * (number % 5 + 1), 48), (112, 16 * (number + 3))):
            larger = np.pad(image, ((add[0] // 2, add[0] - add[0] // 2), (add[1], 0)))
            prepared.append(Prepared(larger, 1.0, (0.0, 0.0)))
    sizes = {p.image.shape for p in prepared} - set(SIZES) - {(64, 96)}
    assert len(sizes) >= 20
    answers = read(onnx, prepared)
    assert answers == read(torch, prepared) == read(onnx, prepared)
    assert sum(len(answer.split()) > 1 for answer in answers) > len(answers) / 2


def onnx_input(recognizer: Recognizer, number: int) -> np.ndarray:
    from namer_edge_runtime.ink.render import render

    return render(written(number).strokes, recognizer.look).image


def test_a_picture_of_17_by_33_pixels(pair: tuple[Recognizer, Recognizer]) -> None:
    picture = np.full((17, 33), 255, np.uint8)
    picture[3:15, 8:10] = 0
    picture[8:10, 14:28] = 0
    assert len({recognizer(picture).canonical for recognizer in pair}) == 1


def test_200_formulas_of_2014(pair: tuple[Recognizer, Recognizer], shared_data: Path) -> None:
    split = find_split(shared_data, "test2014")
    formulas = load_crohme(split.ink, split.labels).formulas[::4][:200]
    assert len(formulas) == 200
    strokes = [formula.strokes for formula in formulas]
    onnx, torch = (recognizer(strokes, batch_size=8) for recognizer in pair)
    assert [r.canonical for r in onnx] == [r.canonical for r in torch]


def test_batched_as_one_by_one(pair: tuple[Recognizer, Recognizer]) -> None:
    strokes = [written(number % 16, seed).strokes for seed in range(2) for number in range(16)]
    for recognizer in pair:
        alone = [recognizer.strokes(s).canonical for s in strokes]
        assert [r.canonical for r in recognizer(strokes, batch_size=8)] == alone


def test_the_packaged_model_comes_from_the_committed_checkpoint() -> None:
    _, _, record = load_weights(CHECKPOINT)
    assert ModelFile.open().meta["training"]["checkpoint_sha256"] == record["sha256"]
