"""Ink and labels come together: every token of a label gets its place, or the file is named."""

from pathlib import Path

import numpy as np
import pytest

from namer_edge.data.crohme import load_crohme
from namer_edge.data.formula import Formula
from namer_edge.data.formula_set import FormulaSet
from namer_edge.data.report import Remark
from namer_edge_runtime.errors import DataError, InkError
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..inkml_files import boxes_as_symbols, inkml, line

Symbols = list[tuple[str, str, tuple[float, float, float, float]]]

SUM: Symbols = [
    (r"\sum", "s", (0, 20, 20, 40)),
    ("i", "i", (0, 50, 4, 60)),
    ("=", "eq", (6, 52, 12, 58)),
    ("1", "one", (14, 50, 16, 60)),
    ("n", "n", (5, 0, 15, 10)),
    ("x", "x", (30, 20, 40, 40)),
    ("2", "two", (44, 10, 50, 18)),
]
SUM_MATH = (
    '<mrow><munderover><mo xml:id="s">sum</mo><mrow><mi xml:id="i">i</mi><mo xml:id="eq">=</mo>'
    '<mn xml:id="one">1</mn></mrow><mi xml:id="n">n</mi></munderover>'
    '<msup><mi xml:id="x">x</mi><mn xml:id="two">2</mn></msup></mrow>'
)
SUM_LABEL = r"\sum \limits _ { i = 1 } ^ { n } x ^ { 2 }"


def load(
    folder: Path, files: dict[str, str | bytes], labels: dict[str, str] | None = None
) -> FormulaSet:
    ink = folder / "ink"
    ink.mkdir()
    for name, text in files.items():
        (ink / name).parent.mkdir(exist_ok=True)
        (ink / f"{name}.inkml").write_bytes(text if isinstance(text, bytes) else text.encode())
    if labels is None:
        return load_crohme(ink)
    table = folder / "labels.tsv"
    table.write_text("".join(f"{name}\t{label}\n" for name, label in labels.items()), "utf-8")
    return load_crohme(ink, table)


def load_one(folder: Path, symbols: Symbols, math: str, label: str) -> FormulaSet:
    return load(folder, {"one": inkml(*boxes_as_symbols(symbols), math)}, {"one": label})


def visual(formula: Formula) -> list[str]:
    nodes = to_nodes(formula.tokens, Vocabulary.load("crohme"))
    return [node.token for node in nodes if not node.ending]


def test_a_file_that_agrees_has_a_place_for_each_visual_token(tmp_path: Path) -> None:
    loaded = load_one(tmp_path, SUM, SUM_MATH, SUM_LABEL)
    assert loaded.report.agreeing == 1
    (formula,) = loaded.formulas
    assert formula.placed
    assert " ".join(formula.tokens) == SUM_LABEL
    tokens = visual(formula)
    assert tokens == [r"\sum", r"\limits", "i", "=", "1", "^", "n", "x", "^", "2"]
    assert formula.positions.dtype == np.float32
    assert formula.positions.shape == (10, 2)
    assert formula.positions[0].tolist() == [10, 30]
    assert formula.positions[9].tolist() == [47, 14]
    assert formula.boxes[7].tolist() == [30, 20, 40, 40]
    assert [t for t, box in zip(tokens, formula.boxes, strict=True) if np.isnan(box).all()] == [
        r"\limits",
        "^",
        "^",
    ]


def test_each_stroke_knows_the_token_it_belongs_to(tmp_path: Path) -> None:
    traces = [line(0, 0, 5, 10), line(20, 5, 30, 5), line(25, 0, 25, 10), line(90, 90, 91, 91)]
    text = inkml(
        traces,
        [("+", [1, 2], "p"), ("1", [0], "o")],
        '<mn xml:id="o">1</mn><mo xml:id="p">+</mo>',
    )
    (formula,) = load(tmp_path, {"one": text}, {"one": "1 +"}).formulas
    assert formula.symbols.tolist() == [0, 1, 1, -1]
    assert formula.boxes[1].tolist() == [20, 0, 30, 10]


ABC: Symbols = [("a", "a", (0, 0, 9, 9)), ("b", "b", (10, 0, 19, 9)), ("c", "c", (20, 0, 29, 9))]
ROOT: Symbols = [
    (r"\sqrt", "r", (5, 0, 40, 20)),
    ("3", "i", (0, 0, 4, 6)),
    ("x", "x", (20, 5, 30, 18)),
]


