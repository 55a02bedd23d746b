"""A page's canvas on the server: its strokes by the page's own ids, and their symbols."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..errors import InkError, UsageError
from ..recognition.evidence import Lock
from ..recognition.pen_session import Canvas
from ..result import Result
from .responses import symbols_to_json, to_json
from .settings import Settings
from .worker import ReadRequest, ReadResponse, locks_of

ALTERNATIVES = 4


class PageCanvas:
    """A canvas takes changes from the page, gives `request` to a worker and turns the worker's
    response into the page's JSON with `to_message`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._canvas = Canvas()
        self._ids: dict[int, int] = {}  # the page's id of a stroke → the canvas's
        self._locks: tuple[Lock, ...] = ()  # by the page's ids
        self._before: Result | None = None  # of the strokes there are
        self.revision = 0
        """Of the last change, as the page counts them."""

    def change(self, message: Any) -> None:
        """Applies `{"revision": N, "remove": [id, …], "add": [{"id", "points"}, …], "locks":
        [{"strokes": [id, …], "text"}, …]}`. Locks, where they are given, take the place of all
        that there were; those of strokes that are gone go.

        Raises `UsageError` or `InkError` for a malformed or oversized change; whatever precedes
        the fault is applied.
        """
        if not isinstance(message, dict) or not isinstance(message.get("revision"), int):
            raise UsageError('give an object with "revision", "add" and "remove"')
        self.revision = message["revision"]
        for name in _list(message, "remove"):
            if isinstance(name, int) and name in self._ids:  # what is gone already may go
                self._canvas.remove(self._ids.pop(name))
                self._before = None
        for stroke in _list(message, "add"):
            if not isinstance(stroke, dict) or not isinstance(stroke.get("id"), int):
                raise UsageError('a stroke is {"id": N, "points": [[x, y], …]}')
            self._add(stroke["id"], stroke.get("points"))
        if "locks" in message:
            self._locks = locks_of(message)
        gone = [lock for lock in self._locks if not self._ids.keys() >= {*lock.strokes}]
        self._locks = tuple(lock for lock in self._locks if lock not in gone)

    def _add(self, name: int, points: Any) -> None:
        if not isinstance(points, list):
            raise InkError('"points" is no list of (x, y)')
        if name in self._ids:
            raise UsageError(f"stroke {name} is on the canvas already")
        self._settings.check_ink([*self._canvas.strokes.values(), points])
        self._ids[name] = self._canvas.add(points)
        self._before = None

    @property
    def request(self) -> ReadRequest:
        place = {name: number for number, name in enumerate(self._ids)}
        locks = [
            replace(lock, strokes=tuple(sorted(place[name] for name in lock.strokes)))
            for lock in self._locks
        ]
        ink = list(self._canvas.strokes.values())
        return ReadRequest(ink, ALTERNATIVES, locks=tuple(locks), before=self._before)

    def to_message(self, response: ReadResponse) -> dict[str, Any]:
        """Returns the response to the last `request` as JSON, with symbols and their strokes."""
        self._before = response.result
        names = {identifier: name for name, identifier in self._ids.items()}
        return {
            "revision": self.revision,
            **to_json(response),
            "symbols": symbols_to_json(
                self._canvas.identify(response.result, response.symbol_alternatives), names
            ),
        }


def _list(message: dict[str, Any], key: str) -> Iterable[Any]:
    value = message.get(key, [])
    if not isinstance(value, list):
        raise UsageError(f"{key!r} is no list")
    return value
