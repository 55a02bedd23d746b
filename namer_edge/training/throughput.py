"""How fast a run goes, and whether it waits for pictures to be drawn."""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

import torch

T = TypeVar("T")


class Throughput:
    """Measures from one row of the log to the next."""

    def __init__(self, device: torch.device, samples: int = 0) -> None:
        """`samples` is how many the run has seen when the clock starts."""
        self.device = device
        self.samples, self.started, self.waited = samples, time.monotonic(), 0.0

    def waiting(self, batches: Iterable[T]) -> Iterator[T]:
        """The same batches; the time until each is there counts as waiting."""
        batches = iter(batches)
        while True:
            begun = time.monotonic()
            batch = next(batches, None)
            self.waited += time.monotonic() - begun
            if batch is None:
                return
            yield batch

    def row(self, samples: int) -> dict[str, float]:
        """Since the last row: samples a second, over all processes; `waiting`, the share of time
        that this one waited for pictures; `gpu`, the percentage of time that its GPU was busy just
        now, where its driver tells."""
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
    """Percent of the last moments in which the GPU computed; None without one, or where the
    package `nvidia-ml-py`, which torch asks, is not installed."""
    if device.type != "cuda":
        return None
    try:
        return float(torch.cuda.utilization(device))
    except (ModuleNotFoundError, RuntimeError):
        return None
