"""One input on its way through recognition."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from ..errors import NamerEdgeError, UnreadableError
from ..inputs import LoadedInput, open_input
from ..preprocessing import Prepared
from ..result import Milliseconds, Result


@dataclass
class Job:
    """An input and its answer so far."""

    input: LoadedInput | Prepared | None
    """None where it cannot be opened. `Prepared` inputs get a single pass: they have one scale."""
    answer: Result | NamerEdgeError
    """Before the first pass, an empty result with the time that opening the input took."""

    @classmethod
    def open(cls, value: Any) -> "Job":
        """The job of any single input; an input that cannot be opened has its error as answer."""
        started = perf_counter()
        try:
            ready = isinstance(value, LoadedInput | Prepared)
            loaded = value if ready else open_input(value)
        except NamerEdgeError as error:
            return cls(None, error)
        opening = Milliseconds(prepare=(perf_counter() - started) * 1000)
        return cls(loaded, Result("", "", 0.0, milliseconds=opening))

    @property
    def pixels(self) -> int:
        """Pixels that the open picture holds in memory."""
        return self.input.pixels if isinstance(self.input, LoadedInput) else 0

    def take(self, answer: Result | NamerEdgeError) -> None:
        """Replaces the answer; the time spent so far is added to the new one's."""
        if isinstance(answer, Result) and isinstance(self.answer, Result):
            spent = self.answer.milliseconds + answer.milliseconds
            answer = replace(answer, milliseconds=spent)
        self.answer = answer

    def checked(self) -> Result | NamerEdgeError:
        """The answer; `UnreadableError` for a picture with ink of which nothing was read."""
        if not isinstance(self.input, LoadedInput) or self.input.picture is None:
            return self.answer
        if not isinstance(self.answer, Result) or self.answer.canonical:
            return self.answer
        if self.answer.prepared is None or self.answer.prepared.blank:
            return self.answer
        message = "there is ink, but no formula can be read in it: take the picture closer and in "
        message += "even light, or cut out the formula"
        name = self.input.name
        return UnreadableError(f"{name}: {message}" if name else message)


def open_jobs(inputs: Iterable[Any], max_pixels: int) -> list[Job]:
    """Jobs of the first of `inputs`, up to the one with which `max_pixels` are open."""
    jobs: list[Job] = []
    pixels = 0
    for value in inputs:
        jobs.append(Job.open(value))
        pixels += jobs[-1].pixels
        if pixels > max_pixels:
            break
    return jobs
