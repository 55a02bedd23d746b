"""One page's canvas on the server: its strokes by the page's own ids, and what they say."""

from collections.abc import Iterable
from typing import Any

from ..errors import InkError, UsageError
from ..recognition.pen_session import Canvas
from .responses import symbols_to_json, to_json
from .settings import Settings
from .worker import ReadRequest, ReadResponse

ALTERNATIVES = 4


class PageCanvas:
    """A canvas takes changes from the page, gives `request` to a worker and turns the worker's
    response into the page's JSON with `to_message`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._canvas = Canvas()
        self._ids: dict[int, int] = {}  # the page's id of a stroke → the canvas's
        self.revision = 0
        """Of the last change, as the page counts them."""

    def change(self, message: Any) -> None:
        """Applies `{"revision": N, "remove": [id, …], "add": [{"id", "points"}, …]}`.

        Raises `UsageError` or `InkError` for a malformed or oversized change; whatever precedes
        the fault is applied.
        """
        if not isinstance(message, dict) or not isinstance(message.get("revision"), int):
            raise UsageError('give an object with "revision", "add" and "remove"')
        self.revision = message["revision"]
        for name in _list(message, "remove"):
            if isinstance(name, int) and name in self._ids:  # what is gone already may go
                self._canvas.remove(self._ids.pop(name))
        for stroke in _list(message, "add"):
            if not isinstance(stroke, dict) or not isinstance(stroke.get("id"), int):
                raise UsageError('a stroke is {"id": N, "points": [[x, y], …]}')
            self._add(stroke["id"], stroke.get("points"))

    def _add(self, name: int, points: Any) -> None:
        if not isinstance(points, list):
            raise InkError('"points" is no list of (x, y)')
        if name in self._ids:
            raise UsageError(f"stroke {name} is on the canvas already")
        self._settings.check_ink([*self._canvas.strokes.values(), points])
        self._ids[name] = self._canvas.add(points)

    @property
    def request(self) -> ReadRequest:
        return ReadRequest(list(self._canvas.strokes.values()), ALTERNATIVES)

    def to_message(self, response: ReadResponse) -> dict[str, Any]:
        """Returns the response to the last `request` as JSON, with symbols and their strokes."""
        names = {identifier: name for name, identifier in self._ids.items()}
        return {
            "revision": self.revision,
            **to_json(response),
            "symbols": symbols_to_json(self._canvas.identify(response.result), names),
        }


def _list(message: dict[str, Any], key: str) -> Iterable[Any]:
    value = message.get(key, [])
    if not isinstance(value, list):
        raise UsageError(f"{key!r} is no list")
    return value
