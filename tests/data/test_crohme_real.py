"""The published sets, counted: how many labels the ink itself confirms."""

from pathlib import Path

import numpy as np
import pytest

from namer_edge.data.crohme import load_crohme
from namer_edge.data.formula_set import FormulaSet
from namer_edge.data.labels import read_labels
from namer_edge.data.placement import INKLESS
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..crohme_files import CROHME, find_split

VOCABULARY = Vocabulary.load("crohme")
COUNTS = {
    "train": (8466, 364, 5, 0, 1),
    "test2013": (651, 2, 14, 4, 0),
    "test2014": (961, 18, 7, 0, 0),
    "test2016": (1142, 3, 2, 0, 0),
}
"""Split → agreeing, aligned, without positions, unlabeled, unreadable."""
LOADED: dict[str, FormulaSet] = {}


@pytest.fixture(params=COUNTS)
def split(request: pytest.FixtureRequest, shared_data: Path) -> str:
    name = str(request.param)
    if name not in LOADED:
        files = find_split(shared_data, name)
        LOADED[name] = load_crohme(files.ink, files.labels, VOCABULARY)
    return name


def test_nearly_every_label_finds_its_ink(split: str) -> None:
    report = LOADED[split].report
    parts = (
        report.aligned,
        report.disagreeing,
        report.unlabeled,
        report.unreadable,
    )
    assert (report.agreeing, *map(len, parts)) == COUNTS[split]
    assert report.inkless == ()


def test_tokens_are_the_published_labels(split: str, shared_data: Path) -> None:
    published = read_labels(find_split(shared_data, split).labels)
    labels = {label.name: tuple(label.latex.split()) for label in published}
    formulas = {formula.name: formula.tokens for formula in LOADED[split].formulas}
    assert {name: formulas[name] for name in labels} == labels


def test_every_visual_token_has_a_place_of_its_own(split: str) -> None:
    for formula in LOADED[split].formulas:
        if not formula.placed:
            continue
        tokens = [n.token for n in to_nodes(formula.tokens, VOCABULARY) if not n.ending]
        assert len(formula.positions) == len(formula.boxes) == len(tokens), formula.name
        assert np.isfinite(formula.positions).all(), formula.name
        assert len(np.unique(formula.positions, axis=0)) == len(tokens), formula.name
        inked = [token not in INKLESS for token in tokens]
        assert (~np.isnan(formula.boxes).any(axis=1) == inked).all(), formula.name


def test_the_odd_files_are_named_with_their_reason(shared_data: Path) -> None:
    said = {}
    for name in CROHME:
        if name != "extra":
            files = find_split(shared_data, name)
            if name not in LOADED:
                LOADED[name] = load_crohme(files.ink, files.labels, VOCABULARY)
            report = LOADED[name].report
            said |= {r.name: r.reason for r in (*report.disagreeing, *report.unreadable)}
    assert said["MfrDB3088"] == "the file is empty, as it was published"
    assert "\\Pi" in said["RIT_2014_133"]
    assert said["UN_463_em_912"].startswith("no strokes for")
    assert said["34_em_225"].startswith("no symbol in the ink")
    assert "MfrDB0104" not in said
