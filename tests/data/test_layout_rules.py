"""Formulas typeset by rules, in one hand each, where there are none to measure."""

from pathlib import Path

import numpy as np
import pytest

from namer_edge.data.formula import Formula, unplaced
from namer_edge.data.layout_rules import HIGH, WIDE
from namer_edge.data.pack import load_pack
from namer_edge.data.symbols import load_symbols
from namer_edge.data.synthesis import Synthesis, SynthesisOptions, ink_of
from namer_edge_runtime.command import main
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.strokes import Strokes, bounds

from .test_synthesis import check

EVERYDAY = Vocabulary.load("everyday")
SIGNS = "abcdefghijxyn0123456789+-=,."
ROOT = "0,600 100,500 250,1000 400,0 1000,0"


@pytest.fixture
def synthesis(tmp_path: Path) -> Synthesis:
    """Two writers, one of whom writes all as crosses and the other as corners."""
    shapes = {"cross": "0,0 {n},1000|{n},0 0,1000", "corner": "0,0 0,1000 {n},1000"}
    rows = [
        f"{sign}\t{sign}\t{writer}\t1\t1000\t{shape.format(n=600 + number)}\n"
        for writer, shape in shapes.items()
        for number, sign in enumerate(SIGNS)
    ]
    rows += [
        f"\\sqrt{{}}\t-none-\t?\t1\t1000\t{ROOT}\n",
        "\\sum\t\\sum\t?\t1\t1000\t700,0 0,0 400,500 0,1000 700,1000\n",
        "\\int\t\\int\t?\t1\t1000\t400,0 200,100 200,900 0,1000\n",
    ]
    path = tmp_path / "hands.tsv"
    path.write_text("label\ttoken\twriter\trel\tsize\tstrokes\n" + "".join(rows))
    hands = load_symbols([path], EVERYDAY).formulas
    options = SynthesisOptions(typeset=1.0, vary=0.0)
    return Synthesis([unplaced("blank", ())], EVERYDAY, options, hands, [["x", "+", "y"]])


def boxes(synthesis: Synthesis, label: str, seed: int) -> dict[str, tuple[float, ...]]:
    """The boxes of a label's symbols."""
    return {t: bounds(strokes) for t, strokes in ink(synthesis, label, seed)}


def ink(synthesis: Synthesis, label: str, seed: int) -> list[tuple[str, Strokes]]:
    made = synthesis.typesetter("set", label.split(), np.random.default_rng(seed))
    check(made)
    nodes = [n.token for n in to_nodes(made.tokens, EVERYDAY) if not n.ending]
    return [(nodes[number], strokes) for number, strokes in ink_of(made).items()]


def test_a_blank_formula_stands_for_a_typeset_one(synthesis: Synthesis) -> None:
    blank = unplaced("blank", ())
    made: list[Formula] = [synthesis(blank, np.random.default_rng(seed)) for seed in range(3)]
    assert [formula.tokens for formula in made] == [("x", "+", "y")] * 3
    assert not any(formula.blank for formula in made)


@pytest.mark.parametrize("seed", range(8))
def test_a_formula_is_in_one_hand(synthesis: Synthesis, seed: int) -> None:
    assert len({len(strokes) for _, strokes in ink(synthesis, "a + b = 3", seed)}) == 1


def test_letters_stand_on_the_line_as_typography_has_them(synthesis: Synthesis) -> None:
    drawn = [boxes(synthesis, "b x y", seed) for seed in range(40)]
    b, x, y = (np.median([found[t] for found in drawn], axis=0) for t in "bxy")
    assert b[1] < x[1] - 0.2  # b rises, y hangs
    assert abs(b[3] - x[3]) < 0.15
    assert y[3] > x[3] + 0.2


@pytest.mark.parametrize("seed", range(8))
def test_scripts_fractions_and_roots_are_told_apart(synthesis: Synthesis, seed: int) -> None:
    raised = boxes(synthesis, "a ^ { 2 }", seed)
    lowered = boxes(synthesis, "a _ { 2 }", seed)
    middle = {found["a"][1] + found["a"][3] for found in (raised, lowered)}
    assert raised["2"][1] + raised["2"][3] < min(middle)
    assert lowered["2"][1] + lowered["2"][3] > max(middle)
    fraction = boxes(synthesis, "\\frac { a } { 2 }", seed)
    assert fraction["a"][3] < fraction["\\frac"][1] < fraction["\\frac"][3] < fraction["2"][1]
    root = boxes(synthesis, "\\sqrt { a }", seed)
    assert root["\\sqrt"][0] < root["a"][0]
    assert root["\\sqrt"][1] < root["a"][1]


def test_limits_stand_below_sums_and_often_beside_integrals(synthesis: Synthesis) -> None:
    for token, least, most in (("\\sum", 0, 0), ("\\int", 10, 38)):
        label = f"{token} \\limits _ {{ 2 }} a"
        drawn = [boxes(synthesis, label, seed) for seed in range(40)]
        beside = sum(found["2"][1] < found[token][3] - 0.05 for found in drawn)
        assert least <= beside <= most


def test_every_rule_is_for_a_sign_of_its_own() -> None:
    assert {*HIGH, *WIDE} <= set(EVERYDAY.symbols)
    assert not set(HIGH) & set(WIDE)


def test_composed_formulas_are_a_pack_that_names_its_sources(tmp_path: Path) -> None:
    table, hands, labels, composed = (
        tmp_path / name for name in ("signs.tsv", "hands.npz", "labels.tsv", "composed.npz")
    )
    rows = [f"{s}\t{s}\tw\t1\t500\t0,0 {n}00,1000 0,500" for n, s in enumerate("xy+2", 1)]
    table.write_text("\n".join(["label\ttoken\twriter\trel\tsize\tstrokes", *rows]) + "\n")
    labels.write_text("0\tx + y\n1\tx ^ { 2 }\n")
    assert main(["data", "symbols", str(table), "-o", str(hands)]) == 0
    command = ["data", "compose", str(labels), "--hands", str(hands), "-o", str(composed)]
    assert main([*command, "--count", "20"]) == 0
    pack = load_pack(composed)
    assert {formula.tokens for formula in pack.formulas} == {
        ("x", "+", "y"),
        ("x", "^", "{", "2", "}"),
    }
    assert len({formula.name for formula in pack.formulas}) == 20
    assert pack.sources.keys() == {"signs.tsv", "labels.tsv"}
    labels.write_text("0\tz\n")
    assert main(command) == 1
