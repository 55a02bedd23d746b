"""Pen sessions: strokes come and go on a canvas, and symbols keep their identity."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Protocol, runtime_checkable

from ..errors import UsageError
from ..formula.vocabulary import INKLESS
from ..ink.strokes import Stroke, as_strokes, bounds
from ..result import Result
from .evidence import Lock, class_probabilities, meeting
from .locks import check_locks

ALTERNATIVES = 8
"""Classes that are offered in the place of one: the right one is among them for 95 % of the
symbols of CROHME 2013 that are read wrong."""


@dataclass(frozen=True)
class Alternative:
    """A class that a symbol may have."""

    text: str
    score: float
    """Its probability over all passes, by VAT and PGD together."""


@dataclass(frozen=True)
class CanvasSymbol:
    """One visual token of the formula on the canvas."""

    id: int
    """Stays the same while the symbol does, whatever is written round it."""
    text: str
    score: float
    x: float
    y: float
    """Position, in the strokes' unit."""
    strokes: tuple[int, ...]
    """Ids of the strokes it was written with; none for `^`, `_` and `\\limits`."""
    locked: bool = False
    """Whether the writer said what it is, or which strokes it has."""
    alternatives: tuple[Alternative, ...] = ()
    """The likeliest classes it may have instead, over all passes; none from recognizers that
    cannot be corrected."""


@dataclass(frozen=True)
class _Known:
    """A lock on the canvas, by the ids of its strokes."""

    text: str | None
    strokes: frozenset[int]
    at: tuple[float, float] | None = None
    beside: frozenset[int] = frozenset()
    """Strokes of the neighbors of a token without ink: it goes with them."""


class ReadsStrokes(Protocol):
    """Protocol of a pen session's recognizer, which `Recognizer` fulfills."""

    def strokes(self, strokes: Sequence[Any], *, alternatives: int = 0) -> Result: ...


@runtime_checkable
class ReadsCorrected(Protocol):
    """A recognizer that takes what is known of strokes, as `Recognizer` does."""

    def corrected(
        self,
        strokes: Sequence[Any],
        locks: Sequence[Lock] = (),
        *,
        alternatives: int = 0,
        before: Result | None = None,
    ) -> Result: ...


