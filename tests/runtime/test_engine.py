"""Choosing an engine, a device, threads."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from namer_edge_runtime.engine.base import engine_names, open_engine
from namer_edge_runtime.engine.onnxruntime import OnnxRuntimeEngine
from namer_edge_runtime.errors import EngineError, UsageError
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

from .tiny_model import formula


def test_cuda_asked_for_and_absent_is_an_error(tiny_model: ModelFile) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("CUDA is there")
    with pytest.raises(EngineError, match="onnxruntime-gpu"):
        OnnxRuntimeEngine(tiny_model, device="cuda")
    providers = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    with pytest.raises(EngineError, match="CUDAExecutionProvider"):
        Recognizer.from_pretrained(tiny_model.path, providers=providers)


def test_a_fall_back_that_was_asked_for_says_what_ran(tiny_model: ModelFile) -> None:
    providers = [("NoSuchExecutionProvider", {"device_id": 0})]
    recognizer = Recognizer.from_pretrained(tiny_model.path, providers=providers, fallback=True)
    assert recognizer.strokes(formula("1")).device == "CPU"


def test_providers_pass_through_with_options(tiny_model: ModelFile) -> None:
    engine = OnnxRuntimeEngine(tiny_model, providers=[("CPUExecutionProvider", {})])
    assert engine.device == "CPU"


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
