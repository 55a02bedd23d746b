"""What a run logs of itself: losses, and how fast it goes."""

import csv
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from namer_edge.training import throughput as pacing
from namer_edge.training.log import Log
from namer_edge.training.throughput import Throughput

CPU = torch.device("cpu")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_tells_samples_a_second_and_the_share_of_waiting(tmp_path: Path) -> None:
    def slow() -> Iterator[int]:
        for number in range(4):
            time.sleep(0.05)
            yield number

    log, pace = Log(tmp_path, every=2), Throughput(CPU)
    for number in pace.waiting(slow()):
        log.add(8 * (number + 1), 0.5, 1e-3, {"loss": float(number)}, pace)
    log.close()
    first, second = rows(tmp_path / "log.csv")
    assert (float(first["loss"]), float(second["loss"])) == (0.5, 2.5)
    for row in (first, second):
        assert 0 < float(row["samples_per_second"]) < 16 / 0.1
        assert 0.2 < float(row["waiting"]) <= 1  # each row holds two waits, and hardly more
        assert "gpu" not in row


def test_what_a_gpu_does_is_told_where_its_driver_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = torch.device("cuda", 0)
    monkeypatch.setattr(torch.cuda, "utilization", lambda device: 87)
    assert Throughput(gpu).row(10)["gpu"] == 87.0

    def missing(device: torch.device) -> int:
        raise ModuleNotFoundError("pynvml")

    monkeypatch.setattr(torch.cuda, "utilization", missing)
    assert pacing.utilization(gpu) is None
    assert pacing.utilization(CPU) is None


def test_a_log_that_was_begun_with_fewer_columns_keeps_them(tmp_path: Path) -> None:
    """As those of runs that were begun before speed was logged and are resumed."""
    (tmp_path / "log.csv").write_text("samples,epoch,rate,loss\n8,0.1,0.001,2.0\n16,0.2,0.001,1\n")
    log = Log(tmp_path, every=1, samples=8)
    log.add(16, 0.2, 1e-3, {"loss": 1.5}, Throughput(CPU))
    log.close()
    assert (tmp_path / "log.csv").read_text().splitlines() == [
        "samples,epoch,rate,loss",
        "8,0.1,0.001,2.0",
        "16,0.2,0.001,1.5",
    ]
