"""A small untrained checkpoint, and the committed one exported in fp32."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from namer_edge.checkpoints.weights import save_weights
from namer_edge.model.namer import Namer
from namer_edge.training.config import load_config
from namer_edge_export import export as export_module
from namer_edge_export.export import export
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.model_file import ModelFile

from ..training.conftest import SMALL


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights: quick to export, and what they compute is as good as any to compare."""
    torch.manual_seed(0)
    config = load_config("edge", SMALL)
    namer = Namer(config.architecture, Vocabulary.load("crohme"))
    path = tmp_path_factory.mktemp("checkpoint") / "small.safetensors"
    save_weights(path, namer, config.preprocessing, {"config": asdict(config)})
    return path


CHECKPOINT = Path(__file__).parents[2] / "export" / "checkpoints" / "crohme-edge.safetensors"


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint that the packaged model comes from, as an fp32 ONNX model file."""
    return export(CHECKPOINT, tmp_path_factory.mktemp("trained") / "fp32").path


@contextmanager
def traced(model: ModelFile) -> Iterator[None]:
    """Whatever is exported inside is made of the graphs of this fp32 ONNX model: tracing takes most
    of the time and has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for role in ("vat", "pgd"):
            patch.setattr(export_module, f"export_{role}", lambda *_, role=role: model.read(role))
        yield
