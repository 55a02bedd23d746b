"""The signs and structures of everyday mathematics."""

from xml.etree import ElementTree

import pytest
from hypothesis import given

from namer_edge.data.labels import label_error
from namer_edge_runtime.errors import LatexError
from namer_edge_runtime.formula import signs
from namer_edge_runtime.formula.expression import Expression
from namer_edge_runtime.formula.label_graph import symbols
from namer_edge_runtime.formula.nodes import to_nodes, to_tokens
from namer_edge_runtime.formula.signs import OVER, SIGNS, UNDER, drawn_alike, drawn_as
from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.formula.vocabulary import ENVIRONMENTS, ROWS, Vocabulary

from .formulas import CROHME, EVERYDAY, HME100K, paths
from .test_label_graph import check_tree
from .test_latex_and_mathml import MATH, check_survives, check_written
from .test_nodes import check_path
from .test_tokens import check_stays


def canonical(latex: str) -> str:
    return " ".join(normalize(latex, EVERYDAY))


def test_the_vocabulary_has_crohme_and_at_least_220_classes() -> None:
    assert set(CROHME.tokens) <= set(EVERYDAY.tokens)
    assert EVERYDAY.size >= 220
    assert set(EVERYDAY.limits) >= set(CROHME.limits)


def test_every_class_is_a_sign_of_the_table() -> None:
    assert not [token for token in (*CROHME.symbols, *EVERYDAY.symbols) if token not in SIGNS]
    accents = {token for token in EVERYDAY.relations if token in SIGNS}
    assert {SIGNS[token].kind for token in accents} == {OVER, UNDER}


def test_each_class_is_its_own_canonical_form() -> None:
    for token in EVERYDAY.symbols:
        written = Expression((token,), EVERYDAY)
        assert normalize(token, EVERYDAY) == normalize(written.latex, EVERYDAY) == [token]
        assert "<mtext>" not in written.mathml()


def test_characters_are_read_as_their_sign() -> None:
    for sign in (SIGNS[token] for token in EVERYDAY.symbols):
        if not sign.character.isascii():
            assert normalize(sign.character, EVERYDAY) == [sign.token]


def test_signs_drawn_alike() -> None:
    rows = [row.split() for row in signs._ALIKE.strip().splitlines()]
    tokens = [token for row in rows for token in row]
    assert len(tokens) == len(set(tokens)), "a sign is in two rows"
    for pair in (r"\Sigma \sum", r"\Pi \prod", r"\| \parallel", r"\epsilon \in", r"\mathcal{X} X"):
        assert drawn_alike(*pair.split())
    assert drawn_alike(r"\mathcal{O}", "0")
    assert not drawn_alike(r"\subset", r"\subseteq")
    assert drawn_as(r"\pi") == r"\pi"


