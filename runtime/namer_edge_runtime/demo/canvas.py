"""One page's canvas on the server: its strokes by the page's own ids, and what they say."""

from collections.abc import Iterable
from typing import Any

from ..errors import InkError, UsageError
from ..ink.strokes import Stroke
from ..result import Result
from ..session import PenSession
from .answers import symbols_to_json, to_json
from .settings import Settings
from .worker import Answer, Question

ALTERNATIVES = 4


class _Read:
    """A recogniser to the pen session, which has been told the answer by a worker before."""

    result: Result

    def strokes(self, strokes: list[Stroke], *, alternatives: int = 0) -> Result:
        return self.result


class Canvas:
    """Changes come from the page; `question` goes to a worker, and `told` gives its answer to the
    page."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._read = _Read()
        self._session = PenSession(self._read, ALTERNATIVES)  # type: ignore[arg-type]
        self._ids: dict[int, int] = {}  # the page's id of a stroke → the session's
        self.revision = 0
        """Of the last change, as the page counts them."""

    def change(self, message: Any) -> None:
        """Applies `{"revision": N, "remove": [id, …], "add": [{"id", "points"}, …]}`.

        Raises `UsageError` or `InkError` for what is no such thing, or too much; what comes before
        the fault is applied.
        """
        if not isinstance(message, dict) or not isinstance(message.get("revision"), int):
            raise UsageError('give an object with "revision", "add" and "remove"')
        self.revision = message["revision"]
        for name in _list(message, "remove"):
            if isinstance(name, int) and name in self._ids:  # what is gone already may go
                self._session.remove(self._ids.pop(name))
        for stroke in _list(message, "add"):
            if not isinstance(stroke, dict) or not isinstance(stroke.get("id"), int):
                raise UsageError('a stroke is {"id": N, "points": [[x, y], …]}')
            self._add(stroke["id"], stroke.get("points"))

    def _add(self, name: int, points: Any) -> None:
        if not isinstance(points, list):
            raise InkError('"points" is no list of (x, y)')
        if name in self._ids:
            raise UsageError(f"stroke {name} is on the canvas already")
        self._settings.check_ink([*self._session.strokes.values(), points])
        self._ids[name] = self._session.add(points)

    @property
    def question(self) -> Question:
        return Question(list(self._session.strokes.values()), ALTERNATIVES)

    def told(self, answer: Answer) -> dict[str, Any]:
        """`answer` to the last `question`, with the symbols and their strokes."""
        self._read.result = answer.result
        names = {identifier: name for name, identifier in self._ids.items()}
        return {
            "revision": self.revision,
            **to_json(answer),
            "symbols": symbols_to_json(self._session.symbols(), names),
        }


def _list(message: dict[str, Any], key: str) -> Iterable[Any]:
    value = message.get(key, [])
    if not isinstance(value, list):
        raise UsageError(f"{key!r} is no list")
    return value
