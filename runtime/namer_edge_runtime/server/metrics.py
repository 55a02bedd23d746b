"""Metrics of the server in Prometheus's text format."""

import threading
from bisect import bisect_left
from collections.abc import Mapping

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds in seconds."""


class Counter:
    """A thread-safe counter, with optional labels."""

    def __init__(self, *labels: str) -> None:
        self._labels = labels
        self._counts: dict[tuple[str, ...], int] = {} if labels else {(): 0}
        self._lock = threading.Lock()

    def add(self, *values: str) -> None:
        with self._lock:
            self._counts[values] = self._counts.get(values, 0) + 1

    def lines(self, name: str) -> list[str]:
        with self._lock:
            counts = sorted(self._counts.items())
        shown = [(dict(zip(self._labels, values, strict=True)), n) for values, n in counts]
        return [f"{name}{_braced(labels)} {n}" for labels, n in shown]


class Histogram:
    """A thread-safe histogram over `BUCKETS`."""

    def __init__(self) -> None:
        self._counts = [0] * (len(BUCKETS) + 1)
        self._sum = 0.0
        self._lock = threading.Lock()

    def add(self, value: float) -> None:
        with self._lock:
            self._counts[bisect_left(BUCKETS, value)] += 1
            self._sum += value

    def lines(self, name: str) -> list[str]:
        with self._lock:
            counts, total = list(self._counts), self._sum
        ends = [f"{end:g}" for end in BUCKETS] + ["+Inf"]
        below = [sum(counts[: place + 1]) for place in range(len(counts))]
        return [
            *(f"{name}_bucket{_braced({'le': e})} {n}" for e, n in zip(ends, below, strict=True)),
            f"{name}_sum {total:.6f}",
            f"{name}_count {below[-1]}",
        ]


class Metrics:
    """All metrics of one server."""

    def __init__(self) -> None:
        self.requests = Counter("path", "status")
        self.seconds = Histogram()
        self.restarts = Counter()

    def text(self, gauges: Mapping[str, tuple[str, int]]) -> str:
        """Returns all metrics as text; `gauges` maps a name to its help and its current value."""
        tables = (
            ("requests_total", "counter", "Requests answered.", self.requests),
            ("reading_seconds", "histogram", "Time that workers took to read.", self.seconds),
            ("worker_restarts_total", "counter", "Workers that were replaced.", self.restarts),
        )
        lines = []
        for name, kind, help_, table in tables:
            lines += _head(name, kind, help_) + table.lines(f"namer_edge_{name}")
        for name, (help_, value) in gauges.items():
            lines += [*_head(name, "gauge", help_), f"namer_edge_{name} {value}"]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, help_: str) -> list[str]:
    return [f"# HELP namer_edge_{name} {help_}", f"# TYPE namer_edge_{name} {kind}"]


def _braced(labels: Mapping[str, str]) -> str:
    inside = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{{{inside}}}" if inside else ""