class Canvas:
    """Strokes by id, and the symbols that results assign them to."""

    def __init__(self) -> None:
        self._strokes: dict[int, Stroke] = {}
        self._stroke_ids = count()
        self._symbol_ids = count()
        self._symbols: tuple[CanvasSymbol, ...] = ()
        self._known: list[_Known] = []

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
        """Removes a stroke, and what was said of it. Raises `UsageError` where none has this id."""
        self._check(identifier)
        del self._strokes[identifier]
        self._forget({identifier})
        self._changed()

    def replace(self, identifier: int, stroke: Any) -> None:
        """Replaces a stroke, under its id, and forgets what was said of it. Raises `UsageError`
        where none has this id, `InkError` where the new one is no stroke."""
        self._check(identifier)
        self._put(identifier, stroke)
        self._forget({identifier})

    def clear(self) -> None:
        """Removes all strokes."""
        self._strokes.clear()
        self._known.clear()
        self._changed()

    @property
    def locks(self) -> tuple[Lock, ...]:
        """The writer's corrections, by the strokes' places on the canvas."""
        place = {identifier: number for number, identifier in enumerate(self._strokes)}
        return tuple(
            Lock(known.text, tuple(sorted(place[one] for one in known.strokes)), known.at)
            for known in self._known
        )

    def lock(self, strokes: Iterable[int], text: str | None = None) -> None:
        """Says that strokes are one symbol and, with `text`, which one; later strokes do not undo
        it. "" says that they stand for nothing. Raises `UsageError` for strokes that are not
        there."""
        own = self._own(strokes)
        self._known = [one for one in self._known if not own & one.strokes]
        self._known.append(_Known(text, own))
        self._corrected()

    def lock_inkless(self, at: tuple[float, float], beside: Iterable[int], text: str) -> None:
        """Says which token without ink stands at a place, or with "" that none does, as long as the
        strokes `beside` it stay. Raises `UsageError` for strokes that are not there."""
        near = frozenset(beside)
        for identifier in near:
            self._check(identifier)
        self._known = [one for one in self._known if one.strokes or one.beside != near]
        self._known.append(_Known(text, frozenset(), at, near))
        self._corrected()

    def release(self, strokes: Iterable[int]) -> None:
        """Forgets what was said of strokes."""
        if self._forget(_ids(strokes)):
            self._changed()

    def _forget(self, strokes: Set[int]) -> bool:
        kept = [one for one in self._known if not strokes & (one.strokes | one.beside)]
        changed = len(kept) < len(self._known)
        self._known = kept
        return changed

    def identify(
        self, result: Result, others: Sequence[tuple[Alternative, ...]] | None = None
    ) -> tuple[CanvasSymbol, ...]:
        """The symbols of a result of these strokes, in reading order; `others` are its
        `symbol_alternatives`, where they are there already.

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
        others = others or symbol_alternatives(result) or [()] * len(owned)
        locked = {place for place, _ in result.locked}
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
            symbol = CanvasSymbol(identifier, token.text, token.score, token.x, token.y, own)
            found.append(replace(symbol, locked=place in locked, alternatives=others[place]))
            before = identifier
        self._symbols = tuple(found)
        return self._symbols

    def _put(self, identifier: int, stroke: Any) -> None:
        (drawn,) = as_strokes([stroke])
        self._strokes[identifier] = drawn
        self._changed()

    def _own(self, strokes: Iterable[int]) -> frozenset[int]:
        own = _ids(strokes)
        for identifier in own:
            self._check(identifier)
        if not own:
            raise UsageError("no strokes to say anything of")
        return own

    def _check(self, identifier: int) -> None:
        if identifier not in self._strokes:
            raise UsageError(f"no stroke {identifier!r} on the canvas: {sorted(self._strokes)}")

    def _changed(self) -> None:
        """Is called after each change."""

    def _corrected(self) -> None:
        """Is called after each correction."""


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
        self._before: Result | None = None  # of the same strokes, before a correction
        self._identified = False

    def result(self) -> Result:
        """What is on the canvas: one recognition after a change, none where nothing changed. An
        empty canvas gives an empty result."""
        if self._result is None:
            ink = list(self._strokes.values())
            if isinstance(self._recognizer, ReadsCorrected):
                self._result = self._recognizer.corrected(
                    ink, self.locks, alternatives=self._alternatives, before=self._before
                )
            else:
                self._result = self._recognizer.strokes(ink, alternatives=self._alternatives)
            self._identified = False
        return self._result

    def symbols(self) -> tuple[CanvasSymbol, ...]:
        """The symbols of `result()` in reading order (`Canvas.identify`)."""
        result = self.result()
        if not self._identified:
            self.identify(result)
            self._identified = True
        return self._symbols

    def choose(self, symbol: CanvasSymbol | int, text: str) -> None:
        """Says what a symbol is, given as one of `symbols()` or by its id; later strokes do not
        undo it. The result follows in about a millisecond, from the passes there are.

        Raises `UsageError` for a symbol that is not there, and for a text that is no token of the
        model or does not fit its ink.
        """
        one = self._symbol(symbol)
        self._check_text(text, len(one.strokes), None if one.strokes else (one.x, one.y))
        if one.strokes:
            self.lock(one.strokes, text)
        else:
            self._lock_before(self._symbols.index(one) + 1, text)

    def script(self, symbol: CanvasSymbol | int, text: str) -> None:
        """Says that a symbol begins a superscript ("^"), a subscript ("_"), what stands below an
        operator ("\\limits"), or none of these ("").

        Raises `UsageError` for a symbol that is not there, is the first or has no ink, and for
        another text.
        """
        one = self._symbol(symbol)
        if text not in ("", *INKLESS):
            raise UsageError(f"{text!r} is no script: give one of ^, _, \\limits or nothing")
        place = self._symbols.index(one)
        if not one.strokes or not any(before.strokes for before in self._symbols[:place]):
            raise UsageError(f"{one.text!r} has no ink, or nothing stands before it")
        self._lock_before(place, text)

    def _lock_before(self, place: int, text: str) -> None:
        """Locks the token without ink before a symbol, or that there is none."""
        before = [one for one in self._symbols[:place] if one.strokes][-1:]
        behind = [one for one in self._symbols[place:] if one.strokes][:1]
        there = self._symbols[place - 1]
        if there.strokes:
            boxes = [bounds([self._strokes[n] for n in one.strokes]) for one in before + behind]
            at = meeting(*boxes)
        else:
            at = (there.x, there.y)
        beside = [stroke for one in before + behind for stroke in one.strokes]
        self.lock_inkless(at, beside, text)

    def delete(self, symbol: CanvasSymbol | int) -> None:
        """Takes a symbol away with its strokes; one without ink is said not to be there. Raises
        `UsageError` for a symbol that is not there."""
        one = self._symbol(symbol)
        for stroke in one.strokes:
            self.remove(stroke)
        if not one.strokes:
            self._lock_before(self._symbols.index(one) + 1, "")

    def join(self, strokes: Iterable[int], text: str | None = None) -> None:
        """Says that strokes belong together, as one symbol (`Canvas.lock`). Raises `UsageError` as
        `choose` does."""
        self._check_corrects()
        own = self._own(strokes)
        if text is not None:
            self._check_text(text, len(own))
        self.lock(own, text)

    def split(self, *parts: Iterable[int]) -> None:
        """Says that strokes do not belong together: those of each part are a symbol of their own.
        Raises `UsageError` for strokes that are not there or stand in two parts."""
        self._check_corrects()
        groups = [self._own(part) for part in parts]
        if len(frozenset().union(*groups)) < sum(map(len, groups)):
            raise UsageError("a stroke stands in two parts: give each one once")
        for group in groups:
            self.lock(group)

    def _check_text(self, text: str, size: int, at: tuple[float, float] | None = None) -> None:
        vocabulary = self.result().vocabulary
        if vocabulary is not None:
            check_locks([Lock(text, tuple(range(size)), at)], size, vocabulary)

    def _symbol(self, symbol: CanvasSymbol | int) -> CanvasSymbol:
        self._check_corrects()
        identifier = symbol.id if isinstance(symbol, CanvasSymbol) else symbol
        for one in self.symbols():
            if one.id == identifier:
                return one
        raise UsageError(f"no symbol {identifier!r} on the canvas")

    def _check_corrects(self) -> None:
        if not isinstance(self._recognizer, ReadsCorrected):
            raise UsageError(f"{type(self._recognizer).__name__} takes no corrections")

    def _changed(self) -> None:
        self._result = self._before = None

    def _corrected(self) -> None:
        self._before = self._result or self._before
        self._result = None


def symbol_alternatives(result: Result) -> list[tuple[Alternative, ...]]:
    """The likeliest other classes of each of a result's tokens; empty where it kept no evidence."""
    if len(result.lines) > 1:
        found = [symbol_alternatives(line.result) if line.result else [] for line in result.lines]
        return [one for line in found for one in line] if all(found) else []
    if not result.evidence or result.vocabulary is None:
        return []
    owned = result.token_strokes or ()
    groups = [
        Lock(None, own, None if own else (token.x, token.y))
        for token, own in zip(result.tokens, owned, strict=True)
    ]
    ranked = class_probabilities(result.evidence, result.ink or [], groups, result.vocabulary)
    return [
        tuple(Alternative(*c) for c in classes if c[0] != token.text and c[1] > 0)[:ALTERNATIVES]
        for token, classes in zip(result.tokens, ranked, strict=True)
    ]


def _ids(strokes: Iterable[int]) -> frozenset[int]:
    try:
        return frozenset(strokes)
    except TypeError:
        raise UsageError(f"{strokes!r:.60}: give the strokes' ids as a list") from None
