"""The tiny model of `tiny_model.py`, written once and opened once."""

import pytest

from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

from .tiny_model import write_tiny_model


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def recognizer(tiny_model: ModelFile) -> Recognizer:
    return Recognizer.from_pretrained(tiny_model.path, threads=1)
