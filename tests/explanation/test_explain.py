"""Looking inside a reading: every stage is shown, and it is that of the reading itself."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from namer_edge.explanation import panels
from namer_edge.explanation.sheet import sheet
from namer_edge.explanation.stages import Insight, trace_recognition
from namer_edge.model.engine import TorchEngine
from namer_edge.model.namer import Namer
from namer_edge.training.config import load_config
from namer_edge_runtime.command import main
from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.errors import UsageError
from namer_edge_runtime.recognizer import Recognizer

from ..export.conftest import CHECKPOINT
from ..handwriting import VOCABULARY, written
from ..runtime.tiny_model import formula, write_tiny_model
from ..training.conftest import SMALL

EXAMPLE = Path(__file__).parents[2] / "examples" / "square.png"


@pytest.fixture
def tiny(tmp_path: Path) -> Recognizer:
    return Recognizer.from_pretrained(write_tiny_model(tmp_path / "tiny").path)


def red(pixels: NDArray[np.uint8]) -> int:
    return int((pixels == panels.CORRECTED).all(-1).sum())


def with_class(insight: Insight, node: int, number: int) -> Insight:
    """As if PGD had made another class of a node."""
    corrected = insight.corrected.copy()
    corrected[node] = number
    return replace(insight, corrected=corrected)


def test_an_insight_is_the_reading_with_all_its_stages(tiny: Recognizer) -> None:
    strokes = formula("1 ^ - 1")
    insight = trace_recognition(tiny, strokes)
    result = tiny.strokes(strokes)
    assert insight.canonical == result.canonical
    assert insight.path.score == pytest.approx(result.score)
    assert [insight.before(node) for node in insight.visual] == ["1", "^", "-", "1"]
    assert not any(insight.changed(node) for node in insight.visual)
    assert insight.attention is None
    nodes = [0, *insight.path.nodes.tolist(), 1]
    edges = set(zip(insight.graph.sources.tolist(), insight.graph.targets.tolist(), strict=True))
    assert set(pairwise(nodes)) <= edges


def test_what_pgd_changed_is_red_and_what_it_deleted_comes_last(tiny: Recognizer) -> None:
    insight = trace_recognition(tiny, formula("1 - 1"))
    assert not red(sheet(insight))
    first = insight.visual[0]
    other = with_class(insight, first, tiny.vocabulary.id("-"))
    assert other.telling == first
    assert panels.change_of(other, first) == "1>-"
    assert red(panels.corrections(other).pixels)
    assert red(sheet(other)) > red(panels.corrections(other).pixels)  # and in the row of tokens
    deleted = with_class(insight, first, tiny.vocabulary.delete)
    path = replace(deleted.path, nodes=deleted.path.nodes[1:], classes=deleted.path.classes[1:])
    deleted = replace(deleted, path=path)
    assert deleted.visual[-1] == first
    assert panels.change_of(deleted, first) == "1>deleted"
    assert red(panels.corrections(deleted).pixels)


def test_the_map_is_colored_where_vat_sees_something(tiny: Recognizer) -> None:
    insight = trace_recognition(tiny, formula("1"))
    plain = panels.vat_map(replace(insight, none=np.ones_like(insight.none)))
    colored = panels.vat_map(insight)
    changed = (plain.pixels != colored.pixels).any(-1)
    row, column = insight.nodes.cells[insight.visual[0]]
    x, y = colored.place(row, column)
    half = colored.cell // 2
    inside = changed[y - half : y + half, x - half : x + half]
    assert inside.any()


@torch.inference_mode()
def test_the_attention_shown_is_that_which_the_network_uses() -> None:
    """With one head, the values collected by the watched weights are what each layer gives."""
    torch.manual_seed(0)
    config = load_config("edge", [*SMALL, "pgd_heads=1"])
    namer = Namer(config.architecture, VOCABULARY)
    everywhere = DecodingOptions(threshold=0.0)
    recognizer = Recognizer(TorchEngine.of(namer), config.preprocessing, VOCABULARY, everywhere)
    cross = namer.pgd.self_head.get_submodule("layers.1.cross")
    given: list[torch.Tensor] = []
    handle = cross.register_forward_hook(lambda _, inputs, out: given.extend([inputs[1], out]))
    insight = trace_recognition(recognizer, list(written(0).strokes), namer)
    handle.remove()
    assert insight.attention is not None
    assert len(insight.visual) > 3
    assert insight.attention.shape[:2] == (2, len(insight.nodes))
    values, out = given
    weights = torch.from_numpy(insight.attention[1]).flatten(1)
    collected = weights @ cross.key_value(values[0])[:, config.pgd_width :]
    torch.testing.assert_close(cross.out(collected), out[0], atol=1e-5, rtol=1e-4)
    # Nobody watches any more: reading again changes nothing of what was seen.
    before = insight.attention.copy()
    trace_recognition(recognizer, list(written(1).strokes))
    np.testing.assert_array_equal(before, insight.attention)


def test_the_command_writes_one_picture_with_and_without_torch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heights = []
    for model in (["--threads", "1"], ["--model", str(CHECKPOINT)]):
        target = tmp_path / "out.png"
        assert main(["explain", str(EXAMPLE), "-o", str(target), *model]) == 0
        picture = cv2.imread(str(target))
        heights.append(picture.shape[0])
        assert capsys.readouterr().out.endswith(f"\n{target}\n")
    # The checkpoint shows cross-attention too, a picture for each of two layers.
    assert heights[1] > heights[0]


def test_a_blank_page_has_nothing_to_explain(tiny: Recognizer) -> None:
    with pytest.raises(UsageError, match="blank"):
        trace_recognition(tiny, np.full((60, 60), 255, np.uint8))
