"""Answers meet their labels; what fails stays in its place."""

from collections.abc import Sequence
from typing import Any, cast

import pytest

from namer_edge.data.labels import Label
from namer_edge.evaluation.answers import Answered, answer_all, paired_with, paired_with_own
from namer_edge.evaluation.samples import Sample
from namer_edge_runtime.bulk.input_files import Source
from namer_edge_runtime.errors import InkError, NamerEdgeError
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result


class Echo:
    """Reads a text as itself, and fails on "bad"."""

    def each(
        self, inputs: Sequence[Any], batch_size: int, alternatives: int
    ) -> list[Result | NamerEdgeError]:
        return [
            InkError("cannot be used") if value == "bad" else Result(value, value, 1.0)
            for value in inputs
        ]


SAMPLES = [
    Sample(Source("a.inkml", "x"), Label("a", "x")),
    Sample(Source("b.inkml", error=InkError("b: the file is empty")), Label("b", "")),
    Sample(Source("c.inkml", "bad"), Label("c", "z")),
    Sample(Source("d.inkml", "y"), Label("d", "y y")),
    Sample(Source("e.png", "y")),
]


@pytest.fixture
def answers() -> list[Answered]:
    return answer_all(cast(Recognizer, Echo()), iter(SAMPLES))


def test_order_is_kept_and_failures_stay_in_their_place(answers: list[Answered]) -> None:
    assert [a.outcome.source for a in answers] == [sample.source.name for sample in SAMPLES]
    assert [a.label for a in answers] == [sample.label for sample in SAMPLES]
    assert [a.answer.canonical for a in answers] == ["x", "", "", "y", "y"]
    assert [a.answer.error for a in answers[1:3]] == ["b: the file is empty", "cannot be used"]


def test_progress_is_told_of_every_input() -> None:
    done: list[int] = []
    answer_all(cast(Recognizer, Echo()), SAMPLES * 20, 2, lambda: done.append(1))
    assert len(done) == 100


def test_labels_that_the_files_bring(answers: list[Answered]) -> None:
    paired = paired_with_own(answers, "the InkML truth", loose=False)
    assert [reading.errors for reading in paired.readings] == [0, None, None, 1]
    assert paired.unlabeled == ("e.png",)
    assert paired.protocol == "strict canonical tokens, all files; labels: the InkML truth"


def test_the_dump_of_a_file_is_that_of_recognize_with_label_and_errors(
    answers: list[Answered],
) -> None:
    labels = [Label("d", "y y"), Label("b", "1")]
    paired = paired_with(labels, answers, loose=False, all_rows=False)
    dumped = [a.to_json(paired.by_source.get(a.outcome.source)) for a in answers]
    assert "label" not in dumped[0]
    assert dumped[1]["error"]["type"] == "InkError"
    assert (dumped[1]["label"], dumped[1]["errors"]) == ("1", None)
    assert dumped[3]["canonical"] == "y"
    assert (dumped[3]["label"], dumped[3]["errors"]) == ("y y", 1)


def test_notes_name_what_is_outside_the_count(answers: list[Answered]) -> None:
    labels = [Label("a", "x^{2}"), Label("b", "1"), Label("c", "z"), Label("d", "y y")]
    notes = paired_with(labels, answers, loose=False, all_rows=False).notes()
    assert len(notes) == 2
    assert "e.png" in notes[0]
    assert "not space-separated tokens" in notes[1]
