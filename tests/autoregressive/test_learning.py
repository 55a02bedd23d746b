"""Each recognizer learns sixteen formulas by heart, and is trained by the command like NAMER."""

import json
from pathlib import Path

import pytest
import torch

from namer_edge.autoregressive.model import DecoderArchitecture
from namer_edge.autoregressive.recognizer import AutoregressiveRecognizer
from namer_edge.autoregressive.registry import build_autoregressive
from namer_edge.checkpoints.weights import load_model, load_weights
from namer_edge.data.augment import Augmentation
from namer_edge.data.batches import TrainingSet, loader
from namer_edge.training.config import load_config
from namer_edge.training.loop import train
from namer_edge.training.sequence_loss import SequenceObjective
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import CheckpointError, ConfigError, NamerEdgeError
from namer_edge_runtime.inputs import LoadedInput
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import VOCABULARY, WRITTEN, written
from ..training.conftest import PLAIN, pack  # noqa: F401 (a fixture)
from .small import NAMES

LOOK = Preprocessing(symbol_height=12.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_sixteen_formulas_are_learned_by_heart(name: str) -> None:
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    architecture = DecoderArchitecture(
        name,
        widths=(8, 16, 24, 48),
        blocks=(0, 0, 0, 1),
        decoder_width=64,
        attention_width=32,
        decoder_layers=2,
        decoder_heads=4,
        decoder_feedforward=2,
        dropout=0.0,
    )
    model = build_autoregressive(architecture, VOCABULARY)
    objective = SequenceObjective(model)
    formulas = [written(number) for number in range(len(WRITTEN))]
    ink = TrainingSet(formulas, VOCABULARY, LOOK, Augmentation())
    (batch,) = loader(ink, ink.plan(0, 16, 0))
    optimizer = torch.optim.AdamW(model.parameters(), 4e-3)
    try:
        for _ in range(70):
            optimizer.zero_grad()
            objective(batch, ())["loss"].backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
        for beam in (1, 3):
            answers = AutoregressiveRecognizer(model, LOOK, beam).each(
                [LoadedInput(f.strokes, None) for f in formulas]
            )
            read = [None if isinstance(a, NamerEdgeError) else a.canonical for a in answers]
            assert read == [" ".join(formula.tokens) for formula in formulas]
    finally:
        torch.set_num_threads(threads)


def settings(pack: Path, output: Path) -> list[str]:  # noqa: F811
    return [
        *PLAIN,
        "widths=[8, 8, 16, 16]",
        "blocks=[0, 0, 0, 1]",
        "decoder_width=32",
        "attention_width=32",
        "decoder_heads=4",
        "threads=1",
        "symbol_height=12",
        f'train=["{pack}"]',
        f"validation={pack}",
        f"output={output}",
        "epochs=2",
        "batch_size=8",
        "evaluate_every=2",
        "log_every=1",
    ]


@pytest.mark.slow
def test_a_recognizer_is_trained_judged_kept_and_resumed(
    pack: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    threads = torch.get_num_threads()
    wanted = [*settings(pack, tmp_path / "run"), "model=can"]
    try:
        train(load_config("dwap", wanted))
        train(load_config("dwap", [*wanted, "epochs=3", "evaluate_every=3"]), resume=True)
    finally:
        torch.set_num_threads(threads)
    log = (tmp_path / "run" / "log.csv").read_text().splitlines()
    assert len(log) == 1 + 3 * 2
    assert ",loss,tokens,counting," in log[0]
    assert len((tmp_path / "run" / "validation.csv").read_text().splitlines()) == 3
    model, preprocessing, record = load_model(tmp_path / "run" / "best.safetensors")
    assert model.architecture.model == "can"
    assert preprocessing.symbol_height == 12
    assert record["validation"]["exprate"] >= 0
    with pytest.raises(CheckpointError, match="holds a can"):
        load_weights(tmp_path / "run" / "best.safetensors")
    trained, report = tmp_path / "run" / "best.safetensors", tmp_path / "report.json"
    arguments = ["--model", str(trained), "--beam", "2", "--json", str(report)]
    assert main(["evaluate", str(pack), *arguments]) == 0
    assert json.loads(report.read_text())["total"] == 16


def test_a_dry_run_says_what_a_recognizer_costs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "dwap", "encoder=densenet", "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert "40 tokens" in text
    assert "total       4.72 M parameters" in text


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (["model=dawp"], "dwap-msa"),
        (["qat=true", "init=some.safetensors"], "NAMER alone"),
        (["decoder_heads=3"], "divide"),
        (["attention_width=20"], "divide"),
    ],
)
def test_what_makes_no_sense_is_named(wanted: list[str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_config("dwap", wanted)
