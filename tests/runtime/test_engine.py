"""Choosing an engine, a device, threads."""

import pickle
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from namer_edge_runtime import plugins
from namer_edge_runtime.engine import base
from namer_edge_runtime.engine.base import engine_names, open_engine
from namer_edge_runtime.engine.onnxruntime import OnnxRuntimeEngine
from namer_edge_runtime.errors import EngineError, UsageError
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

from .tiny_model import formula


def test_t2_cuda_asked_for_and_absent_is_an_error(tiny_model: ModelFile) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("CUDA is there")
    with pytest.raises(EngineError, match="onnxruntime-gpu"):
        OnnxRuntimeEngine(tiny_model, device="cuda")
    providers = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    with pytest.raises(EngineError, match="CUDAExecutionProvider"):
        Recognizer.from_pretrained(tiny_model.path, providers=providers)


def test_t2_a_fall_back_that_was_asked_for_says_what_ran(tiny_model: ModelFile) -> None:
    providers = [("NoSuchExecutionProvider", {"device_id": 0})]
    recognizer = Recognizer.from_pretrained(tiny_model.path, providers=providers, fallback=True)
    assert recognizer.strokes(formula("1")).device == "CPU"


def test_providers_pass_through_with_options(tiny_model: ModelFile) -> None:
    engine = OnnxRuntimeEngine(tiny_model, providers=[("CPUExecutionProvider", {})])
    assert engine.device == "CPU"


def test_of_several_providers_the_first_runs_and_none_is_dropped_in_silence(
    tiny_model: ModelFile,
) -> None:
    both = [("CPUExecutionProvider", {"use_arena": "0"}), "NoSuchExecutionProvider"]
    with pytest.raises(EngineError, match=r"no NoSuchExecutionProvider here, only .*CPU"):
        Recognizer.from_pretrained(tiny_model.path, providers=both)
    engine = OnnxRuntimeEngine(tiny_model, providers=both, fallback=True)
    assert engine.device == "CPU"
    options = engine._sessions()[0].get_provider_options()
    assert list(options) == ["CPUExecutionProvider"]


@pytest.mark.parametrize(
    ("wanted", "running"),
    [("cuda", ["CPU"]), ("tensorrt", ["CPU"]), ("tensorrt", ["Tensorrt", "CPU"])],
)
def test_t2_a_provider_that_is_listed_but_does_not_start_is_an_error_unless_allowed(
    tiny_model: ModelFile, monkeypatch: pytest.MonkeyPatch, wanted: str, running: list[str]
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")

    def named(kinds: list[str]) -> list[str]:
        return [f"{kind}ExecutionProvider" for kind in kinds]

    session = SimpleNamespace(get_providers=lambda: named(running), get_inputs=list)
    monkeypatch.setattr(onnxruntime, "InferenceSession", lambda *_, **__: session)
    monkeypatch.setattr(
        onnxruntime, "get_available_providers", lambda: named(["Tensorrt", "CUDA", "CPU"])
    )
    with pytest.raises(EngineError, match="CUDAExecutionProvider is installed but failed to start"):
        OnnxRuntimeEngine(tiny_model, device=wanted)
    allowed = OnnxRuntimeEngine(tiny_model, device=wanted, fallback=True)
    assert allowed.device == running[0]


def test_an_engine_of_somebody_else_is_one_class_under_a_name(
    tiny_model: ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = EntryPoint("elsewhere", "tests.runtime.test_engine:Elsewhere", base.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point])
    assert engine_names() == ["elsewhere", "onnxruntime", "openvino", "torch"]
    recognizer = Recognizer.from_pretrained(tiny_model.path, engine="elsewhere", threads=1)
    result = recognizer.strokes(formula("1 - 1"))
    assert (result.canonical, result.engine, result.device) == ("1 - 1", "elsewhere", "NEAR")


class Elsewhere:
    """What another package would declare as an entry point of `namer_edge.engines`."""

    name, device, precision = "elsewhere", "NEAR", "fp32"

    def __init__(self, model: ModelFile, *, device: str | None, threads: int | None) -> None:
        self.inner = OnnxRuntimeEngine(model, threads=threads)
        self.vat, self.pgd = self.inner.vat, self.inner.pgd


def test_the_best_classes_leave_the_graph_and_not_the_map_of_all() -> None:
    model = ModelFile.open(None)
    page = np.zeros((1, model.preprocessing.channels, 64, 96), np.uint8)
    seen = OnnxRuntimeEngine(model, threads=1).vat(page)
    assert seen.scores.shape == seen.classes.shape
    assert seen.scores.shape[1] <= 8 < model.vocabulary.size


def test_unknown_names_say_what_there_is(tiny_model: ModelFile) -> None:
    assert "onnxruntime" in engine_names()
    with pytest.raises(UsageError, match=r"no engine 'abacus'.*onnxruntime"):
        open_engine("abacus", tiny_model)
    with pytest.raises(EngineError, match=r"no device 'abacus'.*cpu"):
        open_engine("onnxruntime", tiny_model, device="abacus")


def test_a_model_of_another_format_is_an_error(tiny_model: ModelFile) -> None:
    with pytest.raises(EngineError, match="--format onnx"):
        OnnxRuntimeEngine(replace(tiny_model, engine_format="openvino"))


def test_a_graph_that_cannot_be_loaded_is_an_error(tiny_model: ModelFile, tmp_path: Path) -> None:
    meta = {key: value for key, value in tiny_model.meta.items() if key != "parts"}
    broken = ModelFile.write(tmp_path / "m", meta, {"vat": b"no graph", "pgd": b"no graph"})
    with pytest.raises(EngineError, match="vat"):
        OnnxRuntimeEngine(broken)
    partial = ModelFile.write(tmp_path / "n", meta, {"vat": tiny_model.read("vat")})
    with pytest.raises(Exception, match="no part 'pgd'"):
        OnnxRuntimeEngine(partial)


def test_wrong_shapes_are_an_engine_error(tiny_model: ModelFile) -> None:
    with pytest.raises(EngineError, match="ONNX Runtime failed"):
        OnnxRuntimeEngine(tiny_model).vat(np.zeros((32, 32), np.uint8))


def test_session_options_reach_onnx_runtime(
    tiny_model: ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    seen: list[Any] = []
    real = onnxruntime.InferenceSession

    def session(graph: bytes, options: Any, **more: Any) -> Any:
        seen.append(options)
        return real(graph, options, **more)

    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    given = {"session.intra_op.allow_spinning": "1", "enable_cpu_mem_arena": True}
    recognizer = Recognizer.from_pretrained(tiny_model.path, session_options=given)
    assert recognizer.strokes(formula("1 - 1")).canonical == "1 - 1"
    for options in seen:
        assert options.enable_cpu_mem_arena
        assert options.get_session_config_entry("session.intra_op.allow_spinning") == "1"
    assert pickle.loads(pickle.dumps(recognizer)).strokes(formula("1")).canonical == "1"
    with pytest.raises(UsageError, match="takes no session_options"):
        open_engine("torch", tiny_model, session_options=given)


@pytest.mark.parametrize("single", [{"one_look": True}, {"test_time_augmentation": False}])
def test_test_time_augmentation_goes_by_both_names(
    tiny_model: ModelFile, single: dict[str, bool]
) -> None:
    recognizer = Recognizer.from_pretrained(tiny_model.path, **single)  # type: ignore[arg-type]
    assert recognizer.decoding.tta_scales == ()
    assert Recognizer.from_pretrained(tiny_model.path).look == recognizer.preprocessing
