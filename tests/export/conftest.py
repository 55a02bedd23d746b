"""A small untrained checkpoint and the packaged one's sources."""

from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from namer_edge.model.namer import Namer
from namer_edge.training.checkpoint import save_weights
from namer_edge.training.config import load_config
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..training.conftest import SMALL


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights that see something nearly everywhere, so that there are many nodes."""
    torch.manual_seed(0)
    config = load_config("edge", SMALL)
    namer = Namer(config.architecture, Vocabulary.load("crohme"))
    with torch.no_grad():
        namer.vat.classify.weight.mul_(50)
        namer.pgd.correct.bias[-1] = -20.0  # and nothing is deleted
        namer.vat.classify.bias.zero_()  # type: ignore[union-attr]
    path = tmp_path_factory.mktemp("checkpoint") / "small.safetensors"
    save_weights(path, namer, config.look, {"config": asdict(config)})
    return path
