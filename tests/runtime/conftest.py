"""The tiny model of `tiny_model.py`, written once and opened once."""

from collections.abc import Callable

import pytest

from namer_edge_runtime import command
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

from .tiny_model import write_openvino, write_tiny_model

Run = Callable[..., tuple[int, str, str]]
"""Arguments of `namer-edge recognize` → exit code, output, errors."""


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def recognizer(tiny_model: ModelFile) -> Recognizer:
    return Recognizer.from_pretrained(tiny_model.path, threads=1)


@pytest.fixture(scope="session", params=["onnxruntime", "openvino"])
def either(
    tiny_model: ModelFile, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Recognizer:
    """A recognizer on each engine of the runtime."""
    pytest.importorskip(request.param)
    if request.param == "onnxruntime":
        return Recognizer.from_pretrained(tiny_model.path, threads=1)
    model = write_openvino(tiny_model, tmp_path_factory.mktemp("models") / "tiny-openvino")
    return Recognizer.from_pretrained(model.path, threads=1)


@pytest.fixture
def recognize(tiny_model: ModelFile, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `namer-edge recognize` with the tiny model."""

    def run(*arguments: object) -> tuple[int, str, str]:
        words = [str(argument) for argument in arguments]
        code = command.main(["recognize", *words, "--model", str(tiny_model.path)])
        return (code, *capsys.readouterr())

    return run