@pytest.mark.parametrize(
    ("typed", "spaced"),
    [
        (r"90°", r"9 0 ^ { \circ }"),
        (r"30\degree C", r"3 0 ^ { \circ } C"),
        (r"45^\circ", r"4 5 ^ { \circ }"),
        (r"45^{°}", r"4 5 ^ { \circ }"),
        (r"f\circ g", r"f \circ g"),
        (
            r"\mathds{R}\mathbb{Z}\mathscr{L}\mathcal{L}",
            r"\mathbb{R} \mathbb{Z} \mathcal{L} \mathcal{L}",
        ),
        (r"\mathbb{G}", "G"),
        (r"ℝ⊂ℂ", r"\mathbb{R} \subset \mathbb{C}"),
        (r"\lVert x\rVert=\Vert x\Vert", r"\parallel x \parallel = \parallel x \parallel"),
        (r"\varnothing\land\lnot\perp", r"\emptyset \wedge \neg \perp"),
        (r"a\not=b\not\in c\not\exists d\not\mid e", r"a \neq b \notin c \nexists d \nmid e"),
        (r"\not\subseteq\not\sim\not\leq", r"\nsubseteq \nsim \nleq"),
        (r"a\equiv b\pmod{n}\bmod k", r"a \equiv b ( \mod n ) \mod k"),
        (r"\ln\det A", r"\ln \det A"),
        ("ln det A+arcsin x+coth y", r"\ln \det A + \arcsin x + c o t h y"),
        ("max_x f", r"\max \limits _ { x } f"),
        ("Re Im sgn", "R e I m s g n"),
        (r"\bigvee\bigwedge\varrho", r"\vee \wedge \rho"),
        (r"\operatorname{arcsin}x", r"\arcsin x"),
        (r"\operatorname{Re}z", "R e z"),
        (r"\limsup_{n}a", r"\lim \sup \limits _ { n } a"),
        (r"\prod_{i}^{n}\oint_C", r"\prod \limits _ { i } ^ { n } \oint \limits _ { C }"),
        (r"\overline{AB}\bar x", r"\overline { A B } \overline { x }"),
        (r"\vec\imath+\widehat{AB}", r"\vec { i } + \hat { A B }"),
        (r"\underline{x}\sqrt[3]2", r"\underline { x } \sqrt [ 3 ] { 2 }"),
        (r"x''+50\%\&\#\$5", r"x ^ { \prime \prime } + 5 0 \% \& \# \$ 5"),
    ],
)
def test_what_people_type(typed: str, spaced: str) -> None:
    assert canonical(typed) == spaced
    assert canonical(spaced) == spaced
    assert canonical(Expression(tuple(spaced.split()), EVERYDAY).latex) == spaced


MATRIX = r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"


