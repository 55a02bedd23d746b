"""A GPU's session, played by one of the CPU: what stays there, shapes, and what is said."""

import logging
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from namer_edge_runtime.engine.base import PgdInputs, VatOutput
from namer_edge_runtime.engine.onnxruntime import OnnxRuntimeEngine
from namer_edge_runtime.errors import EngineError, UsageError
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

from .tiny_model import formula

onnxruntime = pytest.importorskip("onnxruntime")
OPEN = onnxruntime.InferenceSession


class Device:
    """Sessions on a device, and the bindings that they were given."""

    def __init__(self, name: str = "CUDA") -> None:
        self.providers = [f"{name}ExecutionProvider", "CPUExecutionProvider"]
        self.bound: list[dict[str, str]] = []
        self.options: list[Any] = []
        self.counts: list[int] = []
        self.left_to_cpu = 1

    def open(self, graph: bytes, options: Any, providers: list[Any]) -> Any:
        inner = OPEN(graph, options, providers=["CPUExecutionProvider"])
        if providers == ["CPUExecutionProvider"]:
            return inner
        self.options.append(providers)
        return SimpleNamespace(
            get_providers=lambda: self.providers,
            io_binding=lambda: self.binding(inner),
            run_with_iobinding=lambda binding: inner.run_with_iobinding(binding.inner),
            get_provider_graph_assignment_info=lambda: [
                SimpleNamespace(ep_name=name, get_nodes=lambda count=count: [0] * count)
                for name, count in zip(self.providers, (9, self.left_to_cpu), strict=False)
            ],
        )

    def binding(self, inner: Any) -> Any:
        real, seen = inner.io_binding(), {}
        self.bound.append(seen)

        def array(name: str, value: np.ndarray) -> None:
            seen[name] = "host"
            if name == "classes":
                self.counts.append(value.shape[1])
            real.bind_cpu_input(name, value)

        def stayed(name: str, value: Any) -> None:
            seen[name] = "device"
            real.bind_ortvalue_input(name, value)

        def output(name: str, device: str) -> None:
            seen[name] = "device" if device == "cuda" else "host"
            real.bind_output(name, "cpu")

        return SimpleNamespace(
            inner=real,
            bind_cpu_input=array,
            bind_ortvalue_input=stayed,
            bind_output=output,
            get_outputs=real.get_outputs,
        )


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    there = Device()
    monkeypatch.setattr(onnxruntime, "InferenceSession", there.open)
    names = ["TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: names)
    return there


def nodes(seen: VatOutput, count: int) -> PgdInputs:
    rng = np.random.default_rng(count)
    shape = (len(seen.none), count)
    cells = rng.integers(0, 8, (*shape, 2))
    mask = np.ones(shape, np.float32)
    mask[1, count - 3 :] = 0
    classes, ends = rng.integers(0, 90, shape), np.zeros(shape, np.int64)
    scores = rng.random(shape, np.float32)
    return PgdInputs(seen.features, seen.memory, cells, classes, ends, scores, mask)


def test_maps_stay_on_the_device_and_batches_read_as_on_the_cpu(device: Device) -> None:
    model = ModelFile.open(None)
    pages = (np.random.default_rng(0).random((2, 1, 64, 96)) < 0.1).astype(np.uint8) * 255
    there = OnnxRuntimeEngine(model, device="cuda", threads=1)
    here = OnnxRuntimeEngine(model, threads=1)
    seen, expected = there.vat(pages), here.vat(pages)
    assert not isinstance(seen.features, np.ndarray)
    assert np.array_equal(seen.scores, expected.scores)
    assert np.array_equal(seen.classes, expected.classes)
    for count in (17, 30):
        read, plain = there.pgd(nodes(seen, count)), here.pgd(nodes(expected, count))
        assert read.left.shape == read.right.shape == (2, count, count)
        for name in ("correction", "left", "right"):
            one, other = getattr(read, name), getattr(plain, name)
            assert np.allclose(one[0], other[0], atol=2e-3), name
    assert device.counts == [32, 32]  # one shape for both
    vat, pgd = device.bound[0], device.bound[1]
    assert {name for name, where in vat.items() if where == "device"} == {"features", "memory"}
    assert {name for name, where in pgd.items() if where == "device"} == {"features", "memory"}


def test_formulas_are_read_in_batches_on_the_device(tiny_model: ModelFile, device: Device) -> None:
    recognizer = Recognizer.from_pretrained(tiny_model.path, device="cuda")
    result = recognizer.strokes(formula("1 - 1"))
    assert (result.canonical, result.device) == ("1 - 1", "CUDA")
    assert len(device.bound) >= 2


def test_the_provider_of_each_part_is_named(
    tiny_model: ModelFile, device: Device, caplog: pytest.LogCaptureFixture
) -> None:
    engine = OnnxRuntimeEngine(tiny_model, device="cuda")
    assert engine.computing() == {part: {"CUDA": 9, "CPU": 1} for part in ("vat", "pgd")}
    assert not caplog.records
    device.left_to_cpu = 20
    OnnxRuntimeEngine(tiny_model, device="cuda")
    assert "CUDA leaves 20 of the 29 nodes of part 'vat' to the CPU" in caplog.text


def test_int8_on_cuda_is_told_to_be_slow(device: Device, caplog: pytest.LogCaptureFixture) -> None:
    model = ModelFile.open(None)
    with caplog.at_level(logging.WARNING):
        OnnxRuntimeEngine(model, device="cuda")
    assert "--precision fp16" in caplog.text
    caplog.clear()
    OnnxRuntimeEngine(replace(model, precision="fp16"), device="cuda")
    assert not caplog.records


def test_tensorrt_gets_profiles_and_a_cache_or_refuses(device: Device, tmp_path: Path) -> None:
    device.providers = [f"{n}ExecutionProvider" for n in ("Tensorrt", "CUDA", "CPU")]
    model = ModelFile.open(None)
    with pytest.raises(EngineError, match=r"signed int8 alone.*--profile arm64"):
        OnnxRuntimeEngine(model, device="tensorrt")
    signed = replace(model, meta={**model.meta, "quantization": {"activations": "S8"}})
    engine = OnnxRuntimeEngine(signed, device="tensorrt", cache_dir=tmp_path)
    assert engine.device == "Tensorrt"
    vat, pgd = (providers[0][1] for providers in device.options)
    assert vat["trt_engine_cache_path"] == pgd["trt_engine_cache_path"] == str(tmp_path)
    assert vat["trt_profile_min_shapes"] == "image:1x1x16x16"
    assert vat["trt_profile_opt_shapes"] == "image:8x1x96x320"
    assert vat["trt_profile_max_shapes"] == "image:32x1x512x2048"
    assert (
        "features:32x192x64x256,memory:32x192x32x128,cells:32x512x2,"
        in (pgd["trt_profile_max_shapes"])
    )
    assert vat["trt_int8_enable"] == "1"
    with pytest.raises(UsageError, match="takes no cache_dir"):
        OnnxRuntimeEngine(signed, cache_dir=tmp_path)
