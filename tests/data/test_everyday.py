"""Signs, accents and labels of everyday mathematics beyond CROHME."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from namer_edge.data.everyday import Everyday
from namer_edge.data.formula import Formula
from namer_edge.data.labels import canonical
from namer_edge.data.layout_statistics import ACCENTS, measure
from namer_edge.data.layout_synthesis import MARKS, Typesetter
from namer_edge.data.sign_sizes import LIKE
from namer_edge.data.symbols import OOV, load_symbols
from namer_edge.data.synthesis import ink_by_token
from namer_edge.evaluation.new_signs import compose, measure_new_signs
from namer_edge_runtime.command import main
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.strokes import Strokes, bounds
from namer_edge_runtime.result import Reading, Result

from ..handwriting import WRITTEN, written

EVERYDAY = Vocabulary.load("everyday")
FORMULAS = [written(number, seed) for number in range(len(WRITTEN)) for seed in range(2)]
TABLE = "label\ttoken\twriter\trel\tsize\tstrokes\n" + "".join(
    f"{label}\t{token}\t?\t1.00\t1000\t0,{number} 500,1000|1000,0 500,500\n"
    for number, (label, token) in enumerate(
        (
            *(("\\nabla", OOV), ("\\mathds{R}", OOV), ("\\upalpha", OOV), ("\\Upomega", OOV)),
            *(("\\Sigma", "\\sum"), ("\\varnothing", OOV), ("*", OOV), ("O", OOV), ("~", OOV)),
            *(("\\mathfrak{r}", OOV), ("\\venus", OOV), ("\\mars", OOV), ("\\uparrow", OOV)),
        )
    )
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "signs.tsv"
    path.write_text(TABLE)
    return path


def test_labels_use_every_class_and_follow_from_the_seed(tmp_path: Path) -> None:
    one, again, other = (tmp_path / f"{name}.tsv" for name in ("one", "again", "other"))
    for path, seed in ((one, 0), (again, 0), (other, 1)):
        command = ["data", "everyday", "-o", str(path), "--count", "6000", "--seed", str(seed)]
        assert main(command) == 0
    assert one.read_text() == again.read_text() != other.read_text()
    labels = canonical(one, EVERYDAY)
    assert len(labels) == 6000
    counts = Counter(node.token for label in labels for node in to_nodes(label, EVERYDAY))
    crohme = Vocabulary.load("crohme")
    rare = [token for token in EVERYDAY.tokens if token not in crohme and counts[token] < 15]
    assert not rare


def test_labels_without_rows_of_signs_are_formulas() -> None:
    draw = Everyday(np.random.default_rng(0), alone=0, listed=0, mixed=0)
    assert sum(len(draw()) > 1 for _ in range(300)) > 280


def test_a_label_of_a_table_names_the_class_it_means(table: Path) -> None:
    def classes(vocabulary: Vocabulary) -> list[str]:
        return [formula.tokens[0] for formula in load_symbols([table], vocabulary).formulas]

    assert classes(EVERYDAY) == [
        *("\\nabla", "\\mathbb{R}", "\\alpha", "\\Omega", "\\Sigma", "\\emptyset", "\\ast", "O"),
        *("\\sim", OOV, "\\uparrow"),
    ]
    # `*`, `~` and `\\mars` look like no symbol of CROHME.
    assert classes(Vocabulary.load("crohme")) == ["\\alpha", "\\sum", OOV, OOV, OOV]


def test_held_out_samples_are_the_others(table: Path) -> None:
    kept = load_symbols([table], EVERYDAY, hold_out=3)
    judged = load_symbols([table], EVERYDAY, hold_out=3, held_out=True)
    names = [{f.name for f in loaded.formulas} for loaded in (kept, judged)]
    assert all(names)
    assert not names[0] & names[1]
    assert names[0] | names[1] == {f.name for f in load_symbols([table], EVERYDAY).formulas}


def typesetter() -> Typesetter:
    bank = ink_by_token(FORMULAS, EVERYDAY)
    line: Strokes = [np.array([[0, 0], [40, 0]], np.float32)]
    corner: Strokes = [np.array([[0, 9], [9, 0], [18, 9]], np.float32)]
    dot: Strokes = [np.array([[0, 0]], np.float32)]
    marks = {"-": line, "\\rightarrow": line, "\\sim": line, "\\wedge": corner, ".": dot}
    bank |= {token: [strokes] for token, strokes in marks.items()}
    bank |= dict.fromkeys(("l", "n", "m", "x"), bank["a"])
    return Typesetter(measure(FORMULAS, EVERYDAY), bank, EVERYDAY)


def boxes(label: str) -> dict[str, tuple[float, float, float, float]]:
    setter = typesetter()
    assert setter.knows(label.split())
    made = setter("set", label.split(), np.random.default_rng(3))
    nodes = [n.token for n in to_nodes(made.tokens, EVERYDAY) if not n.ending]
    assert len(made.positions) == len(nodes)
    ink = {
        token: [s for s, owner in zip(made.strokes, made.symbols, strict=True) if owner == number]
        for number, token in enumerate(nodes)
    }
    return {token: bounds(strokes) for token, strokes in ink.items() if strokes}


@pytest.mark.parametrize("accent", ACCENTS)
def test_an_accent_stands_over_what_it_holds_or_under_it(accent: str) -> None:
    placed = boxes(f"a + {accent} {{ b }} + y")
    mark, held = placed[accent], placed["b"]
    assert (mark[1] > held[3]) if accent == "\\underline" else (mark[3] < held[1])
    assert held[0] - 0.6 < (mark[0] + mark[2]) / 2 < held[2] + 0.6
    assert placed["+"][0] > placed["a"][2]


def test_every_accent_has_a_mark() -> None:
    assert set(MARKS) == {*ACCENTS, "\\frac"}
    assert set(ACCENTS) == {t for t, takes in EVERYDAY.relations.items() if len(takes) == 1} - {
        "^",
        "_",
        "\\limits",
    }


def test_a_function_name_is_written_in_letters_as_one_node() -> None:
    placed = boxes("\\ln x + 1")
    assert placed["\\ln"][2] <= placed["x"][0] + 0.3
    assert placed["\\ln"][2] - placed["\\ln"][0] > placed["x"][2] - placed["x"][0]


def test_sizes_of_signs_that_were_not_measured_are_those_of_similar_ones() -> None:
    found = measure(FORMULAS, EVERYDAY)
    assert found.size["\\approx"] == found.size["="] != 0
    assert found.rise["\\eta"] == found.rise["y"] != 0
    assert set(LIKE) <= set(EVERYDAY.symbols)


class KnowsSigns:
    """Reads a single sign as the second of its readings, and formulas right."""

    vocabulary = EVERYDAY

    def __init__(self, known: dict[int, Formula]) -> None:
        self.known = known

    def __call__(self, inks: list[Strokes], alternatives: int) -> list[Result]:
        answers = []
        for ink in inks:
            formula = self.known.get(id(ink[0]))
            other = Reading("", " ".join(formula.tokens) if formula else "", 0.2)
            answers.append(Result("", "x", 0.5, alternatives=(other,)))
        return answers


def sign(token: str, number: int) -> Formula:
    """A sample of one sign, in ink of its own."""
    strokes = [np.array([[0, 0], [9, number], [9, 30 - number]], np.float32)]
    box = np.array([bounds(strokes)], np.float32)
    owners = np.zeros(1, np.int32)
    return Formula(f"sign{number}", strokes, owners, (token,), box[:, :2], box)


def test_signs_count_first_and_among_five_and_formulas_hold_some() -> None:
    new = ("\\nabla", "\\times", "\\pi", "\\equiv", "\\mu")
    signs = [sign(token, number) for number, token in enumerate(new)]
    rest = [sign(token, 10) for token in EVERYDAY.symbols if token not in new]
    known = {id(one.strokes[0]): one for one in signs}
    found = measure_new_signs(KnowsSigns(known), signs, [*FORMULAS, *rest], 3)  # type: ignore[arg-type]
    # `\\times` may be drawn like x.
    assert (found.signs, found.first, found.among) == (5, 1, 5)
    assert (found.formulas, found.right) == (3, 0)
    assert dict(found.misread)["\\nabla"] == "x"
    for formula in compose(signs, [*FORMULAS, *rest], EVERYDAY, 4, seed=1):
        assert set(new) & set(formula.tokens)
        assert len(formula.tokens) > 1