@pytest.mark.parametrize(
    ("typed", "spaced"),
    [
        (r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", MATRIX),
        (r"\left(\begin{array}{c|c}a&b\\[2pt]\hline c&d\\\end{array}\right)", MATRIX),
        (r"(\begin {matrix} {a} & {b} \\ {c} & {d} \\ \end {matrix})", MATRIX),
        (r"\bigl(\begin{smallmatrix}a&b\\*c&d\end{smallmatrix}\bigr)^T", rf"{MATRIX} ^ {{ T }}"),
        (r"[\begin{matrix}1&2\end{matrix}]", r"\begin{bmatrix} 1 & 2 \end{bmatrix}"),
        (r"\{\begin{matrix}1\\2\end{matrix}\}", r"\begin{Bmatrix} 1 \\ 2 \end{Bmatrix}"),
        (r"\left|\begin{matrix}1&2\end{matrix}\right|", r"\begin{vmatrix} 1 & 2 \end{vmatrix}"),
        (r"\|\begin{matrix}1&2\end{matrix}\|", r"\begin{Vmatrix} 1 & 2 \end{Vmatrix}"),
        (r"\begin{matrix}1&2\end{matrix}", r"\begin{matrix} 1 & 2 \end{matrix}"),
        (r"\binom nk", r"\begin{pmatrix} n \\ k \end{pmatrix}"),
        (r"{n+1 \choose k}x", r"\begin{pmatrix} n + 1 \\ k \end{pmatrix} x"),
        (r"(\begin{matrix}1&2\end{matrix}]", r"( \begin{matrix} 1 & 2 \end{matrix} ]"),
        (r"\begin{pmatrix}a\end{pmatrix}", "( a )"),
        (r"[\begin{matrix}a\\\end{matrix}]", "[ a ]"),
        (
            r"|x|=\left\{\begin{array}{ll}x,&x\ge0\\-x&\end{array}\right.",
            r"| x | = \begin{cases} x , & x \geq 0 \\ - x & \end{cases}",
        ),
        (
            r"\left\{\begin{aligned}x+y&=1\\x&=2\end{aligned}\right.",
            r"\begin{cases} x + y = 1 \\ x = 2 \end{cases}",
        ),
        (r"\begin{align*}a&=b\\&=c\end{align*}", r"\begin{aligned} a = b \\ = c \end{aligned}"),
        (r"\begin{align*}a&=b\end{align*}", "a = b"),
        (r"\begin{equation}a=b\end{equation}", "a = b"),
        (
            r"\begin{vmatrix}[a]&*\\[b]&\begin{matrix}1&2\end{matrix}\end{vmatrix}",
            r"\begin{vmatrix} [ a ] & \ast \\ [ b ] & \begin{matrix} 1 & 2 \end{matrix} "
            r"\end{vmatrix}",
        ),
        (r"\begin{pmatrix}&1\\\frac12&\end{pmatrix}", None),
    ],
)
def test_rows_of_cells(typed: str, spaced: str | None) -> None:
    tokens = normalize(typed, EVERYDAY)
    assert spaced is None or " ".join(tokens) == spaced
    assert to_tokens(to_nodes(tokens, EVERYDAY), EVERYDAY) == tokens
    expression = Expression(tuple(tokens), EVERYDAY)
    assert normalize(expression.latex, EVERYDAY) == normalize(expression.katex, EVERYDAY) == tokens
    table = ElementTree.fromstring(expression.mathml()).iter(
        "{http://www.w3.org/1998/Math/MathML}mtr"
    )
    rows = [] if r"\begin" not in expression.canonical else [*table]
    assert len(rows) == sum(t == r"\\" or t.startswith(r"\begin") for t in tokens)
    assert label_error(tokens, EVERYDAY) is None


def test_the_path_of_a_matrix() -> None:
    nodes = to_nodes(MATRIX.split(), EVERYDAY)
    assert " ".join(node.token for node in nodes) == r"\begin{pmatrix} a & b \\ c & d }"
    assert (nodes[-1].parent, nodes[-1].ending) == (0, 1)


def test_a_matrix_in_mathml_and_label_graph() -> None:
    expression = Expression((*MATRIX.split(), "x"), EVERYDAY)
    cells = [f"<mtd><mi>{letter}</mi></mtd>" for letter in "abcd"]
    table = f"<mtable><mtr>{cells[0]}{cells[1]}</mtr><mtr>{cells[2]}{cells[3]}</mtr></mtable>"
    assert expression.mathml() == (
        f"{MATH}<mrow><mrow><mo>(</mo>{table}<mo>)</mo></mrow><mi>x</mi></mrow></math>"
    )
    found = symbols(expression.tokens, EVERYDAY)
    hung = [f"{s.token} {s.relation}" for s in found[1:] if s.parent == 0]
    assert hung == ["a Cell-1-1", "b Cell-1-2", "c Cell-2-1", "d Cell-2-2", "x Right"]
    assert [s.number for s in found] == [0, 1, 3, 5, 7, 8]
    assert 'data-token="8"' in expression.mathml(marked=True)


@pytest.mark.parametrize(
    ("latex", "written"),
    [
        (r"\overline { x }", r"\bar{x}"),
        (r"\overline { A B }", r"\overline{AB}"),
        (r"\vec { x _ { 1 } } \vec { P Q }", r"\vec{x_1}\overrightarrow{PQ}"),
        (r"\hat { f } \hat { f g }", r"\hat{f}\widehat{fg}"),
        (r"\mod n", r"\bmod n"),
        (r"\parallel x \parallel", r"\|x\|"),
        (r"2 \parallel v \parallel + 1", r"2\|v\|+1"),
        (r"a = \parallel v \parallel w", r"a=\|v\|w"),
        (r"\parallel v \parallel _ { 2 } \leq \parallel w \parallel", r"\|v\|_2\leq\|w\|"),
        (r"a \parallel b", r"a\parallel b"),
        (r"a \parallel b \parallel c", r"a\parallel b\parallel c"),
        (r"a \parallel b , c \parallel d", r"a\parallel b,c\parallel d"),
        (r"\begin{aligned} a = b \\ c \end{aligned}", r"\begin{aligned}&a=b\\&c\end{aligned}"),
        (r"\begin{pmatrix} [ a \\ [ b \end{pmatrix}", r"\begin{pmatrix}[a\\{}[b\end{pmatrix}"),
    ],
)
def test_compact_latex(latex: str, written: str) -> None:
    assert Expression(tuple(latex.split()), EVERYDAY).latex == written


def test_other_vocabularies_keep_their_accents() -> None:
    assert Expression((r"\overline", "{", "A", "}"), HME100K).latex == r"\overline{A}"
    mathwriting = Vocabulary.load("mathwriting")
    assert Expression((r"\bar", "{", "A", "B", "}"), mathwriting).latex == r"\bar{AB}"
    assert normalize("sin max x", HME100K) == [*"sinmaxx"]


def test_binomials_are_known_to_all_writers() -> None:
    expression = Expression((r"\binom", *"{n}{k}"), EVERYDAY)
    assert expression.latex == r"\binom{n}{k}"
    assert 'linethickness="0"' in expression.mathml()
    assert [s.relation for s in symbols(expression.tokens, EVERYDAY)] == ["", "Above", "Below"]
    mathwriting = Vocabulary.load("mathwriting")
    assert normalize(r"{n \choose k}", mathwriting) == normalize(r"\binom nk", mathwriting)
    with pytest.raises(LatexError, match="binom"):
        normalize(r"\binom nk", CROHME)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (r"\begin{pmatrix}a&b", "never closed"),
        (r"\begin{pmatrix}a\end{bmatrix}", "end{bmatrix}"),
        (r"\begin{tabular}a\end{tabular}", r"begin{tabular}"),
        (r"a\\b", "is no symbol"),
        (r"\end{pmatrix}", "is no symbol"),
        (r"\begin{pmatrix}{a\end{pmatrix}}", "end{pmatrix}"),
    ],
)
def test_broken_rows_are_named(typed: str, message: str) -> None:
    with pytest.raises(LatexError, match=message.replace("{", r"\{")):
        normalize(typed, EVERYDAY)


