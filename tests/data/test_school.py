"""Labels of school algebra and derivatives."""

from collections import Counter
from pathlib import Path

import pytest

from namer_edge.data.labels import canonical, read_labels
from namer_edge_runtime.command import main

from ..handwriting import VOCABULARY


def test_labels_are_canonical_different_and_follow_from_the_seed(tmp_path: Path) -> None:
    one, again, other = (tmp_path / f"{name}.tsv" for name in ("one", "again", "other"))
    for path, seed in ((one, 0), (again, 0), (other, 1)):
        command = ["data", "school", "-o", str(path), "--count", "600", "--seed", str(seed)]
        assert main(command) == 0
    assert one.read_text() == again.read_text() != other.read_text()
    labels = [label.latex for label in read_labels(one)]
    assert len(set(labels)) == 600
    assert [" ".join(tokens) for tokens in canonical(one, VOCABULARY)] == labels
    counts = Counter(" ".join(labels).split())
    assert counts["\\prime"] > 100
    assert sum("{ \\prime \\prime }" in label for label in labels) > 30
    assert min(counts[token] for token in "xyz0123456789=+-") > 20


def test_no_negative_number_of_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "school", "-o", str(tmp_path / "x.tsv"), "--count", "0"]) == 2
    assert "whole number from 1" in capsys.readouterr().err
