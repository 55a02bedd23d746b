"""Lines of a page: found by the white between them, and by how surely they read without it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from ..formula.aligned import aligned
from ..formula.expression import Expression
from ..ink.grid import Grid, find_grids
from ..ink.text_lines import Cut, best_cut
from ..inputs import LoadedInput
from ..result import Line, Reading, Result
from .job import Job
from .page import Page
from .single_pass import SinglePass

SURE = 0.5
"""Score at which a cut that would hold needs no reading."""
SURER = 10.0
"""Least ratio of the score of a grid's parts together to that of the whole."""
MOST_LINES = 64
"""Most lines of a page, which bounds the passes; further lines stay together."""
CERTAIN = 0.9
"""Least score of a reading that is taken for one line without searching for a cut."""
FEW, HIGH = 4, 200
"""Shapes for each token, beyond which the reading of a picture so many pixels high leaves most of
them out: a page that was scaled down so far that nothing can be read may read as a sure 1."""
LEAST_SURE = 1e-3
"""A page that reads surer than this as one line is compared with its lines."""


@dataclass
class Block:
    """A part of a page that is one line, or is cut in two."""

    job: Job
    page: Page | None
    own: tuple[int, ...]
    """Which shapes of the page it holds."""
    among_lines: bool = False
    """Whether the page has other lines."""
    halves: tuple["Block", ...] = ()

    @classmethod
    def whole(cls, job: Job) -> "Block":
        """The block of an input that was read once."""
        page = None
        if isinstance(job.answer, Result) and isinstance(job.input, LoadedInput):
            drawn = job.answer.prepared
            if job.answer.canonical or (drawn is not None and len(drawn.image) >= HIGH):
                page = Page.of(job.input)
        return cls(job, page, tuple(range(len(page.shapes))) if page else ())

    @cached_property
    def grids(self) -> list[Grid]:
        """The matrices and cases in it; none where it reads too surely for them."""
        if self.page is None or (self.score or 0.0) * SURER >= 1:
            return []
        found = find_grids([self.page.shapes[number] for number in self.own])
        return [grid.numbered(self.own) for grid in found]

    @cached_property
    def units(self) -> list[tuple[int, ...]]:
        """Its shapes, those of one grid together."""
        grids = [tuple(grid.shapes) for grid in self.grids]
        inside = {number for grid in grids for number in grid}
        return [*grids, *((number,) for number in self.own if number not in inside)]

    @cached_property
    def cut(self) -> Cut | None:
        """Where it may be cut: not through a grid."""
        if self.page is None:
            return None
        shapes = self.page.shapes
        return best_cut([np.concatenate([shapes[n] for n in unit]) for unit in self.units])

    @property
    def strokes(self) -> tuple[int, ...]:
        """Its strokes, as their places in the ink of the whole input."""
        if self.page is None:
            ink = self.job.input.strokes if isinstance(self.job.input, LoadedInput) else None
            return tuple(range(len(ink or ())))
        return self.page.strokes(self.own) or ()

    @property
    def score(self) -> float | None:
        """As one line, 0 where the reading leaves most of it out; None before it was read, or where
        it cannot be."""
        answer = self.job.answer
        if not isinstance(answer, Result) or answer.prepared is None:
            return None
        few = FEW * len(answer.tokens) < len(self.own)
        return 0.0 if few and len(answer.prepared.image) >= HIGH else answer.score

    def divide(self, score: float | None, among_lines: bool = False) -> None:
        """Cuts it in two, if its cut holds where it reads with this score."""
        if self.page is None or score is None or score >= CERTAIN:
            return
        if self.page.lines == MOST_LINES:
            return
        cut = self.cut
        if cut is None or not cut.holds(score, among_lines):
            return
        self.page.lines += 1
        for upper in (True, False):
            own = tuple(
                number
                for unit, above in zip(self.units, cut.above.tolist(), strict=True)
                for number in unit
                if above == upper
            )
            part = Job.open(self.page.part(tuple(sorted(own))))
            half = Block(part, self.page, tuple(sorted(own)), among_lines=True)
            self.halves += (half,)

    def unread(self) -> Iterator["Block"]:
        """Its parts that are to be read, after it is cut wherever that is `SURE`."""
        self.divide(SURE)
        if not self.halves:
            yield self
        for half in self.halves:
            yield from half.unread()

    def lines(self) -> list["Block"]:
        """Its lines from above to below; itself where it reads surer than they do together."""
        lines = [line for half in self.halves for line in half.lines()] or [self]
        surer = self.score or 0.0
        if surer > LEAST_SURE and prod(line.score or 0.0 for line in lines) < surer:
            return [self]
        return lines


