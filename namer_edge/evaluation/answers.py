"""A recognizer's answers to the inputs of an evaluation, paired with their labels."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from namer_edge_runtime.bulk.run import Outcome, Source, recognize_all
from namer_edge_runtime.errors import NamerEdgeError

from ..data.labels import Label
from .exprate import Prediction
from .pairing import Answer, Paired, pair, protocol_name, reading
from .samples import Sample

if TYPE_CHECKING:
    from namer_edge_runtime.recognizer import Recognizer


@dataclass(frozen=True)
class Answered:
    """What became of an input, and the label it brought along."""

    outcome: Outcome
    label: Label | None = None

    @property
    def answer(self) -> Answer:
        result = self.outcome.answer
        if isinstance(result, NamerEdgeError):
            return Answer(self.outcome.source, error=str(result))
        return Answer(self.outcome.source, result.canonical)

    def to_json(self, judged: Prediction | None) -> dict[str, Any]:
        """The object that `recognize --jsonl` writes for this input, with its label and the number
        of wrong tokens (null without an answer) where a label counts."""
        value = self.outcome.to_json()
        if judged is not None:
            value |= {"label": " ".join(judged.label), "errors": judged.errors}
        return value


def answer_all(
    recognizer: "Recognizer",
    samples: Iterable[Sample],
    batch_size: int = 8,
    progress: Callable[[], object] = lambda: None,
) -> list[Answered]:
    """Reads every sample, in order; a failure of one is its outcome and stops nothing.

    `progress` is called after each.
    """
    labels: list[Label | None] = []

    def inputs() -> Iterator[Source]:
        for sample in samples:
            labels.append(sample.label)
            yield sample.source

    answers: list[Answered] = []
    for outcome in recognize_all(recognizer, inputs(), batch_size):
        answers.append(Answered(outcome, labels[len(answers)]))
        progress()
    return answers


def paired_with(
    labels: Sequence[Label], answers: Sequence[Answered], *, loose: bool, all_rows: bool
) -> Paired:
    """Answers paired by name with the lines of a label file."""
    return pair(labels, [a.answer for a in answers], loose=loose, all_rows=all_rows)


def paired_with_own(answers: Sequence[Answered], whose: str, *, loose: bool) -> Paired:
    """Answers paired with the labels that their inputs brought; `whose` names these."""
    labeled = [(a.label, a.answer) for a in answers if a.label is not None]
    readings = [(answer.source, reading(label, answer, loose)) for label, answer in labeled]
    return Paired(
        readings=tuple(judged for _, judged in readings),
        protocol=f"{protocol_name(loose)}; labels: {whose}",
        unlabeled=tuple(a.outcome.source for a in answers if a.label is None),
        repeated=(),
        by_source=dict(readings),
    )


def judged(answers: Sequence[Answered], paired: Paired) -> tuple[list[float], list[bool]]:
    """Of each labeled input that was read: the score, and whether it was read right."""
    scores: list[float] = []
    right: list[bool] = []
    for answered in answers:
        reading_ = paired.by_source.get(answered.outcome.source)
        result = answered.outcome.answer
        if reading_ is not None and not isinstance(result, NamerEdgeError):
            scores.append(result.score)
            right.append(reading_.errors == 0)
    return scores, right
