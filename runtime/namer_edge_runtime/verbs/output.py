"""Where `namer-edge recognize` puts what it reads."""

import json
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING

from ..result import Result

if TYPE_CHECKING:
    from ..bulk import Outcome, Source
    from ..journal import Journal


class Output:
    """Lines on standard output, as they come: `name TAB latex`, or JSON."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self.total = 0
        """Inputs so far."""

    def __enter__(self) -> "Output":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def fresh(self, sources: "Iterator[Source]") -> "Iterator[Source]":
        """The inputs that are still to be read."""
        for source in sources:
            self.total += 1
            yield source

    def add(self, outcome: "Outcome") -> None:
        if self._as_json:
            print(json.dumps(outcome.to_json(), ensure_ascii=False))
        elif isinstance(outcome.answer, Result):
            print(f"{_one_field(outcome.source)}\t{outcome.answer.latex}")

    def finish(self) -> None:
        sys.stdout.flush()


class JournalOutput(Output):
    """JSON lines in a file that appears whole, and a journal of them until then."""

    def __init__(self, journal: "Journal") -> None:
        super().__init__(as_json=True)
        self._journal = journal
        self._names: list[str] = []

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._journal.close()

    def fresh(self, sources: "Iterator[Source]") -> "Iterator[Source]":
        for source in super().fresh(sources):
            self._names.append(source.name)
            if not self._journal.take(source.name):
                yield source

    def add(self, outcome: "Outcome") -> None:
        self._journal.add(outcome.to_json())

    def finish(self) -> None:
        self._journal.finish(self._names)


def _one_field(name: str) -> str:
    """A name that keeps to its column: tabs and line breaks as they would be typed."""
    return name.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
