"""Labels that nobody wrote become formulas in real ink, laid out as people lay theirs out."""

from pathlib import Path

import numpy as np
import pytest

from namer_edge.data.formula import Formula
from namer_edge.data.label_sampling import LabelSampler, kind
from namer_edge.data.labels import canonical
from namer_edge.data.layout_statistics import measure, tree
from namer_edge.data.synthesis import Synthesis, SynthesisOptions
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.ink.strokes import bounds

from ..handwriting import EXAMPLES, VOCABULARY, WRITTEN, inked, written
from .test_synthesis import check


def beside(seed: int) -> list[Formula]:
    """A fraction and a root beside a symbol, which tells how large they are."""
    w = EXAMPLES.Writer(seed)
    fraction = w.row("x", "+", w.fraction(w.glyph("1"), w.glyph("2")))
    root = w.row("a", "-", w.root(w.glyph("b")))
    return [
        inked("fraction", "x + \\frac { 1 } { 2 }", fraction),
        inked("root", "a - \\sqrt { b }", root),
    ]


FORMULAS = [written(number, seed) for number in range(len(WRITTEN)) for seed in range(3)]
FORMULAS += [formula for seed in range(8) for formula in beside(seed)]


def synthesis(vary: float = 0.0) -> Synthesis:
    return Synthesis(FORMULAS, VOCABULARY, SynthesisOptions(typeset=1.0, vary=vary))


def set_(label: str, seed: int = 0) -> dict[str, tuple[float, float, float, float]]:
    """The boxes of a set label's symbols, by token."""
    made = synthesis().typesetter("set", label.split(), np.random.default_rng(seed))
    check(made)
    assert list(made.tokens) == label.split()
    nodes = [n.token for n in to_nodes(made.tokens, VOCABULARY) if not n.ending]
    boxes: dict[str, tuple[float, float, float, float]] = {}
    for number in sorted(set(made.symbols.tolist())):
        own = [s for s, n in zip(made.strokes, made.symbols, strict=True) if n == number]
        boxes.setdefault(nodes[number], bounds(own))
    return boxes


@pytest.mark.parametrize("seed", range(4))
def test_symbols_follow_each_other_along_the_line(seed: int) -> None:
    boxes = set_("a + 2 = y", seed)
    assert sorted(boxes, key=lambda t: boxes[t][0] + boxes[t][2]) == ["a", "+", "2", "=", "y"]


@pytest.mark.parametrize("seed", range(4))
def test_a_fraction_stands_above_and_below_its_bar(seed: int) -> None:
    boxes = set_("\\frac { x - 2 } { b }", seed)
    bar = boxes["\\frac"]
    assert max(boxes[t][3] for t in "x-2") < bar[1]
    assert bar[3] < boxes["b"][1]
    assert bar[0] < (boxes["b"][0] + boxes["b"][2]) / 2 < bar[2]


@pytest.mark.parametrize("seed", range(4))
def test_a_root_holds_its_content_and_a_script_is_raised(seed: int) -> None:
    boxes = set_("\\sqrt { a } - x ^ { 2 }", seed)
    sign = boxes["\\sqrt"]
    assert sign[0] < boxes["a"][0]
    assert sign[1] < boxes["a"][1]
    assert boxes["2"][1] + boxes["2"][3] < boxes["x"][1] + boxes["x"][3]
    assert boxes["2"][0] > boxes["x"][0]


def test_brackets_grow_round_a_fraction() -> None:
    boxes = set_("( \\frac { 1 } { 2 } )")
    assert boxes["("][1] < boxes["1"][1]
    assert boxes["("][3] > boxes["2"][3]


def test_sizes_are_those_that_were_measured() -> None:
    found = measure(FORMULAS, VOCABULARY)
    x, equals = (np.exp(found.size[token]) for token in ("x", "="))
    assert 0.3 < equals / x < 1.2
    assert -0.3 < found.rise["="] - found.rise["-"] < 0.3
    # y hangs below the line, b rises above it.
    assert found.rise["b"] < found.rise["x"] < found.rise["y"]


def test_what_no_hand_or_no_example_is_there_for_is_not_set() -> None:
    setter = synthesis().typesetter
    assert setter.knows(["x", "+", "1"])
    assert not setter.knows(["x", "+", "\\theta"])
    assert not setter.knows(["x", "_", "{", "1", "}"])  # nobody wrote a subscript
    assert not setter.knows(["^", "{", "2", "}"])
    assert not setter.knows(["\\frac", "{", "}", "{", "2", "}"])
    assert not setter.knows([])


def test_proportions_need_two_symbols_in_a_row() -> None:
    with pytest.raises(DataError, match="two symbols in a row"):
        measure([written(15)], VOCABULARY)


def test_rows_are_nested_as_the_label_is() -> None:
    rows = tree(
        to_nodes(
            ["\\frac", "{", "a", "^", "{", "2", "}", "}", "{", "b", "}", "+", "1"], VOCABULARY
        ),
        VOCABULARY,
    )
    assert [e.token for e in rows] == ["\\frac", "+", "1"]
    assert [[e.token for e in row] for row in rows[0].rows] == [["a", "^"], ["b"]]
    assert (rows[0].last, rows[1].number) == (4, 5)


def test_every_formula_can_be_one_that_was_set() -> None:
    made = synthesis(vary=1.0)
    rng = np.random.default_rng(0)
    formulas: list[Formula] = [made(FORMULAS[0], rng) for _ in range(40)]
    for formula in formulas:
        check(formula)
    assert len({formula.tokens for formula in formulas}) > 20
    again = made(FORMULAS[0], np.random.default_rng(0))
    assert again.tokens == formulas[0].tokens
    assert all(
        np.array_equal(a, b) for a, b in zip(again.strokes, formulas[0].strokes, strict=True)
    )


def test_symbols_are_exchanged_within_their_kind_and_alike_throughout() -> None:
    label = ["x", "+", "\\alpha", "=", "x", "-", "3"]
    wording = LabelSampler([label], [], VOCABULARY, vary=1.0)
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(100):
        words = [t for t in wording(rng) if t not in "{}"]
        if len(words) == len(label):  # no script was added
            assert [kind(t) for t in words] == [kind(t) for t in label]
            assert words[0] == words[4]
            seen.add(words[0])
    assert len(seen) > 10


def test_labels_of_a_file_are_set_too(tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text("a.png\t\\angle a = x^2\nb.png\tx^{\nc.png\t5-y\n", encoding="utf-8")
    labels = canonical(path, VOCABULARY)
    assert [" ".join(tokens) for tokens in labels] == ["\\angle a = x ^ { 2 }", "5 - y"]
    words = LabelSampler([["x"]], labels[:1], VOCABULARY, vary=0.0)
    rng = np.random.default_rng(0)
    drawn = [words(rng) for _ in range(60)]
    assert 8 < sum(len(tokens) > 1 for tokens in drawn) < 35
    assert all(kind(tokens[0]) == "letter" for tokens in drawn)  # \angle has no class
