"""Label files as people have them, and which answer goes with which label."""

from pathlib import Path

import pytest

from namer_edge.data.labels import Label, read_labels
from namer_edge.evaluation.exprate import rate
from namer_edge.evaluation.pairing import Answer, pair
from namer_edge_runtime.errors import DataError


def test_a_plain_label_file(tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text("18_em_0\tx _ { k }\r\n18_em_1\t4 8\tno\n\n", encoding="utf-8")
    # Without a heading a third column means nothing.
    assert read_labels(path) == [Label("18_em_0", "x _ { k }"), Label("18_em_1", "4 8")]


def test_a_label_file_with_a_heading(tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text("name\tlatex\tin_crohme_vocabulary\na.png\tx^{2}\tyes\nb.png\t\\bar x\tno\n")
    assert read_labels(path) == [Label("a.png", "x^{2}"), Label("b.png", "\\bar x", False)]


@pytest.mark.parametrize("content", [None, "", "name\tlatex\n", "a\tx\nb\n", b"\xff\xfe\x00"])
def test_an_unusable_label_file_says_which(tmp_path: Path, content: str | bytes | None) -> None:
    path = tmp_path / "labels.tsv"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=r"labels\.tsv"):
        read_labels(path)


def test_names_match_with_and_without_ending_in_folders_and_zips() -> None:
    labels = [Label("a", "1"), Label("b.png", "2"), Label("test/c.inkml", "3"), Label("d", "4")]
    answers = [
        Answer("set.zip::inner/a.inkml", "1"),
        Answer("folder/b.png", "2"),
        Answer("c.inkml", "3"),
        Answer("e.png", "5"),
    ]
    paired = pair(labels, answers)
    assert [reading.errors for reading in paired.readings] == [0, 0, 0, None]
    assert paired.readings[3].reason == "no such file among the inputs"
    assert paired.unlabeled == ("e.png",)
    assert paired.protocol == "strict canonical tokens, all files"


def test_an_input_that_failed_is_wrong_and_keeps_its_reason() -> None:
    paired = pair([Label("a", "1")], [Answer("a.inkml", error="a.inkml: no strokes")])
    assert rate(paired.readings).within_2 == 0
    assert paired.readings[0].reason == "a.inkml: no strokes"


def test_labels_beyond_the_vocabulary_count_only_when_asked() -> None:
    labels = [Label("a", "1"), Label("b", "\\bar x", False)]
    answers = [Answer("a.png", "1"), Answer("b.png", "x")]
    paired = pair(labels, answers)
    assert len(paired.readings) == 1
    assert "1 of 2 files marked as within the vocabulary" in paired.protocol
    paired = pair(labels, answers, all_rows=True)
    assert [reading.errors for reading in paired.readings] == [0, 1]
    assert paired.protocol.endswith("all files")


def test_two_inputs_of_one_name_are_told() -> None:
    paired = pair([Label("a", "2")], [Answer("p/a.png", "1"), Answer("q/a.png", "2")])
    assert paired.repeated == ("p/a.png",)
    assert paired.readings[0].errors == 0


def test_a_dot_in_a_name_is_no_ending() -> None:
    answers = [Answer("v/eq.1.png", "1"), Answer("v/eq.2.png", "2"), Answer("v/eq.png", "0")]
    labels = [Label("eq.1", "1"), Label("eq.2", "2"), Label("eq", "0"), Label("eq.3", "3")]
    paired = pair(labels, answers)
    assert [reading.read for reading in paired.readings] == [("1",), ("2",), ("0",), None]
    assert paired.by_source["v/eq.png"].label == ("0",)