@pytest.mark.parametrize(
    ("symbols", "math", "label"),
    [
        (
            [("-", "f", (0, 10, 20, 10)), ("a", "a", (5, 0, 9, 8)), ("b", "b", (5, 12, 9, 20))],
            '<mfrac xml:id="f"><mi xml:id="a">a</mi><mi xml:id="b">b</mi></mfrac>',
            r"\frac { a } { b }",
        ),
        (
            ROOT,
            '<mroot xml:id="r"><mi xml:id="x">x</mi><mn xml:id="i">3</mn></mroot>',
            r"\sqrt [ 3 ] { x }",
        ),
        (
            ROOT,
            '<mroot xml:id="r"><mn xml:id="i">3</mn><mi xml:id="x">x</mi></mroot>',
            r"\sqrt [ 3 ] { x }",
        ),
        (
            ABC,
            '<msub><msup><mi xml:id="a">a</mi><mi xml:id="b">b</mi></msup>'
            '<mi xml:id="c">c</mi></msub>',
            "a _ { c } ^ { b }",
        ),
        (
            [("(", "a", (0, 0, 3, 9)), (")", "b", (8, 0, 9, 9)), ("c", "c", (20, 0, 29, 5))],
            '<msup><mrow><mo xml:id="a">(</mo><mo xml:id="b">)</mo></mrow>'
            '<mi xml:id="c">c</mi></msup>',
            "( ) ^ { c }",
        ),
        (
            [(r"\lt", "a", (0, 0, 9, 9)), (r"\{", "b", (10, 0, 12, 9))],
            r'<mo xml:id="a">\lt</mo><mo xml:id="b">{</mo>',
            r"< \{",
        ),
        (
            [(r"\int", "a", (0, 0, 9, 30)), ("n", "b", (10, 0, 19, 9))],
            '<msup><mo xml:id="a">int</mo><mi xml:id="b">n</mi></msup>',
            r"\int ^ { n }",
        ),
    ],
    ids=[
        "a bar is a fraction",
        "index last",
        "index first",
        "subscript first",
        "script of a bracket",
        "spellings",
        "a superscript alone takes no limits",
    ],
)
def test_mathml_reads_as_the_published_label(
    tmp_path: Path, symbols: Symbols, math: str, label: str
) -> None:
    loaded = load_one(tmp_path, symbols, math, label)
    assert loaded.report.agreeing == 1, list(loaded.report.lines())


ROW = '<mrow><mi xml:id="a">a</mi><mi xml:id="b">b</mi><mi xml:id="c">c</mi></mrow>'
DOTS: Symbols = [(".", key, (x, 0, x + 1, 1)) for key, x in (("a", 0), ("b", 10), ("c", 20))]
NUMBER: Symbols = [
    ("2", "a", (0, 0, 9, 9)),
    (".", "b", (10, 8, 11, 9)),
    ("0", "c", (12, 0, 19, 9)),
]


@pytest.mark.parametrize(
    ("symbols", "math", "label", "reason"),
    [
        (DOTS, ROW, r"\cdots", r"\cdots marked as . . ."),
        (DOTS, ROW, r". \cdot .", r"\cdot marked as ."),
        (NUMBER, ROW, "2", ". 0 left out of the label"),
        (ABC, ROW, "a c b", "c in another place"),
        (ABC, ROW, "a _ { b c }", "another structure of the same symbols"),
        (
            [("t", "a", (0, 0, 9, 9)), ("g", "b", (10, 0, 19, 9))],
            '<mi xml:id="a">t</mi><mi xml:id="b">g</mi>',
            r"\tan",
            r"\tan marked as t g",
        ),
        (
            [(r"\sin", "a", (0, 0, 9, 9))],
            r'<mi xml:id="a">\cos</mi>',
            r"\cos",
            r"\cos marked as \sin",
        ),
    ],
    ids=["dots", "multiplication", "number", "order", "structure", "letters", "wrong group"],
)
def test_known_differences_are_aligned_and_said(
    tmp_path: Path, symbols: Symbols, math: str, label: str, reason: str
) -> None:
    loaded = load_one(tmp_path, symbols, math, label)
    assert loaded.report.aligned == (Remark("one", reason),)
    (formula,) = loaded.formulas
    assert " ".join(formula.tokens) == label
    assert len(formula.positions) == len(visual(formula))


