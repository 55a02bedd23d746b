"""The worker process: reads requests from a pipe, one after the other."""

import json
import signal
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from ..diagnostics.cold_start import CROSS
from ..errors import EngineError, InkError, NamerEdgeError, UsageError
from ..ink.inkml import read_inkml
from ..inputs import is_inkml
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


@dataclass(frozen=True)
class ReadResponse:
    """A worker's response to a `ReadRequest`."""

    result: Result
    """Without what the model saw."""
    symbol_height: float
    """Of a typical symbol, in the input's unit; 0 for a blank page."""


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
        value = strokes_of(request.value) if request.is_json else request.value
        if isinstance(value, bytes) and is_inkml(value):
            value = read_inkml(value, "ink").strokes
        if isinstance(value, bytes):
            result = recognizer(value, alternatives=request.alternatives)
        else:
            settings.check_ink(value)
            result = recognizer.strokes(value, alternatives=request.alternatives)
    except NamerEdgeError as error:
        return error
    except Exception as error:
        return EngineError(f"unexpected {type(error).__name__} ({error}): please report it")
    seen = result.prepared
    height = recognizer.preprocessing.symbol_height / seen.scale if seen and not seen.blank else 0.0
    return ReadResponse(replace(result, prepared=None), height)


def strokes_of(body: bytes) -> list[Any]:
    """Returns the strokes of `{"strokes": [[[x, y], …], …]}`; raises `UsageError` or `InkError`."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"this is no JSON: {error}") from None
    if not isinstance(value, dict) or "strokes" not in value:
        raise UsageError('give an object like {"strokes": [[[x, y], …], …]}')
    strokes = value["strokes"]
    if not isinstance(strokes, list):
        raise InkError('"strokes" is no list of strokes')
    return strokes
