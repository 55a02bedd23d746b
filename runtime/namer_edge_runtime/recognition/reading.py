"""Reading of opened inputs: first pass, lines, tables, test-time augmentation."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import NamerEdgeError
from ..inputs import LoadedInput
from ..result import Result
from . import test_time_augmentation
from .evidence import Lock
from .job import Job
from .lines import find_lines, one_line, together
from .locks import locks_of_lines
from .single_pass import SinglePass
from .tables import find_tables


def read_jobs(
    jobs: Sequence[Job],
    single_pass: SinglePass,
    locks: tuple[Lock, ...],
    batch_size: int,
    alternatives: int,
    calibrated: Callable[[Result], Result],
) -> list[Result | NamerEdgeError]:
    """The answer to each job; `locks` are of the ink of the only one."""
    _read(jobs, single_pass, batch_size, alternatives)
    pages = find_lines(jobs, single_pass, batch_size, alternatives)
    lines = [line for page in pages for line in page]
    tables = find_tables(lines, single_pass, batch_size, alternatives) if not locks else []
    apart = {id(table.line) for table in tables}
    whole = [line.job for line in lines if id(line) not in apart]
    read = [*whole, *(job for table in tables for job in table.jobs)]
    passes: list[tuple[Sequence[Job], SinglePass]] = [(read, single_pass)]
    if locks and isinstance(jobs[0].input, LoadedInput):
        own = locks_of_lines([line.strokes for line in lines], locks, jobs[0].input.strokes or [])
        passes = [
            ([line.job], replace(single_pass, locks=known))
            for line, known in zip(lines, own, strict=True)
        ]
    for some, with_locks in passes:
        if with_locks.locks:
            _read(some, with_locks, batch_size, alternatives)
        if single_pass.decoding.tta_scales:
            test_time_augmentation.augment(some, with_locks, batch_size, alternatives)
    for job in read:
        if isinstance(job.answer, Result):
            job.answer = calibrated(job.answer)
    for table in tables:
        table.compose()
    for line in lines:
        if isinstance(line.job.answer, Result):
            line.job.answer = one_line(line.job.answer)
    return [
        page[0].job.checked() if len(page) == 1 else together(job, page, alternatives)
        for job, page in zip(jobs, pages, strict=True)
    ]


def _read(jobs: Sequence[Job], single_pass: SinglePass, batch_size: int, alternatives: int) -> None:
    """Gives each job that could be opened the answer of one pass."""
    readable = [(job, job.input) for job in jobs if job.input is not None]
    answers = single_pass([value for _, value in readable], batch_size, alternatives)
    for (job, _), answer in zip(readable, answers, strict=True):
        job.take(answer)
