"""The journal of a run: JSON Lines that grow as answers come, and that the next run resumes."""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..atomic import atomic_file, naming, replaceable, writing
from ..errors import UsageError
from ..file_lock import lock

SUFFIX = ".journal"
"""Suffix of the journal, which grows line by line beside the output."""


class Journal:
    """Outcomes as they come, one JSON object a line; at the end the output, whole and in order.

    The first line says what made them. A line that was cut short, as by a kill, does not count.
    Inputs that failed are not done: they are tried again. A journal belongs to one process at a
    time; the system releases its lock when the process ends.
    """

    def __init__(self, output: Path, made_by: dict[str, Any], resume: bool = False) -> None:
        """Opens the journal of `output`, with `resume` with what is in it already.

        `made_by`: the model and the options that decide what a line says. Raises `UsageError` where
        nothing can be written, where another process writes it, or where a journal to be resumed
        was made by something else.
        """
        self._output = output = replaceable(output)
        self._path = output.with_name(output.name + SUFFIX)
        self._lines: dict[str, list[tuple[int, int]]] = {}
        """Source → where its lines start and how long they are; several inputs may have one name,
        as where a file was given twice."""
        self._done: Counter[str] = Counter()
        head = json.dumps(made_by, ensure_ascii=False, sort_keys=True).encode() + b"\n"
        with writing(self._path):
            self._path.touch()
            self._file = self._path.open("r+b")
        if not lock(self._file, self._path):
            self._file.close()
            raise UsageError(
                f"{self._path} is being written by another run: wait for it, or give another output"
            )
        if not resume:
            self._file.truncate()
        first = self._file.readline()
        if not first.endswith(b"\n"):  # new, or stopped before anything was done
            self._file.seek(0)
            self._file.truncate()
            with naming(self._path):
                self._file.write(head)
        elif first != head:
            self._file.close()
            raise UsageError(
                f"{self._path} was made with another model or other options: resume with the same, "
                "or leave out --resume to begin anew"
            )
        else:
            self._read(len(first))

    def __len__(self) -> int:
        """Count of finished inputs that `take` has not been asked for."""
        return self._done.total()

    def _read(self, start: int) -> None:
        """Reads the complete lines and cuts off an incomplete last one."""
        for line in self._file:
            try:
                if not line.endswith(b"\n"):
                    break
                value = json.loads(line)
                if "error" not in value:
                    self._lines.setdefault(str(value["source"]), []).append((start, len(line)))
            except (ValueError, KeyError, TypeError):
                break
            start += len(line)
        self._file.seek(start)
        self._file.truncate()
        self._done.update({source: len(lines) for source, lines in self._lines.items()})

    def take(self, source: str) -> bool:
        """Tells whether the next input of this name is done already."""
        known = self._done[source] > 0
        self._done[source] -= known
        return known

    def add(self, value: dict[str, Any]) -> None:
        """Appends one outcome and flushes it."""
        line = json.dumps(value, ensure_ascii=False).encode() + b"\n"
        self._lines.setdefault(str(value["source"]), []).append((self._file.tell(), len(line)))
        with naming(self._path):
            self._file.write(line)
            self._file.flush()

    def finish(self, sources: Iterable[str]) -> None:
        """Writes the output, the line of each source in this order, and removes the journal."""
        with atomic_file(self._output) as output:
            places = {source: iter(lines) for source, lines in self._lines.items()}
            for source in sources:
                start, length = next(places[source])
                self._file.seek(start)
                output.write(self._file.read(length))
        if sys.platform == "win32":  # no open file can be removed there
            self._file.close()
        with suppress(OSError):
            self._path.unlink()
        self._file.close()

    def close(self) -> None:
        """Leaves the journal as it is, for the next run."""
        with naming(self._path):
            self._file.close()
