"""Test-time augmentation: inputs whose first score is low are read again, deskewed and at other
scales, and the passes vote."""

from collections.abc import Sequence
from dataclasses import replace

from ..inputs import LoadedInput
from ..picture.skew import skew
from ..result import Result
from .job import Job
from .single_pass import SinglePass
from .voting import Votes


def augment(
    jobs: Sequence[Job], single_pass: SinglePass, batch_size: int, alternatives: int
) -> None:
    """Replaces the answers of unsure jobs by those that their passes elect.

    Unsure are jobs whose score is below the model's confidence threshold. A job whose votes are
    decided takes no further scale.
    """
    options = single_pass.decoding
    _deskew(_unsure(jobs, options.confidence_threshold), single_pass, batch_size, alternatives)
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


def _unsure(
    jobs: Sequence[Job], confidence_threshold: float
) -> list[tuple[Job, LoadedInput, Result]]:
    """Jobs that further passes may help, with their inputs and their answers so far."""
    return [
        (job, job.input, job.answer)
        for job in jobs
        if isinstance(job.input, LoadedInput)
        and isinstance(job.answer, Result)
        and job.answer.score < confidence_threshold
    ]


def _deskew(
    unsure: Sequence[tuple[Job, LoadedInput, Result]],
    single_pass: SinglePass,
    batch_size: int,
    alternatives: int,
) -> None:
    """Reads skewed inputs once more, deskewed; keeps the deskewed input where it scores higher."""
    skewed = [
        (job, value.turned(-angle), first)
        for job, value, first in unsure
        if first.prepared and (angle := skew(first.prepared.image))
    ]
    results = single_pass([level for _, level, _ in skewed], batch_size, alternatives)
    for (job, level, first), second in zip(skewed, results, strict=True):
        if isinstance(second, Result) and second.score > first.score:
            job.input = level
            job.take(second)
        elif isinstance(second, Result):
            job.answer = replace(first, milliseconds=first.milliseconds + second.milliseconds)
