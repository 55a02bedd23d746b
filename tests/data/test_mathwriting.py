"""MathWriting: its labels are read from the files, and none is lost in silence."""

from pathlib import Path

import pytest

from namer_edge.data.labels import label_error, read_labels
from namer_edge.data.mathwriting import load_mathwriting
from namer_edge_runtime.errors import DataError, LatexError
from namer_edge_runtime.formula.latex import compact
from namer_edge_runtime.formula.mathml import mathml
from namer_edge_runtime.formula.nodes import to_nodes, to_tokens
from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..inkml_files import inkml, line

MATHWRITING = Vocabulary.load("mathwriting")


def file(label: str, kind: str = "normalizedLabel") -> str:
    head = f'<annotation type="{kind}">{label}</annotation>'
    return inkml([line(0, 0, 5, 9), line(8, 0, 8, 9)], head=head)


@pytest.fixture
def ink(tmp_path: Path) -> Path:
    folder = tmp_path / "train"
    folder.mkdir()
    files = {
        "a": file("\\hat{x}^{2}\\in\\mathbb{R}"),
        "b": file("\\left(\\tilde x \\right)", kind="label"),
        "c": file("\\begin{matrix}1&amp;2\\end{matrix}"),
        "d": inkml([line(0, 0, 5, 9)]),
        "e": "",
    }
    for name, text in files.items():
        (folder / f"{name}.inkml").write_text(text, "utf-8")
    return folder


def test_labels_come_from_the_files_and_every_file_is_told_of(ink: Path) -> None:
    loaded = load_mathwriting(ink)
    assert [" ".join(formula.tokens) for formula in loaded.formulas] == [
        "\\hat { x } ^ { 2 } \\in \\mathbb{R}",
        "( \\tilde { x } )",
        "",
        "",
    ]
    report = loaded.report
    assert (report.agreeing, report.files) == (2, 5)
    (matrix,) = report.disagreeing
    assert (matrix.name, "\\begin" in matrix.reason) == ("c", True)
    assert [remark.name for remark in report.unlabeled] == ["d"]
    assert [remark.name for remark in report.unreadable] == ["e"]
    for formula in loaded.formulas:
        assert formula.strokes
        assert not formula.placed


def test_a_label_file_is_taken_in_place_of_the_files_own(ink: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.tsv"
    labels.write_text("train/a.inkml\ty+1\ngone\tx\n", "utf-8")
    loaded = load_mathwriting(ink, labels)
    assert loaded.formulas[0].tokens == ("y", "+", "1")
    assert [remark.name for remark in loaded.report.inkless] == ["gone"]
    with pytest.raises(DataError, match=r"nowhere\.tsv"):
        load_mathwriting(ink, tmp_path / "nowhere.tsv")


def test_the_excerpt(shared_data: Path) -> None:
    loaded = load_mathwriting(shared_data / "mathwriting" / "excerpt.zip")
    assert (loaded.report.files, loaded.report.agreeing) == (11, 10)
    (matrix,) = loaded.report.disagreeing
    assert matrix.name == "059225965e1e5dd6"
    labels = {
        Path(label.name).stem: tuple(normalize(label.latex, MATHWRITING))
        for label in read_labels(shared_data / "mathwriting" / "labels-excerpt.tsv")
        if "matrix" not in label.latex
    }
    assert {f.name: f.tokens for f in loaded.formulas if f.tokens} == labels


def test_the_published_test_labels_but_182_are_paths_and_back(shared_data: Path) -> None:
    """175 have a matrix, which is no relation of NAMER's, and 7 a fraction of nothing."""
    labels = read_labels(shared_data / "mathwriting" / "labels-test.tsv")
    irregular: list[str] = []
    for label in labels:
        try:
            tokens = normalize(label.latex, MATHWRITING)
        except LatexError:
            irregular.append(label.latex)
            continue
        assert label_error(tokens, MATHWRITING) is None
        assert to_tokens(to_nodes(tokens, MATHWRITING), MATHWRITING) == tokens
    tabular = [latex for latex in irregular if "\\begin" in latex or "\\\\" in latex]
    assert (len(labels), len(tabular), len(irregular)) == (7644, 175, 182)


def test_its_tokens_are_latex_and_mathml() -> None:
    tokens = normalize("\\hat{x}\\in\\mathbb{R}^2", MATHWRITING)
    assert normalize(compact(tokens, MATHWRITING), MATHWRITING) == tokens
    text = mathml(tokens, MATHWRITING)
    assert "<mi>ℝ</mi>" in text
    assert '<mover accent="true"><mi>x</mi><mo>^</mo></mover>' in text
