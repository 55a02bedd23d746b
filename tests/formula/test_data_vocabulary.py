"""`namer-edge data vocabulary`: the classes of one's own labels."""

import argparse
from pathlib import Path

import pytest

from namer_edge.verbs import data
from namer_edge_runtime.errors import DataError, ModelFileError, UsageError
from namer_edge_runtime.formula.vocabulary import Vocabulary

LABELS = "a\tx ^ { 2 } + \\vec { y }\nb\t\\frac { 1 } { \\vec { 2 } }\nc\tx } y\n"


def run(*words: str | Path) -> int:
    parser = argparse.ArgumentParser()
    data.configure(parser)
    return data.run(parser.parse_args(["vocabulary", *map(str, words)]))


def test_scanned_labels_become_a_vocabulary_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels, out = tmp_path / "mine.tsv", tmp_path / "mine.json"
    labels.write_text(LABELS, encoding="utf-8")
    assert run(labels, "-o", out) == 0
    vocabulary = Vocabulary.load(str(out))
    assert vocabulary.name == "mine"
    assert set(vocabulary.symbols) == set("x2+y1")
    assert {r: len(takes) for r, takes in vocabulary.relations.items()} == {
        "^": 1,
        "\\vec": 1,
        "\\frac": 2,
    }
    told = capsys.readouterr().err
    assert "c: token '}' at place 2 of 3" in told
    assert "8 classes from 3 labels" in told


def test_it_goes_to_standard_output_and_takes_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "mine.tsv"
    labels.write_text(LABELS, encoding="utf-8")
    assert run(labels, "--name", "ours") == 0
    assert '"name": "ours"' in capsys.readouterr().out


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    labels = tmp_path / "mine.tsv"
    labels.write_text(LABELS, encoding="utf-8")
    with pytest.raises(UsageError, match="cannot write"):
        run(labels, "-o", tmp_path / "gone" / "mine.json")


def test_no_labels(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere"):
        run(tmp_path / "nowhere.tsv")
    empty = tmp_path / "empty.tsv"
    empty.touch()
    with pytest.raises(DataError, match="no lines"):
        run(empty)


def test_a_file_that_is_no_vocabulary(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    for path in (broken, tmp_path / "nowhere.json"):
        with pytest.raises(ModelFileError, match=path.name):
            Vocabulary.load(str(path))


def test_labels_that_are_no_tokens_are_no_classes(tmp_path: Path) -> None:
    labels = tmp_path / "raw.tsv"
    labels.write_text("a\ta+b=3\nb\tx ^ { 2 }\nc\t\\frac{1}{2}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"2 labels .* \(a, c"):
        run(labels, "-o", tmp_path / "raw.json")
    assert not (tmp_path / "raw.json").exists()


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    labels = tmp_path / "mine.tsv"
    labels.write_text(LABELS, encoding="utf-8")
    with pytest.raises(UsageError, match="would be lost"):
        run(labels, "-o", tmp_path / "." / "mine.tsv")
    assert labels.read_text(encoding="utf-8") == LABELS
