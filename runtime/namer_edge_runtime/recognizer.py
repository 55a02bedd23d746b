"""Picture or ink in, LaTeX out: the stages put together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import index
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from .bulk.run import WINDOW
from .decode.decode import decode_all
from .decode.hypothesis import Hypothesis
from .decode.options import DecodingOptions
from .decode.pick import Nodes, pick_nodes
from .engine.base import Engine, PgdInputs, open_engine
from .errors import NamerEdgeError, UsageError
from .formula.latex import compact
from .formula.nodes import to_tokens
from .formula.vocabulary import Vocabulary
from .ink.strokes import Strokes, as_strokes
from .inputs import LoadedInput, is_strokes, open_input
from .model_file import ModelFile
from .picture.skew import slope
from .preprocessing import Prepared, Preprocessing
from .recognition.voting import Votes
from .result import Milliseconds, Reading, Result, TokenResult
from .score_calibration import ScoreCalibration

if TYPE_CHECKING:
    from .recognition.pen_session import PenSession

CELL = 8
"""Pixels of the model's input to one cell of the VAT map (F8)."""
MOST_HELD = 1 << 25
"""Pixels of open pictures beyond which no further one is opened."""


class Recognizer:
    """Reads handwritten formulas with one model on one engine.

    Holds no state of a call: usable by several threads at once, picklable where its engine is,
    deterministic. A picture is padded to its own `padded_size` alone and in a batch, and a batch
    holds one size, so both give the same answer.
    """

    def __init__(
        self,
        engine: Engine,
        preprocessing: Preprocessing,
        vocabulary: Vocabulary,
        decoding: DecodingOptions | None = None,
        score_calibration: ScoreCalibration | None = None,
    ) -> None:
        self.engine = engine
        self.preprocessing = preprocessing
        self.vocabulary = vocabulary
        self.decoding = decoding or DecodingOptions()
        self.score_calibration = score_calibration or ScoreCalibration()

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path | None = None,
        *,
        engine: str | None = None,
        device: str | None = None,
        threads: int | None = None,
        providers: Sequence[Any] | None = None,
        fallback: bool = False,
        cache_dir: str | Path | None = None,
        fixed_sizes: bool | None = None,
        one_look: bool = False,
    ) -> "Recognizer":
        """Opens a packaged model by name (the default one for None), or a model file by path.

        `engine` defaults to the one of the model's format, `threads` to the CPUs the process may
        use; `providers` goes to ONNX Runtime as it is, `cache_dir` (a folder for compiled graphs)
        and `fixed_sizes` to OpenVINO. With `one_look` nothing is read again at other sizes, which
        is quicker and reads less well. Raises `ModelFileError`, `UsageError`, `MissingExtraError`
        or `EngineError`; a device that is not there is an error unless `fallback`.
        """
        model = ModelFile.open(name_or_path)
        opened = open_engine(
            engine, model, device, threads, providers, fallback, cache_dir, fixed_sizes
        )
        decoding = replace(model.decoding, tta_scales=()) if one_look else model.decoding
        return cls(opened, model.preprocessing, model.vocabulary, decoding, model.score_calibration)

    @overload
    def __call__(self, inputs: list[Any], *, batch_size: int = ..., alternatives: int = ...) -> Any:
        """A list of inputs gives a list of results; a list of strokes is one input."""

    @overload
    def __call__(
        self, inputs: Any, *, batch_size: int = ..., alternatives: int = ...
    ) -> Result: ...

    def __call__(self, inputs: Any, *, batch_size: int = 8, alternatives: int = 0) -> Any:
        """Recognizes one input, or a list of them in order, and returns one `Result` or a list.

        An input is a path, bytes, an open file, a NumPy or PIL picture, InkML or strokes.
        Up to `alternatives` further readings, the most probable others, are returned beside the
        best. Raises the error of the first input that cannot be read, named by its number in a
        list.
        """
        if not isinstance(inputs, list | tuple) or is_strokes(inputs):
            return _raised(self.each([inputs], batch_size, alternatives))[0]
        return _raised(self.each(inputs, batch_size, alternatives), numbered=True)

    def strokes(self, strokes: Sequence[Any], *, alternatives: int = 0) -> Result:
        """Recognizes pen strokes [[(x, y), …], …], y growing downwards, any unit.

        An empty canvas is a blank page. Raises `InkError` for strokes that are none.
        """
        return _raised(self.each([LoadedInput(as_strokes(strokes), None)], 1, alternatives))[0]

    def session(self, *, alternatives: int = 0) -> "PenSession":
        """An empty canvas that strokes come to and leave one by one."""
        from .recognition.pen_session import PenSession

        return PenSession(self, alternatives)

    def each(
        self, inputs: Sequence[Any], batch_size: int = 8, alternatives: int = 0
    ) -> list[Result | NamerEdgeError]:
        """A result for each input, or the error that kept it from one, in order.

        Beside what `__call__` takes, an input may be `LoadedInput`, or `Prepared` for one look only.
        """
        _check_whole("batch_size", batch_size, 1)
        _check_whole("alternatives", alternatives, 0)
        answers: list[Result | NamerEdgeError] = []
        while len(answers) < len(inputs):
            following = inputs[len(answers) : len(answers) + WINDOW * batch_size]
            part = self._window(following, batch_size, alternatives)
            answers += [part[number] for number in range(len(part))]
        return answers

    def _window(
        self, inputs: Sequence[Any], batch_size: int, alternatives: int
    ) -> "dict[int, Result | NamerEdgeError]":
        """Opens each input once and looks at it as often as it takes to be sure; the first inputs
        alone, where pictures are large."""
        answers: dict[int, Result | NamerEdgeError] = {}
        opened: dict[int, LoadedInput | Prepared] = {}
        spent: dict[int, float] = {}
        held = 0
        for number, value in enumerate(inputs):
            started = perf_counter()
            try:
                ready = isinstance(value, LoadedInput | Prepared)
                opened[number] = value if ready else open_input(value)
            except NamerEdgeError as error:
                answers[number] = error
            spent[number] = _milliseconds(started)
            held += _pixels(opened.get(number))
            if held > MOST_HELD:
                break
        answers.update(self._look(opened, self.preprocessing, spent, batch_size, alternatives))
        if self.decoding.tta_scales:
            self._level(opened, answers, batch_size, alternatives)
        ballots = {
            number: Votes([answer])
            for number, answer in answers.items()
            if isinstance(answer, Result)
            and isinstance(opened[number], LoadedInput)
            and self._unsure(answer)
        }
        for done, factor in enumerate(self.decoding.tta_scales):
            left = len(self.decoding.tta_scales) - done
            open_ = {n: opened[n] for n, ballot in ballots.items() if not ballot.is_decided(left)}
            preprocessing = replace(
                self.preprocessing, symbol_height=self.preprocessing.symbol_height * factor
            )
            for number, answer in self._look(
                open_, preprocessing, {}, batch_size, alternatives
            ).items():
                if isinstance(answer, Result):
                    ballots[number].add(answer)
        answers.update((number, ballot.winner(alternatives)) for number, ballot in ballots.items())
        return {
            number: self.score_calibration(answer) if isinstance(answer, Result) else answer
            for number, answer in answers.items()
        }

    def _level(
        self,
        opened: "dict[int, LoadedInput | Prepared]",
        answers: "dict[int, Result | NamerEdgeError]",
        batch_size: int,
        alternatives: int,
    ) -> None:
        """What slopes and was not surely read is looked at once more, turned level. Where it is
        read more surely so, it stays level, and that is its answer."""
        level: dict[int, LoadedInput] = {}
        for number, value in opened.items():
            first = answers[number]
            if isinstance(value, LoadedInput) and isinstance(first, Result) and self._unsure(first):
                angle = slope(first.prepared.image) if first.prepared else 0.0
                if angle:
                    level[number] = value.turned(-angle)
        for number, second in self._look(
            level, self.preprocessing, {}, batch_size, alternatives
        ).items():
            first = answers[number]
            if isinstance(first, Result) and isinstance(second, Result):
                spent = first.milliseconds + second.milliseconds
                better = second if second.score > first.score else first
                answers[number] = replace(better, milliseconds=spent)
                if better is second:
                    opened[number] = level[number]

    def _look(
        self,
        opened: Mapping[int, LoadedInput | Prepared],
        preprocessing: Preprocessing,
        spent: Mapping[int, float],
        batch_size: int,
        alternatives: int,
    ) -> "dict[int, Result | NamerEdgeError]":
        """One look at each input; `spent` milliseconds were needed to open it."""
        answers: dict[int, Result | NamerEdgeError] = {}
        waiting: dict[tuple[int, int], list[_Item]] = {}
        for number, value in opened.items():
            started = perf_counter()
            try:
                prepared = value if isinstance(value, Prepared) else value.prepare(preprocessing)
            except NamerEdgeError as error:
                answers[number] = error
                continue
            milliseconds = _milliseconds(started) + spent.get(number, 0.0)
            ink = value.strokes if isinstance(value, LoadedInput) else None
            item = _Item(number, prepared, ink, milliseconds)
            if prepared.blank:
                answers[number] = self._empty(item)
                continue
            height, width = prepared.image.shape
            batch = waiting.setdefault((height, width), [])
            batch.append(item)
            if len(batch) == batch_size:
                answers.update(self._batch(waiting.pop((height, width)), alternatives))
        for batch in waiting.values():
            answers.update(self._batch(batch, alternatives))
        return answers

    def _batch(self, items: "list[_Item]", alternatives: int) -> Iterator[tuple[int, Result]]:
        """Pictures of one padded size through both graphs."""
        images = np.stack([item.prepared.planes(self.preprocessing.channels) for item in items])
        started = perf_counter()
        vat = self.engine.vat(images)
        vat_time = _milliseconds(started) / len(items)
        started = perf_counter()
        nodes = pick_nodes(vat.scores, vat.classes, vat.none, self.vocabulary, self.decoding)
        pick_time = _milliseconds(started) / len(items)
        started = perf_counter()
        pgd = self.engine.pgd(PgdInputs.of(vat, nodes))
        pgd_time = _milliseconds(started) / len(items)
        started = perf_counter()
        paths = decode_all(
            pgd.correction,
            pgd.left,
            pgd.right,
            nodes,
            self.vocabulary.endings,
            self.decoding,
            alternatives=1 + alternatives,
        )
        path_time = _milliseconds(started) / len(items)
        for item, own, found in zip(items, nodes, paths, strict=True):
            spent = Milliseconds(item.milliseconds, vat_time, pgd_time, pick_time + path_time)
            yield item.number, self._result(found, own, item, alternatives, spent)

    def _result(
        self,
        paths: list[Hypothesis],
        nodes: Nodes,
        item: "_Item",
        alternatives: int,
        spent: Milliseconds,
    ) -> Result:
        said: dict[str, Hypothesis] = {}
        for path in paths:
            tokens = [self.vocabulary.token(int(number)) for number in path.classes]
            said.setdefault(" ".join(to_tokens(tokens, self.vocabulary)), path)
        best, *others = [
            Reading(
                compact(canonical.split(), self.vocabulary),
                canonical,
                float(path.score),
                self._tokens(path, nodes, item.prepared),
            )
            for canonical, path in list(said.items())[: 1 + alternatives]
        ]
        return Result(
            best.latex,
            best.canonical,
            best.score,
            best.tokens,
            tuple(others),
            *self._ran(),
            milliseconds=spent,
            truncated=nodes.truncated,
            prepared=item.prepared,
            ink=item.ink,
        )

    def _tokens(
        self, path: Hypothesis, nodes: Nodes, prepared: Prepared
    ) -> tuple[TokenResult, ...]:
        """The visual tokens on the path, at the centers of their cells."""
        visual = np.flatnonzero(path.classes < self.vocabulary.size)
        cells = nodes.cells[path.nodes[visual]]
        places = prepared.to_input((cells[:, ::-1] + 0.5) * CELL)
        return tuple(
            TokenResult(
                self.vocabulary.token(int(path.classes[place])),
                float(path.node_scores[place]),
                float(x),
                float(y),
            )
            for place, (x, y) in zip(visual, places, strict=True)
        )

    def _empty(self, item: "_Item") -> Result:
        """What a blank page gives: a result, not an error."""
        spent = Milliseconds(prepare=item.milliseconds)
        return Result(
            *("", "", 0.0, (), (), *self._ran()),
            milliseconds=spent,
            prepared=item.prepared,
            ink=item.ink,
        )

    def _unsure(self, first: Result) -> bool:
        return first.score < self.decoding.confidence_threshold

    def _ran(self) -> tuple[str, str, str]:
        return self.engine.name, self.engine.device, self.engine.precision


@dataclass(frozen=True)
class _Item:
    """One prepared input on its way."""

    number: int
    prepared: Prepared
    ink: Strokes | None
    milliseconds: float


def _pixels(opened: LoadedInput | Prepared | None) -> int:
    return (
        opened.picture.size if isinstance(opened, LoadedInput) and opened.picture is not None else 0
    )


def _milliseconds(started: float) -> float:
    return (perf_counter() - started) * 1000


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
