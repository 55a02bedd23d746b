"""Pen sessions: strokes come and go on a canvas, and symbols keep their identity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from ..errors import UsageError
from ..ink.strokes import Stroke, as_strokes
from ..result import Result


@dataclass(frozen=True)
class CanvasSymbol:
    """One visual token of the formula on the canvas."""

    id: int
    """Stays the same while the symbol does, whatever is written round it."""
    text: str
    score: float
    x: float
    y: float
    """In the strokes' unit."""
    strokes: tuple[int, ...]
    """Ids of the strokes it was written with; none for `^`, `_` and `\\limits`."""


class ReadsStrokes(Protocol):
    """What a pen session asks: a `Recognizer`, or whatever reads strokes as it does."""

    def strokes(self, strokes: Sequence[Any], *, alternatives: int = 0) -> Result: ...


class Canvas:
    """Strokes by id, and the symbols that results say they are."""

    def __init__(self) -> None:
        self._strokes: dict[int, Stroke] = {}
        self._stroke_ids = count()
        self._symbol_ids = count()
        self._symbols: tuple[CanvasSymbol, ...] = ()

    @property
    def strokes(self) -> Mapping[int, Stroke]:
        """All strokes [n, 2] on the canvas by id, in the order of writing."""
        return dict(self._strokes)

    def add(self, stroke: Any) -> int:
        """Adds a stroke [(x, y), …] and returns its id. Raises `InkError` where it is none."""
        identifier = next(self._stroke_ids)
        self._put(identifier, stroke)
        return identifier

    def remove(self, identifier: int) -> None:
        """Removes a stroke. Raises `UsageError` where none has this id."""
        self._check(identifier)
        del self._strokes[identifier]
        self._changed()

    def replace(self, identifier: int, stroke: Any) -> None:
        """Replaces a stroke, under its id. Raises `UsageError` where none has this id, `InkError`
        where the new one is no stroke."""
        self._check(identifier)
        self._put(identifier, stroke)

    def clear(self) -> None:
        """Removes all strokes."""
        self._strokes.clear()
        self._changed()

    def identify(self, result: Result) -> tuple[CanvasSymbol, ...]:
        """The symbols of a result of these strokes, in reading order.

        A symbol keeps the id of the one of the last call that shares most strokes with it, even if
        it reads otherwise now (a minus that became an equals sign); a token without ink that of the
        same text after the same symbol.
        """
        order = list(self._strokes)
        owned = [tuple(order[place] for place in places) for places in result.token_strokes or ()]
        known: dict[int, int] = {}  # place of a token → id
        shared = [
            (-len({*own} & {*symbol.strokes}), place, symbol.id)
            for place, own in enumerate(owned)
            for symbol in self._symbols
            if {*own} & {*symbol.strokes}
        ]
        for _, place, identifier in sorted(shared):
            if place not in known and identifier not in known.values():
                known[place] = identifier
        inkless: dict[tuple[str, int], int] = {}
        before = -1
        for symbol in self._symbols:
            if not symbol.strokes:
                inkless[symbol.text, before] = symbol.id
            before = symbol.id
        found: list[CanvasSymbol] = []
        before = -1
        for place, (token, own) in enumerate(zip(result.tokens, owned, strict=True)):
            identifier = known.get(place, -1)
            if not own:
                identifier = inkless.pop((token.text, before), -1)
            if identifier < 0:
                identifier = next(self._symbol_ids)
            found.append(CanvasSymbol(identifier, token.text, token.score, token.x, token.y, own))
            before = identifier
        self._symbols = tuple(found)
        return self._symbols

    def _put(self, identifier: int, stroke: Any) -> None:
        (drawn,) = as_strokes([stroke])
        self._strokes[identifier] = drawn
        self._changed()

    def _check(self, identifier: int) -> None:
        if identifier not in self._strokes:
            raise UsageError(f"no stroke {identifier!r} on the canvas: {sorted(self._strokes)}")

    def _changed(self) -> None:
        """Is called after each change."""


class PenSession(Canvas):
    """A canvas and the result of what is on it.

    A change costs nothing by itself: strokes are recognized when the result is asked for, once.
    A session belongs to one thread; its recognizer may serve many.
    """

    def __init__(self, recognizer: ReadsStrokes, alternatives: int = 0) -> None:
        super().__init__()
        self._recognizer = recognizer
        self._alternatives = alternatives
        self._result: Result | None = None
        self._identified = False

    def result(self) -> Result:
        """What is on the canvas: one recognition after a change, none where nothing changed. An
        empty canvas gives an empty result."""
        if self._result is None:
            self._result = self._recognizer.strokes(
                list(self._strokes.values()), alternatives=self._alternatives
            )
            self._identified = False
        return self._result

    def symbols(self) -> tuple[CanvasSymbol, ...]:
        """The symbols of `result()` in reading order (`Canvas.identify`)."""
        result = self.result()
        if not self._identified:
            self.identify(result)
            self._identified = True
        return self._symbols

    def _changed(self) -> None:
        self._result = None
