"""The truth inside CROHME's InkML, normalized, against the published labels."""

from pathlib import Path

import pytest

from namer_edge.data.labels import read_labels
from namer_edge.evaluation.samples import file_samples


@pytest.mark.parametrize(("year", "equal"), [(2014, 977), (2016, 1147)])
def test_truths_are_the_published_labels(year: int, equal: int, shared_data: Path) -> None:
    folder = shared_data / "crohme"
    published = {
        label.name: label.latex for label in read_labels(folder / f"labels-test{year}.tsv")
    }
    samples = list(file_samples(folder / f"test{year}.zip", own_labels=True))
    assert len(samples) == len(published)
    own = {Path(s.source.name.replace("::", "/")).stem: s.label for s in samples}
    same = [n for n, label in own.items() if label is not None and label.latex == published[n]]
    assert len(same) >= equal
