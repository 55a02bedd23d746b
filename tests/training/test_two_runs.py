"""Runs that would write the same files, and writes that fail."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from namer_edge.checkpoints.weights import load_state, save_state
from namer_edge.training.log import Log
from namer_edge_runtime.command import main

from .conftest import PLAIN, SMALL

HOLDER = """
import sys, time
from pathlib import Path
from namer_edge_runtime.file_lock import exclusive
with exclusive(Path(sys.argv[1]), sys.argv[2] == "folder"):
    print("ready", flush=True)
    time.sleep(60)
"""


@contextmanager
def held(path: Path, kind: str) -> Iterator[None]:
    """Another process writes `path`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, path, kind], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def command(pack: Path, tmp_path: Path) -> list[str]:
    return [
        *("train", "edge", *SMALL, *PLAIN, "precision=fp32", "epochs=1", "batch_size=8"),
        *(f'train=["{pack}"]', 'validation=""', f"output={tmp_path / 'run'}", "evaluate_every=0"),
        *("checkpoint_minutes=0.0", "workers=0", "log_every=1"),
    ]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_two_runs_do_not_train_in_one_folder(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with held(tmp_path / "run", "folder"):
        before = contents(tmp_path / "run")
        for resume in ([], ["--resume"]):
            assert main([*command, *resume]) == 2
            errors = capsys.readouterr().err
            assert f"writes {tmp_path / 'run'}: wait for it, or give another output" in errors
        assert contents(tmp_path / "run") == before


def test_two_runs_do_not_write_one_table_of_ablations(
    tmp_path: Path, pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each would leave out what the other has measured."""
    results = tmp_path / "results.json"
    with held(results, "file"):
        assert main(["ablate", "heads", "--data", str(pack), "--results", str(results)]) == 2
    assert "wait for it, or give another output" in capsys.readouterr().err
    assert not results.exists()


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Has writes fail as on a full disk once a file has so many bytes; pytest's own, too, so it
    ends before the test does."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_the_last_checkpoint(
    command: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    threads = torch.get_num_threads()
    run = tmp_path / "run"
    try:
        assert main(command) == 0
        before = contents(run)
        capsys.readouterr()
        with full_disk(20_000):
            assert main([*command, "epochs=2", "--resume"]) == 1
    finally:
        torch.set_num_threads(threads)
    *_, told = capsys.readouterr().err.splitlines()
    assert told == f"namer-edge: error: {run / 'state.safetensors'}: File too large"
    after = contents(run)
    assert after.pop("log.csv").startswith(before.pop("log.csv"))
    assert after == before
    (run / "log.csv").unlink()
    with full_disk(0):  # nothing at all can be written
        assert main([*command, "epochs=2", "--resume"]) == 1
    assert capsys.readouterr().err == f"namer-edge: error: {run / '.lock'}: File too large\n"


def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path,
    pack: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    examples = Path(__file__).parents[2] / "examples"
    labels = tmp_path / "labels.tsv"
    labels.write_text("sum\t1 + 1\n", "utf-8")
    folder = tmp_path / "full"
    folder.mkdir()
    out = folder / "out"
    out.write_bytes(b"old")
    for words in (
        ["data", "pack", examples / "sum.inkml", "--labels", labels, "-o", out],
        ["data", "check", pack, "--fates", out],
        ["data", "vocabulary", labels, "-o", out],
        *([["data", "stats", pack, "--plots", out]] if find_spec("matplotlib") else []),
        ["evaluate", examples / "sum.inkml", "--labels", labels, "--threads", "1", "--json", out],
        ["evaluate", examples / "sum.inkml", "--labels", labels, "--threads", "1", "--jsonl", out],
    ):
        with full_disk(10):
            assert main([str(word) for word in words]) == 1, words
        *_, told = capsys.readouterr().err.splitlines()
        assert told.startswith(f"namer-edge: error: {out}: "), words
        assert "File too large" in told
        assert told.count(str(out)) == 1
        assert out.read_bytes() == b"old"
        assert os.listdir(folder) == ["out"]


def test_a_row_of_the_log_that_a_full_disk_has_cut_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("samples,epoch,rate,loss\n8,0.1,0.001,2.0\n16,0.")
    Log(tmp_path, every=1, samples=16).close()
    assert (tmp_path / "log.csv").read_text() == "samples,epoch,rate,loss\n8,0.1,0.001,2.0\n"


def test_what_was_resumed_from_is_not_held_open(tmp_path: Path) -> None:
    """Windows could not replace it."""
    path = tmp_path / "state.safetensors"
    save_state(path, {"model": {"a": torch.ones(9)}}, {})
    tensor = load_state(path)[0]["model"]["a"]
    assert tensor.untyped_storage().filename is None
    assert torch.equal(tensor, torch.ones(9))
