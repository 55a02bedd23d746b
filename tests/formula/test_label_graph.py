"""Formulas as label graphs, the form that CROHME's own tools compare."""

import pytest
from hypothesis import given

from namer_edge_runtime.errors import LatexError
from namer_edge_runtime.formula.aligned import lines_of
from namer_edge_runtime.formula.label_graph import label_graph, symbols
from namer_edge_runtime.formula.nodes import to_tokens
from namer_edge_runtime.formula.vocabulary import INKLESS, Vocabulary

from .formulas import CROHME, HME100K, paths


@pytest.mark.parametrize(
    ("canonical", "relations"),
    [
        ("x", []),
        ("a + b", ["a + Right", "+ b Right"]),
        ("x ^ { 2 } + 1", ["x 2 Sup", "x + Right", "+ 1 Right"]),
        ("x _ { i } ^ { n }", ["x i Sub", "x n Sup"]),
        ("\\frac { a b } { c }", ["\\frac a Above", "a b Right", "\\frac c Below"]),
        ("\\sqrt { x } y", ["\\sqrt x Inside", "\\sqrt y Right"]),
        ("\\sqrt [ 3 ] { x }", ["\\sqrt 3 Above", "\\sqrt x Inside"]),
        (
            "\\sum \\limits _ { i } ^ { n } k ^ { 2 }",
            ["\\sum i Below", "\\sum n Above", "\\sum k Right", "k 2 Sup"],
        ),
        ("\\lim \\limits _ { n \\rightarrow 0 } ( n", None),
        ("( a ) ^ { \\frac { 1 } { 2 } } b", None),
        ("^ { 2 } x", ["2 x Right"]),
        ("", []),
    ],
)
def test_who_hangs_on_whom(canonical: str, relations: list[str] | None) -> None:
    found = symbols(canonical.split(), CROHME)
    said = [f"{found[s.parent].token} {s.token} {s.relation}" for s in found if s.relation]
    inked = [t for t in canonical.split() if t not in {*INKLESS, "{", "}"} and t not in "[]"]
    assert [s.token for s in found] == inked
    assert len(said) == max(0, len(found) - 1)
    if relations is not None:
        assert said == relations
    elif "lim" in canonical:
        assert said[0] == "\\lim n Below"
        assert said[-2:] == ["\\lim ( Right", "( n Right"]
    else:
        assert said[2:] == [") \\frac Sup", "\\frac 1 Above", "\\frac 2 Below", ") b Right"]


def test_the_text_of_a_graph() -> None:
    text = label_graph(
        ["x", "^", "{", "x", "}", ",", "\\frac", "{", "1", "}", "{", "2", "}"],
        [0.5, 1, 0.25, 1, 1, 1, 1],
        [(0, 1), (), (2,), (3,), (5,), (4,), (6,)],
        "a.inkml",
    )
    assert text.splitlines() == [
        "# IUD, a.inkml",
        "# Objects(6):",
        "O, x_1, x, 0.5, 0, 1",
        "O, x_2, x, 0.25, 2",
        "O, COMMA_1, COMMA, 1, 3",
        "O, -_1, -, 1, 5",
        "O, 1_1, 1, 1, 4",
        "O, 2_1, 2, 1, 6",
        "",
        "# Relations from SRT (5):",
        "R, x_1, x_2, Sup, 1.0",
        "R, x_1, COMMA_1, Right, 1.0",
        "R, COMMA_1, -_1, Right, 1.0",
        "R, -_1, 1_1, Above, 1.0",
        "R, -_1, 2_1, Below, 1.0",
    ]


def test_without_strokes_each_symbol_is_one() -> None:
    lines = label_graph(["a", "+", "b"]).splitlines()
    assert [line for line in lines if line.startswith("O")] == [
        "O, a_1, a, 1, 0",
        "O, +_1, +, 1, 1",
        "O, b_1, b, 1, 2",
    ]


def test_unbalanced_tokens_are_refused() -> None:
    with pytest.raises(LatexError):
        label_graph(["\\frac", "{", "1"])


@given(paths(CROHME))
def test_every_path_is_one_tree_of_crohme_symbols(path: list[str]) -> None:
    check_tree(path, CROHME)


@given(paths(HME100K))
def test_every_path_is_one_tree_of_hme100k_symbols(path: list[str]) -> None:
    check_tree(path, HME100K)


def check_tree(path: list[str], vocabulary: Vocabulary) -> None:
    tokens = tuple(to_tokens(path, vocabulary))
    lines = lines_of(tokens)
    found = symbols(tokens, vocabulary)
    written = [t for t in path if t not in {"}", *INKLESS}]
    assert [s.token for s in found] == written[lines != [tokens] :]  # rows of a page are no symbol
    assert [s.parent < place for place, s in enumerate(found)] == [True] * len(found)
    roots = [place for place, s in enumerate(found) if s.parent < 0]
    assert roots[:1] == [0][: len(found)]
    assert len(roots) <= len(lines)
    assert all((s.relation == "") == (s.parent < 0) for s in found)
