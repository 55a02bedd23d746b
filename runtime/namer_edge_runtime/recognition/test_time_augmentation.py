"""Test-time augmentation: inputs whose first score is low are read again, upright, deskewed and at
other scales, and the passes vote."""

from collections.abc import Sequence
from dataclasses import replace

from ..ink.direction import mirroring
from ..inputs import LoadedInput
from ..picture.skew import skew
from ..result import Result
from .job import Job
from .single_pass import SinglePass
from .voting import Votes

SURER, SURER_WHERE_CLEAR = 2.0, 1.1
"""Times as sure that ink reads mirrored which may run the wrong way, and where it clearly does: of
2,438 formulas of CROHME 3 are turned so, and 71 of 83 that are mirrored and read right then."""
LEAST_SURE = 0.1
"""Least score of what is kept mirrored: below it neither reading says anything."""


def augment(
    jobs: Sequence[Job], single_pass: SinglePass, batch_size: int, alternatives: int
) -> None:
    """Replaces the answers of unsure jobs by those that their passes elect.

    Unsure are jobs whose score is below the model's confidence threshold. A job whose votes are
    decided takes no further scale.
    """
    options = single_pass.decoding
    for others in (_mirrored, _deskewed):
        found = others(_unsure(jobs, options.confidence_threshold))
        _read_again(found, single_pass, batch_size, alternatives)
    voters = [
        (job, value, Votes([first]))
        for job, value, first in _unsure(jobs, options.confidence_threshold)
    ]
    for done, scale in enumerate(options.tta_scales):
        remaining = len(options.tta_scales) - done
        undecided = [voter for voter in voters if not voter[2].is_decided(remaining)]
        inputs = [value for _, value, _ in undecided]
        results = single_pass(inputs, batch_size, alternatives, scale)
        for (_, _, votes), result in zip(undecided, results, strict=True):
            if isinstance(result, Result):
                votes.add(result)
    for job, _, votes in voters:
        job.answer = votes.winner(alternatives)


_Unsure = tuple[Job, LoadedInput, Result]
"""A job, another input for it, and its answer so far."""
_Other = tuple[Job, LoadedInput, Result, float]
"""The same with the least score that the other input must read with."""


def _unsure(jobs: Sequence[Job], confidence_threshold: float) -> list[_Unsure]:
    """Jobs that further passes may help, with their inputs and their answers so far."""
    return [
        (job, job.input, job.answer)
        for job in jobs
        if isinstance(job.input, LoadedInput)
        and isinstance(job.answer, Result)
        and job.answer.score < confidence_threshold
    ]


def _mirrored(unsure: Sequence[_Unsure]) -> list[_Other]:
    """Ink that runs up or to the left, upright: programs do not always say which way y grows."""
    found = [
        (job, value, first, mirroring(value.strokes))
        for job, value, first in unsure
        if value.strokes
    ]
    return [
        (
            *(job, replace(value, mirror=factors), first),
            max(first.score * (SURER_WHERE_CLEAR if clear else SURER), LEAST_SURE),
        )
        for job, value, first, (factors, clear) in found
        if factors != value.mirror
    ]


def _deskewed(unsure: Sequence[_Unsure]) -> list[_Other]:
    """Skewed inputs, level."""
    return [
        (job, value.turned(-angle), first, first.score)
        for job, value, first in unsure
        if first.prepared and (angle := skew(first.prepared.image))
    ]


def _read_again(
    others: Sequence[_Other], single_pass: SinglePass, batch_size: int, alternatives: int
) -> None:
    """Reads each job's other input; keeps it where it scores higher than it must."""
    results = single_pass([other for _, other, _, _ in others], batch_size, alternatives)
    for (job, other, first, least), second in zip(others, results, strict=True):
        if isinstance(second, Result) and second.score > least:
            job.input = other
            job.take(second)
        elif isinstance(second, Result):
            job.answer = replace(first, milliseconds=first.milliseconds + second.milliseconds)
