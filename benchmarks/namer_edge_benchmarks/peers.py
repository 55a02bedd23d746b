"""Other recognisers on the same pictures, through an adapter of a few lines.

An adapter is `module:function`, called with the path of a PNG and returning LaTeX, or a command in
which `{}` stands for that path and which prints LaTeX.
"""

import importlib
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from namer_edge.evaluation.exprate import rate
from namer_edge.evaluation.pairing import Answer, protocol_name, reading
from namer_edge.evaluation.samples import Sample
from namer_edge_runtime.errors import UsageError

from .formulas import samples
from .pages import table
from .trial import Accuracy, Spread

PLACE = "{}"
Adapter = Callable[[Path], str]


@dataclass(frozen=True)
class Peer:
    """Another recogniser, and what it is to read."""

    name: str
    adapter: str
    data: str
    limit: int | None = None


@dataclass(frozen=True)
class PeerRow:
    """What was measured of it, or why nothing was."""

    peer: Peer
    first: float | None = None
    """Milliseconds of the first picture, with whatever is loaded then; it is read again later."""
    whole: Spread | None = None
    """Of a call; of a command with the start of its process."""
    accuracy: Accuracy | None = None
    """After both are normalised, as others spell LaTeX in their own way."""
    failed: dict[str, str] | None = None
    error: str = ""


def in_own_process(peer: Peer) -> PeerRow:
    """Whatever goes wrong there is the row's error and stops nothing."""
    command = [sys.executable, "-m", __name__, json.dumps(asdict(peer))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
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
    adapter = open_adapter(peer.adapter)
    chosen = [s for s in samples(Path(peer.data), peer.limit, as_pictures=True) if s.label]
    with tempfile.TemporaryDirectory() as folder:
        paths = [_picture(sample, Path(folder), n) for n, sample in enumerate(chosen)]
        times: list[float] = []
        answers: list[Answer] = []
        first = None
        for sample, path in zip(chosen, paths, strict=True):
            name = sample.source.name
            if path is None:
                answers.append(Answer(name, error=str(sample.source.error or "no picture")))
                continue
            try:
                if first is None:
                    started = perf_counter()
                    adapter(path)
                    first = _since(started)
                started = perf_counter()
                latex = adapter(path)
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


def open_adapter(text: str) -> Adapter:
    """Raises `UsageError` for a text that is no adapter, or a function that is not there."""
    if PLACE in text:
        words = shlex.split(text)
        return lambda path: _printed([word.replace(PLACE, str(path)) for word in words])
    module, separator, name = text.partition(":")
    if not separator:
        raise UsageError(f"{text!r}: give module:function, or a command in which {PLACE} stands")
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{text!r}: {error}") from None
    return lambda path: str(found(path))


def _printed(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _picture(sample: Sample, folder: Path, number: int) -> Path | None:
    value = sample.source.value
    if isinstance(value, Path):
        return value
    if not isinstance(value, bytes):
        return None
    path = folder / f"{number}.png"
    path.write_bytes(value)
    return path


def peer_page(rows: Sequence[PeerRow]) -> str:
    """Markdown."""
    head = ["peer", "first, ms", "ms", "exact, %", "<= 1, %", "<= 2, %", "failed"]
    measured = [row for row in rows if row.whole is not None]
    lines = []
    for row in measured:
        a, whole = row.accuracy, row.whole
        assert whole is not None
        rates = [a.exprate, a.exprate_le1, a.exprate_le2] if a else [None] * 3
        spread = f"{whole.mean:.2f} / {whole.median:.2f} / {whole.p95:.2f}"
        lines.append([row.peer.name, row.first, spread, *rates, len(row.failed or {})])
    parts = [f"Peers, on the same pictures ({protocol_name(True)}):", table(head, lines)]
    parts += [f"Not measured: {row.peer.name}: {row.error}" for row in rows if row.error]
    for row in measured:
        parts += [f"Not read by {row.peer.name}: {n}: {why}" for n, why in row.failed.items()]  # type: ignore[union-attr]
    return "\n\n".join(parts)


def _since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 3)


if __name__ == "__main__":
    print(json.dumps(asdict(measure(Peer(**json.loads(sys.argv[1]))))))
