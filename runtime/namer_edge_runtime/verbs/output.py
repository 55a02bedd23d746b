"""Output of `namer-edge recognize`."""

import json
import os
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING

from ..result import Result

if TYPE_CHECKING:
    from ..bulk.input_files import Source
    from ..bulk.journal import Journal
    from ..bulk.run import Outcome

JSON, LABEL_GRAPH = "json", "label-graph"
COLUMNS = {
    "latex": "latex",
    "spaced": "canonical",
    "katex": "katex",
    "mathml": "mathml",
    "mathml-word": "word_mathml",
    "omml": "omml",
    "typst": "typst",
    "sympy": "sympy",
    "svg": "svg",
}
"""Form of a formula that fits into a column → the attribute of a reading that gives it."""
FORMATS = (*COLUMNS, JSON, LABEL_GRAPH)
DOUBTFUL = 0.5
"""Score below which a reading is more likely wrong than right; scores are made to say just that."""


class Output:
    """Writes results to standard output as they come, in one of `FORMATS`.

    In a column form a line holds the name, the formula and the alternatives, TAB between them; as
    JSON, an object. A label graph takes many lines, the first of which is `# IUD, name`. With
    `scores` each formula of a column form is followed by its score, again after a TAB; without
    them a doubtful one is marked on a terminal, where nobody parses lines.
    """

    def __init__(self, format_: str, scores: bool = False) -> None:
        self._format = format_
        self._scores = scores
        self._marks = not scores and sys.stdout.isatty()
        self.total = 0
        """Inputs so far."""
        self.doubtful = 0
        """Readings so far that are doubtful, in a column form without scores."""

    @property
    def done(self) -> int:
        """Count of inputs that an earlier run has read."""
        return 0

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
        if self._format == JSON:
            print(json.dumps(outcome.to_json(), ensure_ascii=False))
        elif isinstance(outcome.answer, Result):
            print(self._formatted(_one_field(outcome.source), outcome.answer))

    def _formatted(self, name: str, result: Result) -> str:
        if self._format == LABEL_GRAPH:
            return result.label_graph(name).rstrip()
        fields = [name]
        for one in (result, *result.alternatives):
            fields.append(getattr(one, COLUMNS[self._format]))
            if self._scores:
                fields.append(f"{one.score:.3f}")
        doubtful = result.score < DOUBTFUL and bool(result.canonical) and not self._scores
        self.doubtful += doubtful
        return "\t".join(fields) + (_mark(result.score) if doubtful and self._marks else "")

    def finish(self) -> None:
        sys.stdout.flush()


class JournalOutput(Output):
    """JSON lines in a file that appears whole, and a journal of them until then."""

    def __init__(self, journal: "Journal") -> None:
        super().__init__(JSON)
        self._journal = journal
        self._names: list[str] = []

    @property
    def done(self) -> int:
        return len(self._journal)

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


def _mark(score: float) -> str:
    """A note behind a doubtful reading, dim where the terminal may be told to show it so."""
    note = f"?  {score:.2f}"
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM", "dumb") == "dumb"
    return f"  {note}" if plain else f"  \x1b[2m{note}\x1b[0m"


def _one_field(name: str) -> str:
    """A name that keeps to its column: tabs and line breaks as they would be typed."""
    return name.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
