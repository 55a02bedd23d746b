"""A PGD without some of its heads (table 6): the others work as before."""

from pathlib import Path

import pytest
import torch

from namer_edge.checkpoints.open import open_checkpoint
from namer_edge.checkpoints.weights import save_weights
from namer_edge.model.graph_decoder import PARTS, GraphDecoder
from namer_edge.model.namer import Architecture, Namer
from namer_edge_export.export import export
from namer_edge_runtime.errors import ExportError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.preprocessing import Preprocessing

VOCABULARY = Vocabulary("tiny", ("1", "x"), {"^": ("{",)})
NODES = (
    torch.zeros(1, 4, 2, dtype=torch.int64),
    torch.tensor([[4, 5, 0, 2]]),
    torch.zeros(1, 4, dtype=torch.int64),
    torch.rand(1, 4),
    torch.ones(1, 4),
)


def decoder(*parts: str) -> GraphDecoder:
    torch.manual_seed(0)
    return GraphDecoder(8, 12, VOCABULARY.size, width=16, heads=2, parts=parts).eval()


@torch.inference_mode()
def test_without_self_correction_every_node_stays_what_vat_saw() -> None:
    features, memory = torch.randn(1, 8, 4, 4), torch.randn(1, 12, 2, 2)
    logits = decoder("left", "right")(features, memory, *NODES).self_correction
    assert logits.shape == (1, 4, VOCABULARY.size + 2)
    assert logits.softmax(-1)[0, 2:].argmax(-1).tolist() == [0, 2]
    assert logits.softmax(-1)[0, 2:].amax(-1).min() > 0.999


@torch.inference_mode()
def test_a_head_says_the_same_whatever_others_there_are() -> None:
    features, memory = torch.randn(1, 8, 4, 4), torch.randn(1, 12, 2, 2)
    whole, left = decoder(*PARTS), decoder("left")
    left.load_state_dict(whole.state_dict(), strict=False)
    torch.testing.assert_close(
        whole(features, memory, *NODES)[1], left(features, memory, *NODES)[1]
    )
    sizes = [sum(p.numel() for p in d.parameters()) for d in (left, decoder(*PARTS[1:]), whole)]
    assert sizes[2] - sizes[1] == pytest.approx(sizes[1] - sizes[0])
    assert sizes[2] > sizes[1] > sizes[0]


def test_a_checkpoint_without_a_head_gives_it_no_weight_and_is_not_exported(tmp_path: Path) -> None:
    small = {"widths": (8, 8, 16, 16), "vat_width": 16, "pgd_width": 16, "pgd_heads": 2}
    parts = ("self", "right")
    namer = Namer(Architecture(pgd_parts=parts, **small), VOCABULARY)  # type: ignore[arg-type]
    path = tmp_path / "ablation.safetensors"
    save_weights(
        path, namer, Preprocessing(), {"config": {"pgd_parts": list(parts), "left_weight": 1.0}}
    )
    opened = open_checkpoint(path)
    assert opened.namer.architecture.pgd_parts == parts
    assert opened.recognizer.decoding.left_weight == 0
    assert opened.recognizer.decoding.right_weight == 1
    with pytest.raises(ExportError, match="ablation"):
        export(path, tmp_path / "model")
