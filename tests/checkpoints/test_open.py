"""A checkpoint is read with as it is, without an export."""

import json
from pathlib import Path

import pytest
import torch

from namer_edge.autoregressive.recognizer import AutoregressiveRecognizer
from namer_edge.autoregressive.registry import build_autoregressive
from namer_edge.checkpoints.load_pretrained import load_pretrained
from namer_edge.checkpoints.open import open_checkpoint, open_reader
from namer_edge.checkpoints.weights import save_weights
from namer_edge.evaluation.samples import pack_samples
from namer_edge.model.namer import Namer
from namer_edge.training.config import load_config
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import CheckpointError
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer

from ..autoregressive.small import small
from ..export.conftest import CHECKPOINT
from ..handwriting import VOCABULARY, written
from ..training.conftest import SMALL, pack  # noqa: F401 (a fixture)


def test_a_namer_reads_from_its_weights_as_it_was_trained_to() -> None:
    opened = open_checkpoint(CHECKPOINT)
    config = opened.record["config"]
    decoding = opened.recognizer.decoding
    assert decoding.threshold == config["threshold"] < 1
    assert opened.recognizer.preprocessing.symbol_height == config["symbol_height"]
    assert decoding.tta_scales == ()


def test_evaluate_takes_the_weights_of_either_kind(pack: Path, tmp_path: Path) -> None:  # noqa: F811
    weights, report = tmp_path / "dwap.safetensors", tmp_path / "report.json"
    save_weights(
        weights, small("dwap", vocabulary=VOCABULARY), Preprocessing(symbol_height=12.0), {}
    )
    assert isinstance(open_reader(weights), AutoregressiveRecognizer)
    assert isinstance(open_reader(CHECKPOINT), Recognizer)
    arguments = [str(pack), "--threads", "1", "--json", str(report), "--model"]
    assert main(["evaluate", *arguments, str(CHECKPOINT)]) == 0
    value = json.loads(report.read_text())
    assert (value["total"], value["engine"]) == (len(pack_samples(pack)), "torch")
    assert value["exprate"] > 50  # the examples' hand is a plain one
    with pytest.raises(CheckpointError, match="holds a dwap"):
        open_checkpoint(weights)


def test_as_picture_hides_strokes_from_weights_that_see_them(pack: Path, tmp_path: Path) -> None:  # noqa: F811
    config = load_config("edge", ["stroke_planes=true"])
    seeing = Namer(config.architecture, VOCABULARY)
    load_pretrained(seeing, CHECKPOINT)
    with torch.no_grad():
        first = seeing.get_parameter("encoder.stages.0.down.conv.weight")
        first[:, 1:] = torch.randn(first[:, 1:].shape, generator=torch.Generator().manual_seed(0))
    weights = tmp_path / "seeing.safetensors"
    record = json.loads(CHECKPOINT.with_suffix(".json").read_text())
    save_weights(weights, seeing, config.preprocessing, {"config": record["config"]})
    answers = []
    for model, *options in ((CHECKPOINT,), (weights, "--as-picture"), (weights,)):
        target = tmp_path / f"{len(answers)}.jsonl"
        command = ["evaluate", str(pack), "--threads", "1", "--jsonl", str(target), "--model"]
        assert main([*command, str(model), *options]) == 0
        lines = map(json.loads, target.read_text().splitlines())
        answers.append([line["canonical"] for line in lines])
    assert answers[0] == answers[1] != answers[2]


def test_as_picture_holds_for_autoregressive_recognizers_too(tmp_path: Path) -> None:
    preprocessing = Preprocessing(symbol_height=12.0, stroke_planes=True)
    weights = tmp_path / "dwap.safetensors"
    config = load_config("dwap", [*SMALL, "stroke_planes=true", "decoder_width=32"])
    model = build_autoregressive(config.decoder, VOCABULARY)
    assert model.architecture.channels == preprocessing.inputs
    save_weights(weights, model, preprocessing, {})
    shown = [
        open_reader(weights, as_picture=hidden)._prepared(written(0).strokes)  # type: ignore[union-attr]
        for hidden in (False, True)
    ]
    assert [prepared.strokes is None for prepared in shown] == [False, True]


HOSTILE = (None, True, -1, float("nan"), 10**9, "a", float("inf"), 1e9, [], {}, [1], [10**9] * 4)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    weights = tmp_path_factory.mktemp("weights") / "a.safetensors"
    weights.write_bytes(CHECKPOINT.read_bytes())
    return weights


@pytest.mark.parametrize("table", ["architecture", "look", "config"])
def test_a_hostile_value_in_the_json_of_weights_is_refused_by_its_name(
    copied: Path, table: str
) -> None:
    record = json.loads(CHECKPOINT.with_suffix(".json").read_text("utf-8"))
    decoding = ("epsilon", "left_weight", "right_weight", "threshold", "routes")
    keys = [key for key in record[table] if table != "config" or key in decoding]
    values = HOSTILE if table == "architecture" else HOSTILE[:6]
    changes = [(key, value) for key in keys for value in values]
    for key, value in [*changes, (None, None), (None, []), (None, "a")]:
        changed = value if key is None else {**record[table], key: value}
        copied.with_suffix(".json").write_text(json.dumps({**record, table: changed}))
        try:
            open_checkpoint(copied)
        except CheckpointError as error:
            said = str(error)
            assert (key or table) in said or "names or shapes" in said, said
        else:  # what has no weights may be another number
            assert key in ("dropout", "vat_dropout", *decoding, "margin", "max_width"), (key, value)
