"""Matrices, determinants and cases: lines whose grids are read cell by cell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ..formula.expression import Expression
from ..formula.vocabulary import CELL, ROW, begin, end
from ..ink.grid import Grid
from ..result import Result
from .job import Job
from .lines import SURER, Block
from .page import Page
from .single_pass import SinglePass

ENVIRONMENTS = {"(": "pmatrix", "[": "bmatrix", "{": "Bmatrix", "|": "vmatrix"}
"""Left bracket → environment; a brace without its twin opens `cases`."""
RAISED, LOWERED = 0.45, 0.65
"""Shares of a matrix's height above which a superscript ends, and below which a subscript
begins."""

Part = tuple[str, Job]
"""What stands before a part, and its job: tokens of brackets, cells, rows and scripts."""


@dataclass
class Table:
    """A line with grids, as the parts that are read one by one."""

    line: Block
    parts: list[Part]
    closing: str
    """Tokens after the last part."""

    @property
    def jobs(self) -> list[Job]:
        return [job for _, job in self.parts]

    def holds(self) -> bool:
        """Whether all parts together read surer than the line as one formula."""
        scores = [job.answer.score if isinstance(job.answer, Result) else 0.0 for job in self.jobs]
        return prod(scores) > SURER * (self.line.score or 0.0)

    def compose(self) -> None:
        """Gives the line the answer that its parts make together."""
        results = [job.answer for job in self.jobs if isinstance(job.answer, Result)]
        whole = self.line.job.answer
        assert isinstance(whole, Result)
        text = " ".join(
            f"{before} {result.canonical}"
            for (before, _), result in zip(self.parts, results, strict=True)
        )
        tokens = tuple(f"{text} {self.closing}".split())
        self.line.job.answer = replace(
            whole,
            latex=Expression(tokens, whole.vocabulary).latex,
            canonical=" ".join(tokens),
            score=prod(result.score for result in results),
            tokens=tuple(token for result in results for token in result.tokens),
            alternatives=(),
            milliseconds=sum((r.milliseconds for r in results), start=whole.milliseconds),
            truncated=any(result.truncated for result in results),
            evidence=(),
        )


def find_tables(
    lines: Sequence[Block], single_pass: SinglePass, batch_size: int, alternatives: int
) -> list[Table]:
    """The lines that read surer with their grids taken apart, all parts after their first pass."""
    tables = [table for line in lines if line.grids and (table := _taken_apart(line))]
    jobs = [job for table in tables for job in table.jobs]
    inputs = [job.input for job in jobs if job.input is not None]
    for job, answer in zip(jobs, single_pass(inputs, batch_size, alternatives), strict=True):
        job.take(answer)
    return [table for table in tables if table.holds()]


def _taken_apart(line: Block) -> Table | None:
    assert line.page is not None
    parts: list[Part] = []
    before = ""
    for tokens, own in _pieces(line.page, line.own, line.grids):
        before = f"{before} {tokens}".strip()
        if own:
            parts.append((before, Job.open(line.page.part(own))))
            before = ""
    return Table(line, parts, before) if parts else None


def _pieces(
    page: Page, own: Sequence[int], grids: Sequence[Grid]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Tokens, and the shapes that are read behind them, from left to right."""
    inside = {number for grid in grids for number in grid.shapes}
    middle = {n: float(page.shapes[n][:, 0].mean()) for n in own if n not in inside}
    rest = sorted(middle, key=middle.__getitem__)
    for grid in grids:
        edge = max(float(page.shapes[n][:, 0].max()) for n in grid.opening)
        left = tuple(n for n in rest if middle[n] < edge)
        rest = [n for n in rest if middle[n] >= edge]
        yield "", left
        name = ENVIRONMENTS[grid.bracket] if grid.closing else "cases"
        yield begin(name), ()
        for row, cells in enumerate(grid.cells):
            for column, cell in enumerate(cells):
                yield (ROW if row else "") if column == 0 else CELL, cell
        yield end(begin(name)), ()
        for relation, script in zip(("_", "^"), _scripts(page, rest, grid), strict=True):
            if script:
                yield f"{relation} {{", script
                yield "}", ()
                rest = [n for n in rest if n not in script]
    yield "", tuple(rest)


def _scripts(
    page: Page, following: Sequence[int], grid: Grid
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shapes right behind a grid that are its subscript and its superscript."""
    stem = np.concatenate([page.shapes[n] for n in (*grid.opening, *grid.closing)])
    low, high = float(stem[:, 1].min()), float(stem[:, 1].max())
    scripts: tuple[list[int], list[int]] = ([], [])
    for number in following if grid.closing else ():
        top, bottom = page.shapes[number][:, 1].min(), page.shapes[number][:, 1].max()
        if bottom < low + RAISED * (high - low):
            scripts[1].append(number)
        elif top > low + LOWERED * (high - low):
            scripts[0].append(number)
        else:
            break
    return tuple(scripts[0]), tuple(scripts[1])