def test_dots_written_one_by_one_are_one_token_with_all_their_ink(tmp_path: Path) -> None:
    (formula,) = load_one(tmp_path, DOTS, ROW, r"\ldots").formulas
    assert formula.symbols.tolist() == [0, 0, 0]
    assert formula.boxes.tolist() == [[0, 0, 21, 1]]


@pytest.mark.parametrize(
    ("symbols", "math", "label", "reason"),
    [
        (ABC, ROW, "a b c d", "no symbol in the ink for d"),
        (ABC, ROW, "a b", "symbols in the ink that the label lacks: c"),
        (ABC, "", "a b c", "no symbol in the ink for a b c"),
        (ABC[:2], ROW, "a b c", "no strokes for c"),
        (ABC, ROW, r"a b \Pi", "Pi' is no class"),
        (ABC, ROW, "a ^ { b c", "never closed"),
        (ABC, ROW, "a b c ^ c", "'{' after '^'"),
    ],
    ids=["missing", "surplus", "no MathML", "no strokes", "no class", "unclosed", "no brace"],
)
def test_the_rest_is_kept_without_positions_and_named(
    tmp_path: Path, symbols: Symbols, math: str, label: str, reason: str
) -> None:
    loaded = load_one(tmp_path, symbols, math, label)
    ((name, said),) = [(r.name, r.reason) for r in loaded.report.disagreeing]
    assert name == "one"
    assert reason in said
    (formula,) = loaded.formulas
    assert not formula.placed
    assert " ".join(formula.tokens) == label
    assert formula.positions.shape == (0, 2)
    assert formula.boxes.shape == (0, 4)
    assert set(formula.symbols.tolist()) == {-1}


def test_every_file_and_label_is_accounted_for(tmp_path: Path) -> None:
    good = inkml(*boxes_as_symbols(ABC), ROW)
    loaded = load(
        tmp_path,
        {"good": good, "empty": b"", "blank": inkml([]), "new": good},
        {"good": "a b c", "lost": "x"},
    )
    report = loaded.report
    assert [formula.name for formula in loaded.formulas] == ["good", "new"]
    assert report.agreeing == 1
    assert report.unlabeled == (Remark("new", "read from its MathML"),)
    assert report.unreadable == (
        Remark("blank", "no strokes in this InkML file"),
        Remark("empty", "the file is empty"),
    )
    assert report.inkless == (Remark("lost", "no file"),)
    assert (report.files, report.formulas) == (4, 2)
    said = "\n".join(report.lines())
    for name in ("empty", "blank", "new", "lost"):
        assert name in said


def test_labels_may_name_files_with_their_ending(tmp_path: Path) -> None:
    good = inkml(*boxes_as_symbols(ABC), ROW)
    loaded = load(tmp_path, {"good": good}, {"good.inkml": "a b c"})
    assert (loaded.report.agreeing, loaded.report.inkless) == (1, ())
    (tmp_path / "more").mkdir()
    with pytest.raises(DataError, match="two formulas are called good"):
        load(tmp_path / "more", {"good": good, "again/good": good}, {"good": "a b c"})


def test_without_a_label_file_the_mathml_is_the_label(tmp_path: Path) -> None:
    (formula,) = load(tmp_path, {"one": inkml(*boxes_as_symbols(SUM), SUM_MATH)}).formulas
    assert " ".join(formula.tokens) == SUM_LABEL
    assert formula.placed


def test_ink_or_labels_that_are_not_there_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InkError, match="not there"):
        load_crohme(tmp_path / "none.zip")
    (tmp_path / "a.inkml").write_text(inkml(["1 2"]), "utf-8")
    with pytest.raises(DataError, match=r"none\.tsv"):
        load_crohme(tmp_path, tmp_path / "none.tsv")
    (tmp_path / "bad.tsv").write_text("a\tx\nno tab here\n", "utf-8")
    with pytest.raises(DataError, match="line 2"):
        load_crohme(tmp_path, tmp_path / "bad.tsv")
