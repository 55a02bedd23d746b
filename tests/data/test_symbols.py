"""Tables of single symbols become further hands for the formulas that a model learns from."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from namer_edge.data.augment import Augmentation, ScaledInk, place
from namer_edge.data.batches import UNKNOWN, LabelPath
from namer_edge.data.pack import load_pack
from namer_edge.data.symbols import OOV, load_symbols
from namer_edge.data.synthesis import Synthesis, SynthesisOptions
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import VOCABULARY, WRITTEN, written

FORMULAS = [written(number) for number in range(len(WRITTEN))]
TABLE = """label\ttoken\twriter\trel\tsize\tstrokes
x\tx\ta1\t1.0\t80\t0,0 700,1000|700,0 0,1000
=\t=\ta1\t1.0\t60\t0,0 1000,0|0,300 1000,300
@\t-none-\ta1\t1.0\t90\t0,0 500,500
O\t-none-\ta1\t1.0\t90\t0,0 1000,1000
x\tx\ta2\t1.0\t12\t0,0 1000,1000
.\t.\ta2\t0.1\t0\t0,0
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "hands.tsv.gz"
    path.write_bytes(gzip.compress(TABLE.encode()))
    return path


def test_a_table_of_symbols_is_packed_as_formulas_of_one_token(table: Path, tmp_path: Path) -> None:
    packed = tmp_path / "hands.npz"
    assert main(["data", "symbols", str(table), "-o", str(packed)]) == 0
    cross, equals, stranger, dot = load_pack(packed).formulas
    assert stranger.tokens == (OOV,)
    assert [f.tokens for f in (cross, equals, dot)] == [("x",), ("=",), (".",)]
    assert cross.name == "hands.tsv.gz:2:a1"
    assert [stroke.tolist() for stroke in equals.strokes] == [
        [[0, 0], [1000, 0]],
        [[0, 300], [1000, 300]],
    ]
    assert cross.positions.tolist() == [[350, 500]]
    assert dot.placed


def test_what_stands_for_no_symbol_or_is_too_coarse_is_counted(table: Path) -> None:
    loaded = load_symbols([table], VOCABULARY)
    # `O` is written as `0` is, so nobody could learn that it is unknown.
    assert (len(loaded.formulas), loaded.foreign, loaded.coarse) == (4, 1, 1)


def test_samples_are_held_out_by_a_hash_of_their_strokes(tmp_path: Path) -> None:
    rows = [f"x\tx\t?\t1.0\t1000\t0,0 {n},1000|700,0 0,1000\n" for n in range(100)]
    table = tmp_path / "many.tsv"
    table.write_text(TABLE.splitlines(keepends=True)[0] + "".join(rows))
    kept = load_symbols([table], VOCABULARY, hold_out=5)
    assert len(kept.formulas) + kept.held == 100
    assert 10 <= kept.held <= 30
    table.write_text(TABLE.splitlines(keepends=True)[0] + "".join(rows[::-1]))
    again = load_symbols([table], VOCABULARY, hold_out=5)
    assert {str(f.strokes) for f in again.formulas} == {str(f.strokes) for f in kept.formulas}


def test_strangers_can_be_left_out(table: Path, tmp_path: Path) -> None:
    packed = tmp_path / "hands.npz"
    command = ["data", "symbols", str(table), "--no-strangers", "--hold-out", "1000000"]
    assert main([*command, "-o", str(packed)]) == 0
    assert [f.tokens for f in load_pack(packed).formulas] == [("x",), ("=",), (".",)]


def test_strangers_stand_in_labels_that_are_set(table: Path) -> None:
    hands = load_symbols([table], VOCABULARY).formulas
    options = SynthesisOptions(typeset=1.0, strangers=1.0)
    setting = Synthesis(FORMULAS, VOCABULARY, options, hands)
    made = [setting(FORMULAS[0], np.random.default_rng(seed)) for seed in range(40)]
    assert {len(f.tokens) == 1 for f in made} == {True, False}
    for formula in made:
        label = LabelPath.of(formula.tokens, VOCABULARY)
        numbers = np.flatnonzero(label.classes[label.visual] == UNKNOWN)
        assert len(numbers), formula.tokens
        for number in numbers:
            (stroke,) = (formula.strokes[i] for i in np.flatnonzero(formula.symbols == number))
            assert np.ptp(stroke[:, 0]) == pytest.approx(np.ptp(stroke[:, 1]), rel=1e-3)
    with pytest.raises(DataError, match="no pack of hands has any"):
        Synthesis(FORMULAS, VOCABULARY, options)


def test_a_table_without_its_columns_or_with_broken_strokes_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text("token\tsize\nx\t3\n")
    with pytest.raises(DataError, match=r"bad\.tsv, line 2: .*strokes"):
        load_symbols([path], VOCABULARY)
    for row in ("x\t30\t0,0 1", "x\t30", "x\t30\tnan,0 1,1", "x\t30\t0,0,1 2,3,4", "x\tnan\t0,0"):
        path.write_text(f"token\tsize\tstrokes\nx\t30\t0,0 1,1\n{row}\n")
        with pytest.raises(DataError, match="line 3"):
            load_symbols([path], VOCABULARY)
    with pytest.raises(DataError, match="cannot be read"):
        load_symbols([tmp_path / "nowhere.tsv"], VOCABULARY)


def test_symbols_of_others_are_swapped_into_formulas(table: Path) -> None:
    hands = load_symbols([table], VOCABULARY).formulas
    formula = next(f for f in FORMULAS if "=" in f.tokens)
    swap = Synthesis([], VOCABULARY, SynthesisOptions(swap=1.0), hands)
    made = swap(formula, np.random.default_rng(0))
    place_of = [token for token in formula.tokens if token not in "{}"].index("=")
    strokes = [made.strokes[i] for i in np.flatnonzero(made.symbols == place_of)]
    assert [len(stroke) for stroke in strokes] == [2, 2]
    ratio = np.ptp(strokes[0][:, 0]) / (strokes[1][0, 1] - strokes[0][0, 1])
    assert ratio == pytest.approx(1000 / 300, rel=1e-3)  # the other hand's own proportions
    assert made.tokens == formula.tokens


def test_each_symbol_bends_on_its_own_about_its_center() -> None:
    preprocessing = Preprocessing(symbol_height=26)
    ink = ScaledInk.of(FORMULAS[4], preprocessing)
    rng = np.random.default_rng(0)
    moved = place(ink, preprocessing, Augmentation(symbol_shape=0.1), rng)
    still = place(ink, preprocessing, Augmentation(), rng)
    assert not np.allclose(moved.points, still.points, atol=0.5)
    shift = moved.positions - still.positions
    assert np.ptp(shift, axis=0).max() < 1e-3  # only the box's corner may have moved
