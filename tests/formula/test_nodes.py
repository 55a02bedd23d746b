"""A formula as a path through nodes, and back."""

import re
from pathlib import Path

import pytest
from hypothesis import given

from namer_edge_runtime.errors import LatexError
from namer_edge_runtime.formula.nodes import Node, to_nodes, to_tokens
from namer_edge_runtime.formula.vocabulary import Vocabulary

from .formulas import CROHME, HME100K, paths, read_labels


def path_of(label: str, vocabulary: Vocabulary = CROHME) -> str:
    return " ".join(node.token for node in to_nodes(label.split(), vocabulary))


@pytest.mark.parametrize(
    ("label", "path"),
    [
        ("x ^ { y z } + 1", "x ^ y z } + 1"),  # the paper's own example
        ("\\frac { 1 } { 2 }", "\\frac 1 } 2 }"),
        ("\\sqrt { x }", "\\sqrt } x }"),
        ("\\sqrt [ 5 ^ { 3 } ] { x }", "\\sqrt 5 ^ 3 } } x }"),
        ("\\sum \\limits _ { i } ^ { n } i", "\\sum \\limits i } ^ n } i"),
        ("[ a ] \\{ b \\}", "[ a ] \\{ b \\}"),
        ("", ""),
    ],
)
def test_label_is_a_path_and_back(label: str, path: str) -> None:
    assert path_of(label) == path
    assert " ".join(to_tokens(path.split(), CROHME)) == label


def test_chemistry_of_hme100k() -> None:
    label = "H _ { 2 } \\xrightarrow [ \\Delta ] { O _ { 2 } } \\xrightarrow { } \\dot { a }"
    path = "H _ 2 } \\xrightarrow \\Delta } O _ 2 } } \\xrightarrow } } \\dot a }"
    assert path_of(label, HME100K) == path
    assert " ".join(to_tokens(path.split(), HME100K)) == label


def test_every_ending_knows_its_relation() -> None:
    nodes = to_nodes(["\\frac", "{", "x", "^", "{", "2", "}", "}", "{", "3", "}"], CROHME)
    assert nodes[4] == Node("}", parent=2, ending=1)
    assert nodes[5:] == [Node("}", 0, 1), Node("3"), Node("}", 0, 2)]


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("x ^ 2", "token '2' at place 3 of 3"),
        ("\\frac { 1 }", "the formula ends after 4 tokens"),
        ("x } y", "token '}' at place 2 of 3"),
        ("\\sqrt { x", "token '{' at place 2 of 3 is never closed"),
        ("\\sum \\limits ^ { 2 }", "token '^' at place 3 of 6"),
        ("{ x }", "token '{' at place 1 of 3 belongs to no relation"),
    ],
)
def test_broken_label_names_token_and_place(label: str, message: str) -> None:
    with pytest.raises(LatexError, match=re.escape(message)):
        to_nodes(label.split(), CROHME)


@pytest.mark.parametrize("path", ["x }", "^ 2", "\\frac 1 }", "\\sqrt }"])
def test_path_that_is_not_well_nested_is_refused(path: str) -> None:
    with pytest.raises(LatexError):
        to_tokens(path.split(), CROHME)


def test_a_path_as_deep_as_a_decoder_can_return() -> None:
    path = ["^"] * 3000 + ["}"] * 3000
    assert path_of(" ".join(to_tokens(path, CROHME))) == " ".join(path)


@given(paths(CROHME))
def test_crohme_paths_are_balanced_latex_that_reads_back(path: list[str]) -> None:
    check_path(path, CROHME)


@given(paths(HME100K))
def test_hme100k_paths_are_balanced_latex_that_reads_back(path: list[str]) -> None:
    check_path(path, HME100K)


def check_path(path: list[str], vocabulary: Vocabulary) -> None:
    tokens = to_tokens(path, vocabulary)
    depth = 0
    for token in tokens:
        depth += (token == "{") - (token == "}")
        assert depth >= 0
    assert depth == 0
    nodes = to_nodes(tokens, vocabulary)
    assert [node.token for node in nodes] == path
    assert to_tokens(nodes, vocabulary) == tokens


@pytest.mark.parametrize(
    "name", ["train", "train-wap", "test2013", "test2014", "test2014-wap", "test2016", "extra"]
)
def test_every_label_of_crohme(name: str, shared_data: Path) -> None:
    labels = read_labels(shared_data / "crohme" / f"labels-{name}.tsv")
    assert len(labels) >= 667
    assert not irregular(labels, CROHME)


IRREGULAR = {
    "an arrow with its text below and none above": ["train_10067.jpg", "train_28336.jpg"],
    "\\dot s, not braced: dots of a division's remainder, spelled by hand": [
        "train_87831.jpg",
        "train_88167.jpg",
        "train_88220.jpg",
        "train_88951.jpg",
        "train_89179.jpg",
        "train_90221.jpg",
        "train_102053.jpg",
        "train_103871.jpg",
        "train_105007.jpg",
    ],
}


def test_every_label_of_hme100k_but_eleven(shared_data: Path) -> None:
    labels = read_labels(shared_data / "hme100k" / "labels-train.tsv")
    assert len(labels) == 59_452
    named = sorted(name for names in IRREGULAR.values() for name in names)
    assert sorted(irregular(labels, HME100K)) == named


def irregular(labels: dict[str, str], vocabulary: Vocabulary) -> list[str]:
    names = []
    for name, label in labels.items():
        tokens = label.split()
        try:
            same = to_tokens(to_nodes(tokens, vocabulary), vocabulary) == tokens
        except LatexError:
            same = False
        if not same:
            names.append(name)
    return names
