"""A checkpoint is read with as it is, without an export."""

import json
from pathlib import Path

import pytest

from namer_edge.autoregressive.recognizer import AutoregressiveRecognizer
from namer_edge.checkpoints.open import open_checkpoint, open_reader
from namer_edge.checkpoints.weights import save_weights
from namer_edge.evaluation.samples import pack_samples
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import CheckpointError
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer

from ..autoregressive.small import small
from ..export.conftest import CHECKPOINT
from ..handwriting import VOCABULARY
from ..training.conftest import pack  # noqa: F401 (a fixture)


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
