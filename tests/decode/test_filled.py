"""No reading holds a relation around nothing."""

import numpy as np
import pytest

from namer_edge_runtime.decode.filled import filled
from namer_edge_runtime.decode.hypothesis import Hypothesis
from namer_edge_runtime.formula.nodes import to_nodes, to_tokens
from namer_edge_runtime.formula.vocabulary import Vocabulary

CROHME, HME100K = Vocabulary.load("crohme"), Vocabulary.load("hme100k")


def without_hollow(label: str, vocabulary: Vocabulary = CROHME) -> str | None:
    """`filled` of the path that says `label`, as tokens."""
    classes = np.array([vocabulary.id(n.token) for n in to_nodes(label.split(), vocabulary)])
    places = np.arange(len(classes))
    path = Hypothesis(
        places, classes, 0.25, np.linspace(0, 1, len(classes), dtype=np.float32), False
    )
    found = filled(path, vocabulary)
    if found is None:
        return None
    assert found.score == path.score
    assert np.array_equal(found.classes, classes[found.nodes])
    assert np.array_equal(found.node_scores, path.node_scores[found.nodes])
    assert found.repaired == (len(found.nodes) < len(classes))
    return " ".join(to_tokens([vocabulary.token(c) for c in found.classes.tolist()], vocabulary))


@pytest.mark.parametrize(
    ("label", "left"),
    [
        ("\\sqrt { x _ { } }", "\\sqrt { x }"),
        ("\\frac { j } { }", "j"),
        ("\\frac { } { j } + 1", "j + 1"),
        ("x ^ { _ { } } y", "x y"),
        ("x ^ { \\frac { } { } } + \\sqrt { }", "x +"),
        ("\\sum \\limits _ { } ^ { n } a", "\\sum ^ { n } a"),
        ("\\sqrt [ 3 ] { x }", "\\sqrt [ 3 ] { x }"),
        ("\\sqrt { x }", "\\sqrt { x }"),
        ("\\frac { ^ { 2 } } { a }", "\\frac { ^ { 2 } } { a }"),
    ],
)
def test_what_lacks_an_argument_goes_and_the_rest_stays(label: str, left: str) -> None:
    assert without_hollow(label) == left


@pytest.mark.parametrize("label", ["\\sqrt { }", "\\frac { _ { } } { }"])
def test_a_reading_of_nothing_else_is_none(label: str) -> None:
    assert without_hollow(label) is None
    assert without_hollow("") == ""


def test_arrows_stand_alone() -> None:
    label = "a \\xrightarrow { } b"
    assert without_hollow(label, HME100K) == label
