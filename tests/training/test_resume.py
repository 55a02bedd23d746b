"""A run that is killed goes on as if nothing had happened."""

import csv
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from namer_edge.checkpoints.weights import load_state, load_weights, save_weights
from namer_edge.training.config import load_config
from namer_edge.training.loop import train
from namer_edge.training.schedule import Progress
from namer_edge_runtime.errors import CheckpointError, ConfigError

from .conftest import SMALL

RUN = [sys.executable, "-m", "namer_edge_runtime.command", "train", "edge"]


def settings(pack: Path, output: Path) -> list[str]:
    return [
        *SMALL,
        f'train=["{pack}"]',
        f"validation={pack}",
        f"output={output}",
        "epochs=4",
        "batch_size=4",
        "evaluate_every=2",
        "checkpoint_minutes=0.0",
        "log_every=1",
        "precision=fp32",
        "ema=0.9",
    ]


def losses(output: Path) -> dict[str, str]:
    with (output / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["samples"] for row in rows}) == len(rows)
    return {row["samples"]: row["loss"] for row in rows}


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_losses(pack: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run([*RUN, *settings(pack, whole)], check=True, capture_output=True)

    process = subprocess.Popen([*RUN, *settings(pack, killed)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (killed / "log.csv").exists() or len(losses(killed)) < 6:
        assert time.monotonic() < deadline, "the run did not get to its sixth step"
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.02)
    process.kill()
    process.wait()
    _, state = load_state(killed / "state.safetensors")
    assert 0 < state["progress"]["step"] < 16

    subprocess.run([*RUN, *settings(pack, killed), "--resume"], check=True, capture_output=True)
    assert losses(killed) == losses(whole)
    assert (killed / "validation.csv").read_text() == (whole / "validation.csv").read_text()
    for part in ("model", "average", "optimizer"):
        tensors = [load_state(folder / "state.safetensors")[0][part] for folder in (whole, killed)]
        assert all(torch.equal(tensors[0][name], tensors[1][name]) for name in tensors[0])
    last = [(folder / "last.safetensors").read_bytes() for folder in (whole, killed)]
    assert last[0] == last[1]


@pytest.mark.slow
def test_training_goes_on_elsewhere_from_weights_and_their_json(pack: Path, tmp_path: Path) -> None:
    """Without the optimizer's state, but with the place in the schedule."""
    first = load_config("edge", [*settings(pack, tmp_path / "first"), "epochs=2"])
    train(first)
    weights = tmp_path / "first" / "last.safetensors"
    _, _, record = load_weights(weights)
    assert record["progress"]["samples_seen"] == 32
    second = load_config("edge", [*settings(pack, tmp_path / "second"), "epochs=3"])
    train(second, resume=True, weights=weights)
    assert list(losses(tmp_path / "second")) == ["36", "40", "44", "48"]
    with pytest.raises(ConfigError, match="holds a run already"):
        train(second)


def test_weights_that_do_not_belong_are_refused(pack: Path, tmp_path: Path) -> None:
    from namer_edge.model.namer import Namer
    from namer_edge_runtime.formula.vocabulary import Vocabulary

    config = load_config("edge", settings(pack, tmp_path / "run"))
    namer = Namer(config.architecture, Vocabulary.load("crohme"))
    path = tmp_path / "weights.safetensors"
    save_weights(path, namer, config.preprocessing, {"config": {}})
    assert load_weights(path)[0].architecture == namer.architecture

    other = load_config("edge", [*settings(pack, tmp_path / "run"), "pgd_width=32"])
    with pytest.raises(ConfigError, match="asks for"):
        train(other, resume=True, weights=path)
    with pytest.raises(CheckpointError, match="cannot read"):
        load_weights(tmp_path / "none.safetensors")
    with pytest.raises(CheckpointError, match="resume from"):
        train(config, resume=True)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match="SHA-256"):
        load_weights(path)
    path.with_suffix(".json").write_text('{"format": "namer-edge-weights", "format_version": 99}')
    with pytest.raises(CheckpointError, match="version 99"):
        load_weights(path)


@pytest.mark.slow
def test_a_signal_stops_with_all_saved_and_says_so(pack: Path, tmp_path: Path) -> None:
    process = subprocess.Popen([*RUN, *settings(pack, tmp_path / "run")], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not (tmp_path / "run" / "log.csv").exists():
        assert time.monotonic() < deadline, "the run did not get to its first step"
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "go on with --resume" in errors.decode()
    assert load_state(tmp_path / "run" / "state.safetensors")[1]["progress"]["step"] < 16


@pytest.mark.parametrize(
    ("batch_size", "accumulate", "batch"), [(4, 1, 3), (4, 2, 6), (12, 1, 1), (12, 3, 3), (2, 1, 6)]
)
def test_batches_divided_otherwise_go_on_as_many_samples_on(
    batch_size: int, accumulate: int, batch: int
) -> None:
    then = load_config("edge", ["batch_size=4", "accumulate=1"])
    now = load_config("edge", [f"batch_size={batch_size}", f"accumulate={accumulate}"])
    place = Progress(epoch=2, batch=3, step=11, samples_seen=44)
    assert place.redivided(asdict(then), now) == replace(place, batch=batch)
