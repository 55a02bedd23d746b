"""Other recognizers on the same formulas, through an adapter of a few lines (`adapters.py`)."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from namer_edge.evaluation.exprate import rate
from namer_edge.evaluation.pairing import Answer, protocol_name, reading
from namer_edge.evaluation.samples import Sample
from namer_edge_runtime.errors import UsageError

from .adapters import adapter
from .configuration import Accuracy, Spread
from .formulas import samples, strokes_of
from .report import table


@dataclass(frozen=True)
class Peer:
    """Another recognizer, and what it is to read."""

    name: str
    adapter: str
    data: str
    limit: int | None = None
    only: tuple[str, ...] = ()
    """As in `Configuration`."""
    ink: bool = False
    """True for a peer that takes strokes as a JSON file `[[[x, y], …], …]` instead of a PNG."""


@dataclass(frozen=True)
class PeerRow:
    """A peer's figures, or its error."""

    peer: Peer
    first: float | None = None
    """Milliseconds of the first picture, with whatever is loaded then; it is read again later."""
    whole: Spread | None = None
    """Milliseconds of a call; of a command, the start of its process included."""
    accuracy: Accuracy | None = None
    """After both are normalized, as others spell LaTeX in their own way."""
    failed: dict[str, str] | None = None
    error: str = ""

    @property
    def fps(self) -> float | None:
        """Formulas a second, failed ones not counted."""
        return None if self.whole is None else 1000 / self.whole.mean


def in_own_process(peer: Peer) -> PeerRow:
    """An error there becomes the row's error and stops nothing."""
    command = [sys.executable, "-m", __name__, json.dumps(asdict(peer))]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return PeerRow(peer, error=last)
    value = json.loads(done.stdout.splitlines()[-1])
    whole, accuracy = value["whole"], value["accuracy"]
    return PeerRow(
        peer,
        value["first"],
        Spread(**whole) if whole else None,
        Accuracy(**accuracy) if accuracy else None,
        value["failed"],
        value["error"],
    )


def measure(peer: Peer) -> PeerRow:
    """In this process. Raises `UsageError` for what is no adapter or where nothing was read,
    `DataError` where there is no data; what an adapter raises is that picture's failure."""
    every = samples(Path(peer.data), peer.limit, as_pictures=not peer.ink, only=peer.only)
    chosen = [sample for sample in every if sample.label]
    write = _strokes if peer.ink else _picture
    with tempfile.TemporaryDirectory() as folder, adapter(peer.adapter) as read:
        paths = [write(sample, Path(folder) / str(n)) for n, sample in enumerate(chosen)]
        times: list[float] = []
        answers: list[Answer] = []
        first = None
        missing = "no strokes" if peer.ink else "no picture"
        for sample, path in zip(chosen, paths, strict=True):
            name = sample.source.name
            if path is None:
                answers.append(Answer(name, error=str(sample.source.error or missing)))
                continue
            try:
                if first is None:
                    started = perf_counter()
                    read(path)
                    first = _since(started)
                started = perf_counter()
                latex = read(path)
                times.append(_since(started))
                answers.append(Answer(name, latex))
            except Exception as error:  # whatever others raise
                answers.append(Answer(name, error=f"{type(error).__name__}: {error}"))
    failed = {answer.source: answer.error for answer in answers if answer.error}
    if not times:
        raise UsageError(f"nothing was read: {next(iter(failed.values()), 'there is no label')}")
    readings = [
        reading(sample.label, answer, True)
        for sample, answer in zip(chosen, answers, strict=True)
        if sample.label is not None
    ]
    found = rate(readings)
    accuracy = Accuracy(
        exprate=round(found.exprate, 2),
        exprate_le1=round(found.exprate_le1, 2),
        exprate_le2=round(found.exprate_le2, 2),
        total=found.total,
        protocol=protocol_name(True),
    )
    return PeerRow(peer, first, Spread.of(times), accuracy, failed)


def _picture(sample: Sample, path: Path) -> Path | None:
    value = sample.source.value
    if isinstance(value, Path):
        return value
    return _written(path.with_suffix(".png"), value) if isinstance(value, bytes) else None


def _strokes(sample: Sample, path: Path) -> Path | None:
    strokes = [np.asarray(stroke).tolist() for stroke in strokes_of(sample)]
    return _written(path.with_suffix(".json"), json.dumps(strokes).encode()) if strokes else None


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def peer_page(rows: Sequence[PeerRow]) -> str:
    """Markdown."""
    head = ["peer", "gets", "first, ms", "ms", "FPS", "exact, %", "<= 1, %", "<= 2, %", "failed"]
    measured = [row for row in rows if row.whole is not None]
    lines = []
    for row in measured:
        a, whole = row.accuracy, row.whole
        assert whole is not None
        rates = [a.exprate, a.exprate_le1, a.exprate_le2] if a else [None] * 3
        spread = f"{whole.mean:.2f} / {whole.median:.2f} / {whole.p95:.2f}"
        gets = "strokes" if row.peer.ink else "PNG"
        failed = len(row.failed or {})
        lines.append([row.peer.name, gets, row.first, spread, row.fps, *rates, failed])
    parts = [f"Peers, on the same formulas ({protocol_name(True)}):", table(head, lines)]
    parts += [f"Not measured: {row.peer.name}: {row.error}" for row in rows if row.error]
    for row in measured:
        parts += [f"Not read by {row.peer.name}: {n}: {why}" for n, why in row.failed.items()]  # type: ignore[union-attr]
    return "\n\n".join(parts)


def _since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 3)


if __name__ == "__main__":
    print(json.dumps(asdict(measure(Peer(**json.loads(sys.argv[1]))))))
