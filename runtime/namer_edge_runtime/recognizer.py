"""`Recognizer`: a picture or ink in, LaTeX out."""

from collections.abc import Sequence
from dataclasses import replace
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex, Unpack, overload

from numpy.typing import NDArray

from .aliases import alias
from .decode.options import DecodingOptions
from .engine.base import Engine, EngineOptions, open_engine
from .errors import NamerEdgeError, UsageError
from .formula.vocabulary import Vocabulary
from .ink.strokes import Strokes, as_strokes
from .inputs import LoadedInput, is_strokes
from .model_file import ModelFile
from .preprocessing import Preprocessing
from .recognition import test_time_augmentation
from .recognition.batching import MAX_OPEN_PIXELS, WINDOW
from .recognition.evidence import Lock
from .recognition.job import open_jobs
from .recognition.lines import Block, find_lines, may_be_several, one_line, rejoined, together
from .recognition.locks import check_locks, fits, locks_of_lines
from .recognition.pen_session import PenSession
from .recognition.single_pass import SinglePass
from .result import Result
from .score_calibration import ScoreCalibration

_Ink = Sequence[Sequence[Sequence[float]]]


class Recognizer:
    """Reads handwritten formulas with one model on one engine.

    Holds no state of a call: usable by several threads at once, picklable where its engine is,
    deterministic, and independent of how inputs are batched (see `SinglePass`).
    """

    def __init__(
        self,
        engine: Engine,
        preprocessing: Preprocessing,
        vocabulary: Vocabulary,
        decoding: DecodingOptions | None = None,
        score_calibration: ScoreCalibration | None = None,
        as_picture: bool = False,
    ) -> None:
        """With `as_picture`, pen strokes are read by what they look like alone: how they were
        written is hidden from a model that would see it."""
        self.engine = engine
        self.preprocessing = preprocessing
        self.vocabulary = vocabulary
        self.decoding = decoding or DecodingOptions()
        self.score_calibration = score_calibration or ScoreCalibration()
        self.as_picture = as_picture

    def __repr__(self) -> str:
        engine = self.engine
        classes = f"{self.vocabulary.size} classes ({self.vocabulary.name})"
        ran = f"{engine.precision} on {engine.name} ({engine.device})"
        return f"<{type(self).__name__} of {classes}, {ran}>"

    look = alias("preprocessing")
    scalings = alias("score_calibration")

    @property
    def single_pass(self) -> SinglePass:
        """One pass without test-time augmentation, with its stages."""
        return SinglePass(
            self.engine, self.preprocessing, self.vocabulary, self.decoding, self.as_picture
        )

    @classmethod
    def of_model(
        cls,
        model: ModelFile,
        engine: Engine,
        decoding: DecodingOptions | None = None,
        as_picture: bool = False,
        calibrated: bool = True,
    ) -> "Recognizer":
        """The recognizer of a model file on an opened engine; `decoding` replaces the model's.

        Not `calibrated`, scores are those of decoding, without the model's score calibration.
        """
        return cls(
            engine,
            model.preprocessing,
            model.vocabulary,
            decoding or model.decoding,
            model.score_calibration if calibrated else None,
            as_picture,
        )

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path | None = None,
        *,
        engine: str | None = None,
        device: str | None = None,
        threads: int | None = None,
        test_time_augmentation: bool = True,
        one_look: bool = False,
        as_picture: bool = False,
        **options: Unpack[EngineOptions],
    ) -> "Recognizer":
        """Opens a packaged model by name (the default one for None), or a model file by path.

        `engine` defaults to the one of the model's format, `threads` to the CPUs the process may
        use; `options` are those of `EngineOptions`. Without `test_time_augmentation` (or with its
        former name `one_look`) each input gets one pass, which is quicker and less often right;
        with `as_picture` strokes are read by their picture alone. Raises `ModelFileError`,
        `UsageError`, `MissingExtraError` or `EngineError`; a device that is not there is an error
        unless `fallback`.
        """
        model = ModelFile.open(name_or_path)
        opened = open_engine(engine, model, device, threads, **options)
        single = one_look or not test_time_augmentation
        decoding = replace(model.decoding, tta_scales=()) if single else model.decoding
        return cls.of_model(model, opened, decoding, as_picture)

    @overload
    def __call__(
        self, inputs: _Ink, *, batch_size: int = ..., alternatives: int = ...
    ) -> Result: ...

    @overload
    def __call__(
        self, inputs: list[NDArray[Any]], *, batch_size: int = ..., alternatives: int = ...
    ) -> Any: ...

    @overload
    def __call__(
        self, inputs: list[Any] | tuple[Any, ...], *, batch_size: int = ..., alternatives: int = ...
    ) -> list[Result]: ...

    @overload
    def __call__(
        self, inputs: Any, *, batch_size: int = ..., alternatives: int = ...
    ) -> Result: ...

    def __call__(self, inputs: Any, *, batch_size: int = 8, alternatives: int = 0) -> Any:
        """Recognizes one input, or a list of them in order, and returns one `Result` or a list.

        An input is a path, bytes, an open file, a NumPy or PIL picture, InkML or strokes.
        Up to `alternatives` further readings, the most probable others, are returned beside the
        best. Raises the error of the first input that cannot be read, named by its number in a
        list. A list of arrays is ink or pictures by their shapes, so its type is `Any`.
        """
        if not isinstance(inputs, list | tuple) or is_strokes(inputs):
            return _raised(self.each([inputs], batch_size, alternatives))[0]
        return _raised(self.each(inputs, batch_size, alternatives), numbered=True)

    def strokes(self, strokes: Sequence[Any], *, alternatives: int = 0) -> Result:
        """Recognizes pen strokes [[(x, y), …], …], y growing downwards, any unit.

        An empty canvas is a blank page. Raises `InkError` for strokes that are none.
        """
        return _raised(self.each([LoadedInput(as_strokes(strokes), None)], 1, alternatives))[0]

    def corrected(
        self,
        strokes: Sequence[Any],
        locks: Sequence[Lock] = (),
        *,
        alternatives: int = 0,
        before: Result | None = None,
    ) -> Result:
        """Recognizes pen strokes of which some are known; the result keeps its `evidence`.

        With `before`, a result that this gave for the same strokes, the path is searched again in
        the passes it had, in about a millisecond, unless they cannot hold these locks. Raises
        `InkError` for strokes that are none, `UsageError` for locks that cannot be.
        """
        ink = as_strokes(strokes)
        locks = tuple(locks)
        check_locks(locks, len(ink), self.vocabulary)
        _check_whole("alternatives", alternatives, 0)
        several = before is not None and len(before.lines) > 1
        if before is not None and before.evidence and not several and fits(before.evidence, locks):
            found = replace(self.single_pass, locks=locks).search(before, locks, alternatives)
            if found is not None:
                return one_line(self.score_calibration(found))
        page = LoadedInput(ink, None)
        if locks and before is None and may_be_several(page):
            before = self.corrected(ink, alternatives=alternatives)
        if locks and before is not None and len(before.lines) > 1:
            return self._corrected_lines(before, ink, locks, alternatives)
        return _raised(self._window([page], 1, alternatives, locks))[0]

    def _corrected_lines(
        self, before: Result, ink: Strokes, locks: tuple[Lock, ...], alternatives: int
    ) -> Result:
        """The lines of a result, each read with what is known of its own strokes."""
        rows = [line.strokes or () for line in before.lines]
        parts = [
            self.corrected([ink[place] for place in row], own, alternatives=alternatives)
            for row, own in zip(rows, locks_of_lines(locks, before.lines), strict=True)
        ]
        return rejoined(before, list(zip(parts, rows, strict=True)), alternatives)

    def session(self, *, alternatives: int = 0) -> PenSession:
        """An empty canvas that strokes come to and leave one by one."""
        return PenSession(self, alternatives)

    def each(
        self, inputs: Sequence[Any], batch_size: int = 8, alternatives: int = 0
    ) -> list[Result | NamerEdgeError]:
        """A result for each input, or the error that kept it from one, in order.

        Beside what `__call__` takes, an input may be a `LoadedInput`, or `Prepared` for a single
        pass.
        """
        _check_whole("batch_size", batch_size, 1)
        _check_whole("alternatives", alternatives, 0)
        answers: list[Result | NamerEdgeError] = []
        while len(answers) < len(inputs):
            following = inputs[len(answers) : len(answers) + WINDOW * batch_size]
            answers += self._window(following, batch_size, alternatives)
        return answers

    def _window(
        self,
        inputs: Sequence[Any],
        batch_size: int,
        alternatives: int,
        locks: tuple[Lock, ...] | None = None,
    ) -> list[Result | NamerEdgeError]:
        """Answers to the first of `inputs`, as many as may be open at once."""
        jobs = open_jobs(inputs, MAX_OPEN_PIXELS)
        single_pass = replace(self.single_pass, locks=locks)
        readable = [(job, job.input) for job in jobs if job.input is not None]
        answers = single_pass([value for _, value in readable], batch_size, alternatives)
        for (job, _), answer in zip(readable, answers, strict=True):
            job.take(answer)
        # Who says what strokes are has seen the lines: they are read one by one.
        found = None if locks else find_lines(jobs, single_pass, batch_size, alternatives)
        pages = found or [[Block(job, None, ())] for job in jobs]
        lines = [line.job for page in pages for line in page]
        if self.decoding.tta_scales:
            test_time_augmentation.augment(lines, single_pass, batch_size, alternatives)
        for line in lines:
            if isinstance(line.answer, Result):
                line.answer = one_line(self.score_calibration(line.answer))
        return [
            page[0].job.answer if len(page) == 1 else together(job, page, alternatives)
            for job, page in zip(jobs, pages, strict=True)
        ]


def _check_whole(name: str, number: Any, least: int) -> None:
    if not isinstance(number, SupportsIndex) or index(number) < least:
        raise UsageError(f"{name} is {number!r}: it must be a whole number from {least} on")


def _raised(answers: list[Result | NamerEdgeError], numbered: bool = False) -> list[Result]:
    """The results, unless one is an error: then that is raised, with the input's number."""
    results = []
    for number, answer in enumerate(answers):
        if isinstance(answer, NamerEdgeError):
            raise type(answer)(f"input {number}: {answer}") if numbered else answer
        results.append(answer)
    return results
