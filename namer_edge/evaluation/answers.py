"""A recognizer's answers to the inputs of an evaluation, paired with their labels."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from namer_edge_runtime.bulk.input_files import Source
from namer_edge_runtime.bulk.run import Outcome, recognize_all
from namer_edge_runtime.errors import NamerEdgeError

from ..data.labels import Label
from .exprate import Prediction
from .pairing import Answer, Paired, pair, protocol_name, reading
from .samples import Sample

if TYPE_CHECKING:
    from namer_edge_runtime.recognizer import Recognizer


@dataclass(frozen=True)
class Answered:
    """The outcome of an input, and its own label if it has one."""

    outcome: Outcome
    label: Label | None = None

    @property
    def answer(self) -> Answer:
        result = self.outcome.answer
        if isinstance(result, NamerEdgeError):
            return Answer(self.outcome.source, error=str(result))
        return Answer(self.outcome.source, result.canonical)

    def to_json(self, prediction: Prediction | None) -> dict[str, Any]:
        """The object of `recognize --jsonl` for this input, with label and token edit distance
        (null without an answer) if the label counts."""
        value = self.outcome.to_json()
        if prediction is not None:
            value |= {"label": " ".join(prediction.label), "errors": prediction.errors}
        return value


def answer_all(
    recognizer: "Recognizer",
    samples: Iterable[Sample],
    batch_size: int = 8,
    progress: Callable[[], object] = lambda: None,
) -> list[Answered]:
    """Reads every sample in order; failures are outcomes and stop nothing.

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
    """Answers paired with the labels of their own inputs; `whose` describes these."""
    labeled = [(a.label, a.answer) for a in answers if a.label is not None]
    predictions = [(answer.source, reading(label, answer, loose)) for label, answer in labeled]
    return Paired(
        readings=tuple(prediction for _, prediction in predictions),
        protocol=f"{protocol_name(loose)}; labels: {whose}",
        unlabeled=tuple(a.outcome.source for a in answers if a.label is None),
        repeated=(),
        by_source=dict(predictions),
    )


def scored(answers: Sequence[Answered], paired: Paired) -> tuple[list[float], list[bool]]:
    """Score and correctness of each labeled input that was read."""
    scores: list[float] = []
    right: list[bool] = []
    for answered in answers:
        prediction = paired.by_source.get(answered.outcome.source)
        result = answered.outcome.answer
        if prediction is not None and not isinstance(result, NamerEdgeError):
            scores.append(result.score)
            right.append(prediction.errors == 0)
    return scores, right
