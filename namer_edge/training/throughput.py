"""Throughput of a run, and the share of time that it waits for data."""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

import torch

T = TypeVar("T")


class Throughput:
    """Measures throughput between two rows of the log."""

    def __init__(self, device: torch.device, samples: int = 0) -> None:
        """`samples`: number that the run has seen so far."""
        self.device = device
        self.samples, self.started, self.waited = samples, time.monotonic(), 0.0

    def waiting(self, batches: Iterable[T]) -> Iterator[T]:
        """Yields the batches and measures the time until each is ready."""
        batches = iter(batches)
        while True:
            begun = time.monotonic()
            batch = next(batches, None)
            self.waited += time.monotonic() - begun
            if batch is None:
                return
            yield batch

    def row(self, samples: int) -> dict[str, float]:
        """Since the last row: samples per second over all processes; `waiting`, the share of time
        that this process waited for data; `gpu`, its GPU's utilization in percent, if known."""
        now = time.monotonic()
        seconds = max(now - self.started, 1e-9)
        row = {
            "samples_per_second": (samples - self.samples) / seconds,
            "waiting": self.waited / seconds,
        }
        busy = utilization(self.device)
        if busy is not None:
            row["gpu"] = busy
        self.samples, self.started, self.waited = samples, now, 0.0
        return row


def utilization(device: torch.device) -> float | None:
    """Present utilization of a GPU in percent; None for a CPU, or without the package
    `nvidia-ml-py`, which torch asks."""
    if device.type != "cuda":
        return None
    try:
        return float(torch.cuda.utilization(device))
    except (ModuleNotFoundError, RuntimeError):
        return None
