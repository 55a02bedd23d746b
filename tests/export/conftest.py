"""A small untrained checkpoint, and the committed one exported in fp32."""

from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from namer_edge.model.namer import Namer
from namer_edge.training.checkpoint import save_weights
from namer_edge.training.config import load_config
from namer_edge_export.export import export
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..training.conftest import SMALL


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights: quick to export, and what they compute is as good as any to compare."""
    torch.manual_seed(0)
    config = load_config("edge", SMALL)
    namer = Namer(config.architecture, Vocabulary.load("crohme"))
    path = tmp_path_factory.mktemp("checkpoint") / "small.safetensors"
    save_weights(path, namer, config.look, {"config": asdict(config)})
    return path


CHECKPOINT = Path(__file__).parents[2] / "export" / "checkpoints" / "crohme-edge.safetensors"


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint that the packaged model comes from, as an fp32 ONNX model file."""
    return export(CHECKPOINT, tmp_path_factory.mktemp("trained") / "fp32").path
