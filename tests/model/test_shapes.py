"""Each part of the model alone: shapes, widths, cost."""

import pytest
import torch

from namer_edge.model.cost import measure
from namer_edge.model.densenet import DenseNetEncoder
from namer_edge.model.edge import EdgeEncoder
from namer_edge.model.graph_decoder import GraphDecoder, position_encoding
from namer_edge.model.namer import Architecture
from namer_edge.model.visual_tokenizer import VisualTokenizer
from namer_edge_runtime.formula.vocabulary import Vocabulary


@pytest.mark.parametrize("kind", [EdgeEncoder, DenseNetEncoder])
@pytest.mark.parametrize(("height", "width"), [(32, 32), (48, 112)])
def test_encoders_halve_the_picture_three_and_four_times(
    kind: type[EdgeEncoder] | type[DenseNetEncoder], height: int, width: int
) -> None:
    encoder = kind().eval()
    f8, f16 = encoder(torch.rand(2, 1, height, width))
    assert f8.shape == (2, encoder.width8, height // 8, width // 8)
    assert f16.shape == (2, encoder.width16, height // 16, width // 16)


def test_densenet_is_the_published_one() -> None:
    """48 channels to start with, 16 layers of growth 24 a block, halved between blocks."""
    encoder = DenseNetEncoder()
    assert (encoder.width8, encoder.width16) == (600, 684)


def test_vat_classifies_every_cell_and_begins_by_seeing_nothing() -> None:
    vat = VisualTokenizer(16, 32, width=24, classes=10).eval()
    features, logits = vat(torch.rand(2, 16, 6, 8), torch.rand(2, 32, 3, 4))
    assert features.shape == (2, 24, 6, 8)
    assert logits.shape == (2, 11, 6, 8)
    assert (logits.argmax(1) == 10).all()


@torch.inference_mode()
def test_pgd_does_not_mind_the_order_of_its_nodes() -> None:
    torch.manual_seed(0)
    pgd = GraphDecoder(8, 12, classes=5, width=16, heads=2).eval()
    features, memory = torch.randn(1, 8, 4, 4), torch.randn(1, 12, 2, 2)
    cells = torch.randint(0, 4, (1, 6, 2))
    classes, endings = torch.tensor([[6, 7, 1, 2, 3, 5]]), torch.tensor([[0, 0, 0, 0, 0, 1]])
    scores, mask = torch.rand(1, 6), torch.ones(1, 6)
    own, left, right = pgd(features, memory, cells, classes, endings, scores, mask)
    assert own.shape == (1, 6, 7)
    assert left.shape == right.shape == (1, 6, 6)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    again = pgd(
        features,
        memory,
        cells[:, order],
        classes[:, order],
        endings[:, order],
        scores[:, order],
        mask,
    )
    torch.testing.assert_close(own[:, order], again[0])
    torch.testing.assert_close(left[:, order][:, :, order], again[1])
    torch.testing.assert_close(right[:, order][:, :, order], again[2])


def test_sos_and_eos_have_no_place() -> None:
    pgd = GraphDecoder(8, 12, classes=5, width=16, heads=2).eval()
    classes, zeros = torch.tensor([[6, 7]]), torch.zeros(1, 2, dtype=torch.int64)
    queries = [
        pgd.queries(torch.randn(1, 8, 4, 4), cells, classes, zeros, zeros.float())
        for cells in (torch.zeros(1, 2, 2, dtype=torch.int64), torch.full((1, 2, 2), 3))
    ]
    torch.testing.assert_close(*queries)


def test_positions_of_f8_cells_lie_on_the_grid_of_f16() -> None:
    """Both grids are told in units of 16 pixels: four F8 cells surround an F16 cell's center."""
    fine = torch.tensor([(8 + 0.5) / 2, (9 + 0.5) / 2])
    coarse = torch.tensor([4 + 0.5])
    near = position_encoding(fine, fine, 32)
    center = position_encoding(coarse, coarse, 32)
    far = position_encoding(coarse + 3, coarse + 3, 32)
    assert ((near - center).norm(dim=-1) < (far - center).norm(dim=-1)).all()


def test_cost_is_told_for_each_part() -> None:
    cost = measure(Architecture(), Vocabulary.load("crohme"))
    assert set(cost.parameters) == set(cost.flops) == {"encoder", "vat", "pgd"}
    # By hand: the last 3 x 3 convolution of VAT over 12 x 32 cells, 2 x multiply-adds.
    classify = 2 * 9 * 192 * 108 * 12 * 32
    assert classify < cost.flops["vat"] < 4 * classify
    larger = measure(Architecture(), Vocabulary.load("crohme"), height=192)
    assert larger.flops["encoder"] == pytest.approx(2 * cost.flops["encoder"], rel=0.02)


def test_both_connectivities_ask_from_q0_over_qj_as_eq_7_says() -> None:
    torch.manual_seed(0)
    pgd = GraphDecoder(8, 12, classes=5, width=16, heads=2).eval()
    features, memory = torch.randn(1, 8, 4, 4), torch.randn(1, 12, 2, 2)
    cells = torch.randint(0, 4, (1, 5, 2))
    classes, zeros = torch.tensor([[6, 7, 1, 2, 3]]), torch.zeros(1, 5, dtype=torch.int64)
    scores, mask = torch.rand(1, 5), torch.ones(1, 5)
    q0 = pgd.queries(features, cells, classes, zeros, scores)[0]
    known = {name: torch.randn(1, 5, 16) for name in ("left_head", "right_head")}
    for name, value in known.items():
        setattr(pgd, name, _Says(value))
    _, left, right = pgd(features, memory, cells, classes, zeros, scores, mask)
    for i in range(5):
        for j in range(5):
            # left[j, i]: Q_0(j) . Q_J^left(i); right[i, j]: Q_0(i) . Q_J^right(j); each over 4, the
            # root of D.
            torch.testing.assert_close(left[0, j, i], q0[j] @ known["left_head"][0, i] / 4)
            torch.testing.assert_close(right[0, i, j], q0[i] @ known["right_head"][0, j] / 4)


class _Says(torch.nn.Module):
    """A head whose answer is known."""

    def __init__(self, value: torch.Tensor) -> None:
        super().__init__()
        self.value = value

    def forward(self, *_: object) -> torch.Tensor:
        return self.value
