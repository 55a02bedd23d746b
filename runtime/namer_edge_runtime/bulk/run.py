"""Recognition of many inputs, one after the other."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import NamerEdgeError
from ..recognition.batching import WINDOW
from .input_files import Source, printable

if TYPE_CHECKING:
    from ..recognizer import Recognizer
    from ..result import Result

MOST_WAITING = 1 << 25
"""Bytes of unpacked inputs that may wait to be read; beyond it no further one is unpacked."""


@dataclass(frozen=True)
class Outcome:
    """An input and what became of it."""

    source: str
    answer: "Result | NamerEdgeError"

    @property
    def message(self) -> str:
        """The error as one line that names the input; empty for a result."""
        if not isinstance(self.answer, NamerEdgeError):
            return ""
        text = printable(" ".join(str(self.answer).split()))
        return text if text.startswith(self.source) else f"{self.source}: {text}"

    def to_json(self) -> dict[str, Any]:
        """A line of `namer-edge recognize --jsonl`."""
        if isinstance(self.answer, NamerEdgeError):
            error = {"type": type(self.answer).__name__, "message": self.message}
            return {"source": self.source, "error": error}
        return {"source": self.source, **self.answer.to_json()}


def recognize_all(
    recognizer: "Recognizer", inputs: Iterable[Source], batch_size: int = 8, alternatives: int = 0
) -> Iterator[Outcome]:
    """Reads every input in order; an error is the outcome of its input and stops nothing.

    Raises `EngineError` where the engine itself fails, for then no input can be read.
    """
    waiting: list[Source] = []
    held = 0
    for source in inputs:
        waiting.append(source)
        held += len(source.value) if isinstance(source.value, bytes) else 0
        if len(waiting) >= WINDOW * batch_size or held > MOST_WAITING:
            yield from _outcomes(recognizer, waiting, batch_size, alternatives)
            waiting, held = [], 0
    yield from _outcomes(recognizer, waiting, batch_size, alternatives)


def _outcomes(
    recognizer: "Recognizer", waiting: Sequence[Source], batch_size: int, alternatives: int
) -> Iterator[Outcome]:
    values = [source.value for source in waiting if source.error is None]
    answers = iter(recognizer.each(values, batch_size, alternatives))
    for source in waiting:
        yield Outcome(source.name, source.error or next(answers))
