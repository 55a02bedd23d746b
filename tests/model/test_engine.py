"""The torch engine behind the runtime's interface, on CPU, and on CUDA where there is one."""

from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
import torch
from safetensors.torch import save

from namer_edge.checkpoints.weights import load_weights
from namer_edge.model.engine import TorchEngine
from namer_edge.model.namer import Architecture, Namer
from namer_edge_runtime.decode.pick import pick_nodes
from namer_edge_runtime.engine.base import PgdInputs, open_engine
from namer_edge_runtime.errors import EngineError, UsageError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result

from ..handwriting import WRITTEN, written

CHECKPOINT = Path(__file__).parents[2] / "export" / "checkpoints" / "crohme-edge.safetensors"
SMALL = {"widths": (8, 8, 16, 16), "vat_width": 16, "pgd_width": 16, "pgd_heads": 2}
INK = [written(number, seed).strokes for number in range(len(WRITTEN)) for seed in range(2)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    """A model file of format `torch`, its weights by chance."""
    torch.manual_seed(0)
    vocabulary = Vocabulary.load("crohme")
    namer = Namer(Architecture(encoder="edge", **SMALL), vocabulary)  # type: ignore[arg-type]
    meta = {
        "name": "small",
        "engine_format": "torch",
        "precision": "fp32",
        "look": Preprocessing().to_json(),
        "vocabulary": vocabulary.to_json(),
        "decoding": {},
        "licence": "Apache-2.0",
        "architecture": asdict(namer.architecture),
    }
    path = tmp_path_factory.mktemp("torch") / "small"
    return ModelFile.write(path, meta, {"weights": save(namer.state_dict())})


def test_a_model_file_of_format_torch_opens_by_its_entry_point(model: ModelFile) -> None:
    recognizer = Recognizer.from_pretrained(model.path, threads=1)
    result = recognizer.strokes(INK[0])
    assert (result.engine, result.device, result.precision) == ("torch", "CPU", "fp32")


def test_a_device_that_is_not_there_is_an_error_unless_allowed(model: ModelFile) -> None:
    absent = f"cuda:{torch.cuda.device_count()}"
    with pytest.raises(EngineError, match="fallback=True"):
        open_engine("torch", model, device=absent)
    assert open_engine("torch", model, device=absent, fallback=True).device == "CPU"
    with pytest.raises(EngineError, match="abacus"):
        open_engine("torch", model, device="abacus")
    with pytest.raises(UsageError, match="providers"):
        open_engine("torch", model, providers=["CPUExecutionProvider"])


def trained(device: str) -> Recognizer:
    namer, preprocessing, _ = load_weights(CHECKPOINT)
    return Recognizer(TorchEngine.of(namer, device), preprocessing, namer.vocabulary)


def read(recognizer: Recognizer, batch_size: int = 1) -> list[Result]:
    return recognizer(INK, batch_size=batch_size)  # type: ignore[no-any-return]


def test_a_batch_reads_as_one_by_one() -> None:
    recognizer = trained("cpu")
    singles, batch = read(recognizer), read(recognizer, batch_size=8)
    assert [r.canonical for r in batch] == [r.canonical for r in singles]
    assert [r.score for r in batch] == pytest.approx([r.score for r in singles], abs=1e-4)
    assert sum(len(r.tokens) > 2 for r in singles) > len(INK) / 2


cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.gpu
@cuda
@pytest.mark.parametrize("batch_size", [1, 8])
def test_cuda_reads_as_the_cpu_does(batch_size: int) -> None:
    one, other = read(trained("cpu")), read(trained("cuda"), batch_size)
    assert [r.canonical for r in other] == [r.canonical for r in one]
    assert [r.score for r in other] == pytest.approx([r.score for r in one], abs=1e-3)
    assert {r.device for r in other} == {"CUDA"}


@pytest.mark.gpu
@cuda
def test_onnx_runtime_on_cuda_reads_as_on_the_cpu() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        pytest.skip("this ONNX Runtime has no CUDA: onnxruntime-gpu has")
    one, other = Recognizer.from_pretrained(), Recognizer.from_pretrained(device="cuda")
    for batch_size in (1, 8, 1):
        assert [r.canonical for r in read(other, batch_size)] == [r.canonical for r in read(one)]
    assert read(other)[0].device == "CUDA"


def pictures_a_second(recognizer: Recognizer, batch_size: int, rounds: int) -> float:
    """Of one size through both graphs; what comes back from the device is waited for."""
    image = render(INK[0], recognizer.preprocessing).image[None, None]
    images = np.repeat(image, batch_size, axis=0)
    engine = recognizer.engine
    vat = engine.vat(images)
    maps = (vat.scores, vat.classes, vat.none)
    found = pick_nodes(*maps, recognizer.vocabulary, recognizer.decoding)
    nodes = PgdInputs.of(vat, found)
    start = 0.0
    for number in range(2 * rounds):
        if number == rounds:  # the first half warms up
            start = perf_counter()
        seen = engine.vat(images)
        engine.pgd(replace(nodes, features=seen.features, memory=seen.memory))
    return rounds * batch_size / (perf_counter() - start)


def test_pictures_a_second_are_counted_on_any_device() -> None:
    assert pictures_a_second(trained("cpu"), 2, 1) > 0


@pytest.mark.gpu
@cuda
def test_batches_are_what_a_gpu_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Both graphs, 256 pictures of one size at a time, against one by one in the same run."""
    recognizer = trained("cuda")
    one, many = (pictures_a_second(recognizer, size, 20) for size in (1, 256))
    name = torch.cuda.get_device_name()
    with capsys.disabled():
        print(f"\n{name}: pictures a second one by one {one:.0f}, 256 at a time {many:.0f}")
    assert many > 4 * one
    if any(card in name for card in ("H100", "H200")):
        assert many >= 2000
