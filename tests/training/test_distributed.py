"""Several processes, or several parts of a batch, are one and the same run."""

import csv
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from namer_edge.checkpoints.weights import load_state
from namer_edge.training.config import load_config
from namer_edge.training.loop import train
from namer_edge_runtime.errors import ConfigError

from .conftest import SMALL

TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
"""And DDP, here on CPU through gloo."""
TRAIN = ["-m", "namer_edge_runtime.command", "train", "edge"]
TWO = [*TORCHRUN, "--nproc-per-node", "2", *TRAIN]


def settings(pack: Path, output: Path) -> list[str]:
    return [
        *SMALL,
        *(f'train=["{pack}"]', 'validation=""', f"output={output}", "precision=fp32"),
        *("epochs=3", "batch_size=8", "checkpoint_minutes=0.0", "log_every=1"),
    ]


def losses(output: Path) -> dict[int, float]:
    with (output / "log.csv").open(newline="") as file:
        return {int(row["samples"]): float(row["loss"]) for row in csv.DictReader(file)}


def processes_of(parent: int) -> list[int]:
    """The children of a process, those that train, in the order of their start."""
    try:
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    except OSError:
        pytest.skip("needs /proc to find the processes that train")
    return [int(number) for number in text.split()]


def train_on_two_nodes(settings: list[str]) -> None:
    """A process on each, started one by one as on machines of their own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    place = ["--nnodes", "2", "--master-addr", "127.0.0.1", "--master-port", port]
    nodes = [
        subprocess.Popen([*TORCHRUN, *place, "--node-rank", rank, *TRAIN, *settings])
        for rank in ("0", "1")
    ]
    try:
        assert [node.wait(240) for node in nodes] == [0, 0]
    finally:
        for node in nodes:
            node.kill()


@pytest.mark.slow
def test_two_processes_are_one_and_a_killed_one_comes_back(pack: Path, tmp_path: Path) -> None:
    """Two processes, on one node or two, and one that takes its batches in two parts, log the same
    losses; and so does a run of two of which one was killed, once it is resumed."""
    two, nodes, parts, killed = (tmp_path / name for name in ("two", "nodes", "parts", "killed"))
    subprocess.run([*TWO, *settings(pack, two)], check=True, capture_output=True)
    _, state = load_state(two / "state.safetensors")
    assert (state["progress"]["samples_seen"], state["progress"]["epoch"]) == (48, 3)
    train_on_two_nodes(settings(pack, nodes))
    assert losses(nodes) == losses(two)
    threads = torch.get_num_threads()
    try:
        train(load_config("edge", [*settings(pack, parts), "accumulate=2"]))
    finally:
        torch.set_num_threads(threads)
    assert list(losses(two)) == list(losses(parts)) == [8, 16, 24, 32, 40, 48]
    assert losses(parts) == pytest.approx(losses(two), rel=2e-3)

    run = subprocess.Popen([*TWO, *settings(pack, killed)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (killed / "log.csv").exists() or len(losses(killed)) < 2:
        assert time.monotonic() < deadline, "the run did not get to its second step"
        assert run.poll() is None, "the run ended before a process could be killed"
        time.sleep(0.02)
    os.kill(processes_of(run.pid)[-1], signal.SIGKILL)
    assert run.wait(120) != 0
    _, state = load_state(killed / "state.safetensors")
    assert 0 < state["progress"]["step"] < 6
    subprocess.run([*TWO, *settings(pack, killed), "--resume"], check=True, capture_output=True)
    assert losses(killed) == losses(two)


def test_a_batch_that_cannot_be_divided_is_refused(pack: Path, tmp_path: Path) -> None:
    config = load_config("edge", [*settings(pack, tmp_path / "run"), "accumulate=3"])
    with pytest.raises(ConfigError, match="does not divide by 1 processes with accumulate = 3"):
        train(config)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_trains(precision: str, pack: Path, tmp_path: Path) -> None:
    """And a run of the same seed, to the last digit, the same way."""
    threads = torch.get_num_threads()
    told = []
    try:
        for name in ("first", "second"):
            more = [f"precision={precision}", "epochs=1", "accumulate=2"]
            train(load_config("edge", [*settings(pack, tmp_path / name), *more]))
            told.append(losses(tmp_path / name))
    finally:
        torch.set_num_threads(threads)
    assert told[0] == told[1]
    assert all(0 < loss < 100 for loss in told[0].values())
