"""PGD in another arrangement is the same PGD."""

import numpy as np
import pytest
import torch

from namer_edge.model.engine import TorchEngine
from namer_edge.model.namer import Namer
from namer_edge.training.config import load_config
from namer_edge_export.fused_decoder import FusedDecoder
from namer_edge_runtime.engine.base import PgdInputs
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..training.conftest import SMALL


@pytest.mark.parametrize("layers", [1, 2])
def test_it_computes_the_same_also_where_nodes_are_padding(layers: int) -> None:
    torch.manual_seed(layers)
    config = load_config("edge", [*SMALL, f"pgd_layers={layers}"])
    namer = Namer(config.architecture, Vocabulary.load("crohme")).eval()
    for parameter in namer.pgd.parameters():  # biases begin at nought, which hides mistakes
        torch.nn.init.normal_(parameter, std=0.2)
    batch, nodes, rows, columns = 2, 7, 3, 5
    generator = np.random.default_rng(layers)
    mask = np.ones((batch, nodes), np.float32)
    mask[1, 4:] = 0
    inputs = PgdInputs(
        torch.randn(batch, config.architecture.vat_width, 2 * rows, 2 * columns),
        torch.randn(batch, namer.encoder.width16, rows, columns),
        cells=generator.integers(0, 2 * rows, (batch, nodes, 2)),
        classes=generator.integers(0, namer.vocabulary.size + 3, (batch, nodes)),
        endings=generator.integers(0, 3, (batch, nodes)),
        scores=generator.random((batch, nodes), np.float32),
        mask=mask,
    )
    expected = TorchEngine.of(namer).pgd(inputs)
    with torch.inference_mode():
        found = FusedDecoder(namer.pgd)(
            *(torch.as_tensor(value) for value in vars(inputs).values())
        )
    for one, other in zip(vars(expected).values(), found, strict=True):
        assert one.std() > 0.3 * one.mean(), "the comparison is worth little if all is alike"
        np.testing.assert_allclose(other.numpy(), one, atol=2e-6)