def find_lines(
    jobs: Sequence[Job], single_pass: SinglePass, batch_size: int, alternatives: int
) -> list[list[Block]]:
    """The lines of each job that had its first pass, each with a job of its own that has, too.

    Parts are cut in two for as long as their likeliest cut holds; they are read as one line first,
    unless it is `SURE`. A page of n lines takes at most 2 n - 1 passes, a formula one.
    """
    wholes = [Block.whole(job) for job in jobs]
    read = wholes
    while read:
        for block in read:
            block.divide(block.score, block.among_lines)
        read = [part for block in read for half in block.halves for part in half.unread()]
        inputs = [block.job.input for block in read if block.job.input is not None]
        for block, answer in zip(read, single_pass(inputs, batch_size, alternatives), strict=True):
            block.job.take(answer)
    return [whole.lines() for whole in wholes]


def one_line(result: Result) -> Result:
    """The result with itself as its only line; a blank page has none."""
    if not result.canonical:
        return result
    strokes = None if result.ink is None else tuple(range(len(result.ink)))
    return replace(result, lines=(_line(result, strokes),))


def together(whole: Job, lines: Sequence[Block], alternatives: int) -> Result:
    """The result of a page from those of its lines; raises nothing, for all of them were read."""
    results = [line.job.answer for line in lines if isinstance(line.job.answer, Result)]
    first = whole.answer
    assert isinstance(first, Result)
    found = tuple(
        _line(result, line.page.strokes(line.own) if line.page else None)
        for line, result in zip(lines, results, strict=True)
    )
    best, *others = [_joined(rows) for rows in _choices(found, alternatives)]
    return replace(
        first,
        latex=best.latex,
        canonical=best.canonical,
        score=best.score,
        tokens=best.tokens,
        alternatives=tuple(others),
        milliseconds=sum((r.milliseconds for r in results), start=first.milliseconds),
        truncated=any(result.truncated for result in results),
        lines=found,
        evidence=(),
        locked=tuple(_shifted(found)),
    )


def _shifted(lines: Sequence[Line]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """`Result.locked` of all lines together."""
    first = 0
    for line in lines:
        for place, own in line.result.locked if line.result else ():
            yield first + place, tuple((line.strokes or ())[number] for number in own)
        first += len(line.tokens)


def _line(result: Result, strokes: tuple[int, ...] | None) -> Line:
    return Line(
        *(result.latex, result.canonical, result.score, result.tokens),
        strokes=strokes,
        alternatives=result.alternatives,
        result=result,
        vocabulary=result.vocabulary,
    )


def _choices(lines: tuple[Line, ...], alternatives: int) -> list[list[Reading]]:
    """The lines as read, then with one of them read otherwise, the most probable first."""
    best: list[Reading] = list(lines)
    others = [
        [*best[:place], other, *best[place + 1 :]]
        for place, line in enumerate(lines)
        for other in line.alternatives
    ]
    others.sort(key=lambda rows: -prod(row.score for row in rows))
    return [best, *others[:alternatives]]


def _joined(rows: Sequence[Reading]) -> Reading:
    vocabulary = rows[0].vocabulary
    whole = Expression(aligned(row.canonical.split() for row in rows), vocabulary)
    return Reading(
        whole.latex,
        whole.canonical,
        prod(row.score for row in rows),
        tuple(token for row in rows for token in row.tokens),
        vocabulary=vocabulary,
    )
