"""The worker process: reads requests from a pipe, one after the other."""

import json
import signal
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from ..diagnostics.cold_start import CROSS
from ..errors import EngineError, InkError, NamerEdgeError, UsageError
from ..ink.inkml import read_inkml
from ..ink.strokes import FURTHEST
from ..inputs import is_inkml
from ..recognition.evidence import Evidence, Lock
from ..recognition.pen_session import Alternative, symbol_alternatives
from ..recognizer import Recognizer
from ..result import Result
from .settings import Settings


@dataclass(frozen=True)
class ReadRequest:
    """An input on its way to a worker."""

    value: Any
    """Bytes of a picture or of InkML, strokes, or JSON that holds strokes."""
    alternatives: int = 0
    is_json: bool = False
    locks: tuple[Lock, ...] | None = None
    """What is known of strokes; where it is not None, the result keeps its evidence."""
    before: Result | None = None
    """The result of these strokes before the last correction."""


@dataclass(frozen=True)
class ReadResponse:
    """A worker's response to a `ReadRequest`."""

    result: Result
    """Without what the model saw."""
    symbol_height: float
    """Of a typical symbol, in the input's unit; 0 for a blank page."""
    symbol_alternatives: list[tuple[Alternative, ...]] | None = None
    """Other classes of each token; None where the input was no strokes."""


@dataclass(frozen=True)
class Ready:
    """The first message of a worker that has started."""

    engine: str
    device: str
    precision: str


def work(connection: Connection, settings: Settings) -> None:
    """Opens a recognizer and answers `ReadRequest`s until the pipe is closed.

    An answer is an `ReadResponse`, or the `NamerEdgeError` that kept it from being one.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who listens says when we go
    try:
        recognizer = Recognizer.from_pretrained(**settings.recognizer)
        recognizer.strokes(CROSS)
    except NamerEdgeError as error:
        connection.send(error)
        return
    engine = recognizer.engine
    connection.send(Ready(engine.name, engine.device, engine.precision))
    try:
        while True:
            connection.send(answer(recognizer, connection.recv(), settings))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def answer(
    recognizer: Recognizer, request: ReadRequest, settings: Settings
) -> ReadResponse | NamerEdgeError:
    """Reads one input; returns a typed error where that fails or the ink is too much."""
    try:
        value, locks = request.value, request.locks
        if request.is_json:
            value, locks = strokes_and_locks(request.value)
        if isinstance(value, bytes) and is_inkml(value):
            value = read_inkml(value, "ink").strokes
        others = None
        if isinstance(value, bytes):
            result = recognizer(value, alternatives=request.alternatives)
        else:
            settings.check_ink(value)
            result = recognizer.corrected(
                value, locks or (), alternatives=request.alternatives, before=request.before
            )
            others = symbol_alternatives(result)
    except NamerEdgeError as error:
        return error
    except Exception as error:
        return EngineError(f"unexpected {type(error).__name__} ({error}): please report it")
    seen = result.prepared
    height = recognizer.preprocessing.symbol_height / seen.scale if seen and not seen.blank else 0.0
    evidence = () if request.locks is None else tuple(map(_slim, result.evidence))
    lines = tuple(replace(line, result=None) for line in result.lines)
    slim = replace(result, prepared=None, evidence=evidence, lines=lines)
    return ReadResponse(slim, height, others)


def _slim(one: Evidence) -> Evidence:
    """Without the picture, which no correction needs."""
    no_picture = one.prepared.image[:0]
    return replace(one, prepared=replace(one.prepared, image=no_picture, color=None, strokes=None))


def strokes_and_locks(body: bytes) -> tuple[list[Any], tuple[Lock, ...]]:
    """Returns the strokes of `{"strokes": [[[x, y], …], …], "locks": [{"strokes": [0, …], "text":
    "x"}, …]}` and what is known of them; raises `UsageError` or `InkError`."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"this is no JSON: {error}") from None
    if not isinstance(value, dict) or "strokes" not in value:
        raise UsageError('give an object like {"strokes": [[[x, y], …], …]}')
    strokes = value["strokes"]
    if not isinstance(strokes, list):
        raise InkError('"strokes" is no list of strokes')
    return strokes, locks_of(value)


def locks_of(value: dict[str, Any]) -> tuple[Lock, ...]:
    """Returns the `"locks"` of a message, each `{"strokes": [N, …], "text": …}`, or for a token
    without ink `{"at": [x, y], "text": …}`; raises `UsageError` for what is none."""
    given = value.get("locks", [])
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise UsageError('"locks" is no list of {"strokes": [N, …], "text": "x"}')
    locks = []
    for one in given:
        text, strokes, at = one.get("text"), one.get("strokes", []), one.get("at")
        is_place = isinstance(at, list) and len(at) == 2 and all(map(_is_finite, at))
        if not (
            (text is None or isinstance(text, str))
            and isinstance(strokes, list)
            and all(type(number) is int for number in strokes)
            and (at is None or is_place)
        ):
            raise UsageError(
                f'{one!r:.80} is no lock: give "strokes" [N, …] or "at" [x, y], and "text"'
            )
        locks.append(Lock(text, tuple(sorted(strokes)), None if at is None else (at[0], at[1])))
    return tuple(locks)


def _is_finite(number: Any) -> bool:
    return type(number) in (int, float) and abs(number) <= FURTHEST
