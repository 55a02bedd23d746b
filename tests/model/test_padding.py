"""Padding never changes an answer: a picture alone, batched and padded gives the same numbers."""

import pytest
import torch

from namer_edge.model.namer import Architecture, Namer, VatGraph
from namer_edge_runtime.formula.vocabulary import Vocabulary

VOCABULARY = Vocabulary("tiny", ("1", "x"), {"^": ("{",), "\\frac": ("{", "{")})
SMALL = {"widths": (8, 8, 16, 16), "vat_width": 16, "pgd_width": 16, "pgd_heads": 2}


@pytest.fixture(params=["edge", "densenet"])
def namer(request: pytest.FixtureRequest) -> Namer:
    torch.manual_seed(0)
    namer = Namer(Architecture(encoder=request.param, **SMALL), VOCABULARY)  # type: ignore[arg-type]
    # Batch statistics as after training: a zero mean would hide what padding does.
    for module in namer.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.normal_(module.running_mean, std=0.5)  # type: ignore[arg-type]
            torch.nn.init.uniform_(module.running_var, 0.5, 2.0)  # type: ignore[arg-type]
            torch.nn.init.normal_(module.bias, std=0.5)
    return namer.eval()


@torch.inference_mode()
def test_a_picture_reads_the_same_alone_batched_and_padded(namer: Namer) -> None:
    sizes = [(32, 48), (64, 32), (48, 96)]
    pictures = [torch.randint(0, 256, (1, 1, *size), dtype=torch.uint8) for size in sizes]
    graph = VatGraph(namer)
    padded = torch.zeros(3, 1, 80, 128, dtype=torch.uint8)
    mask = torch.zeros(3, 1, 5, 8)
    for i, (picture, (height, width)) in enumerate(zip(pictures, sizes, strict=True)):
        padded[i, :, :height, :width] = picture[0]
        mask[i, :, : height // 16, : width // 16] = 1
    together = graph(padded, mask)
    for i, (picture, (height, width)) in enumerate(zip(pictures, sizes, strict=True)):
        alone = graph(picture)
        for name, one, many in zip(
            ("scores", "classes", "none", "features"), alone, together, strict=False
        ):
            cut = many[i, ..., : height // 8, : width // 8]
            torch.testing.assert_close(one[0], cut, msg=lambda m, n=name: f"{n}: {m}")
        torch.testing.assert_close(alone[4][0], together[4][i, :, : height // 16, : width // 16])


@torch.inference_mode()
def test_padding_nodes_and_padding_cells_get_no_weight(namer: Namer) -> None:
    torch.manual_seed(1)
    features, memory = torch.randn(1, 16, 4, 6), torch.randn(1, namer.encoder.width16, 2, 3)
    count = 6
    cells = torch.stack([torch.randint(0, 4, (1, count)), torch.randint(0, 6, (1, count))], -1)
    classes = torch.randint(0, VOCABULARY.size, (1, count))
    zeros, scores, mask = torch.zeros_like(classes), torch.rand(1, count), torch.ones(1, count)
    alone = namer.pgd(features, memory, cells, classes, zeros, scores, mask)

    def longer(x: torch.Tensor, value: float) -> torch.Tensor:
        filler = torch.full((1, 3, *x.shape[2:]), value).to(x.dtype)
        return torch.cat([x, filler], 1)

    wide = torch.nn.functional.pad(features, (0, 4, 0, 2), value=3.0)
    wide_memory = torch.nn.functional.pad(memory, (0, 2, 0, 1), value=3.0)
    memory_mask = torch.nn.functional.pad(torch.ones(1, 1, 2, 3), (0, 2, 0, 1))
    padded = namer.pgd(
        wide,
        wide_memory,
        longer(cells, 0),
        longer(classes, 1),
        longer(zeros, 0),
        longer(scores, 0.5),
        longer(mask, 0.0),
        memory_mask,
    )
    torch.testing.assert_close(alone[0], padded[0][:, :count])
    for one, many in zip(alone[1:], padded[1:], strict=True):
        torch.testing.assert_close(one, many[:, :count, :count])
        assert torch.softmax(many, -1)[:, :count, count:].max() < 1e-6
