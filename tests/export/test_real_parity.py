"""The packaged model against the checkpoint it came from, on real ink."""

from pathlib import Path

import pytest

from namer_edge.data.crohme import load_crohme
from namer_edge.data.splits import find_split
from namer_edge.model.engine import TorchEngine
from namer_edge.training.checkpoint import load_weights
from namer_edge_runtime.recognizer import Recognizer

CHECKPOINT = Path(__file__).parents[2] / "export" / "checkpoints" / "crohme-edge.safetensors"


def test_torch_and_onnx_runtime_read_200_formulas_of_2014_alike(shared_data: Path) -> None:
    namer, look, _ = load_weights(CHECKPOINT)
    onnx = Recognizer.from_pretrained(threads=1)
    torch_ = Recognizer(TorchEngine.of(namer), look, namer.vocabulary, onnx.decoding)
    split = find_split(shared_data, "test2014")
    formulas = load_crohme(split.ink, split.labels).formulas[::4][:200]
    assert len(formulas) == 200
    strokes = [formula.strokes for formula in formulas]
    one, other = (recognizer(strokes, batch_size=8) for recognizer in (onnx, torch_))
    assert [r.canonical for r in one] == [r.canonical for r in other]


def test_the_packaged_model_comes_from_the_committed_checkpoint() -> None:
    from namer_edge_runtime.model_file import ModelFile

    _, _, record = load_weights(CHECKPOINT)
    model = ModelFile.open()
    assert model.meta["training"]["checkpoint_sha256"] == record["sha256"]
    if model.precision != "fp32":
        pytest.fail("this test compares the fp32 model; int8 is compared by its own gate")