@pytest.mark.parametrize("label", [r"\begin{pmatrix} a", r"a \end{pmatrix}", MATRIX[:-5] + "x}"])
def test_unbalanced_rows_are_no_formula(label: str) -> None:
    with pytest.raises(LatexError):
        to_nodes(label.split(), EVERYDAY)
    assert label_error(label.split(), EVERYDAY)


def test_labels_hold_matrices_where_their_dots_are_a_class() -> None:
    with pytest.raises(LatexError, match="begin"):
        normalize(MATRIX, CROHME)
    assert label_error(MATRIX.split(), CROHME)
    assert not CROHME.opens_rows | HME100K.opens_rows
    assert EVERYDAY.opens_rows == ENVIRONMENTS
    assert not EVERYDAY.opens_rows & {*EVERYDAY.tokens}


def test_scanned_matrices_are_relations() -> None:
    vocabulary = Vocabulary.scan([MATRIX, r"\frac { x } { y }"])
    assert vocabulary.relations == {r"\begin{pmatrix}": (ROWS,), r"\frac": ("{", "{")}
    assert set(vocabulary.symbols) == {*"abcdxy", "&", r"\\"}
    assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary
    assert normalize(MATRIX, vocabulary) == MATRIX.split()
    assert vocabulary.opens_rows == {r"\begin{pmatrix}"}


@given(paths(EVERYDAY))
def test_every_path_survives(path: list[str]) -> None:
    check_path(path, EVERYDAY)
    check_tree(path, EVERYDAY)
    check_written(path, EVERYDAY)


@given(paths(EVERYDAY, without="[ ]"))
def test_the_canonical_form_survives(path: list[str]) -> None:
    check_stays(path, EVERYDAY)
    check_survives(path, EVERYDAY)
