"""LaTeX as people write it becomes the canonical form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namer_edge_runtime.errors import LatexError
from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.formula.vocabulary import Vocabulary

from .formulas import CROHME, HME100K, paths


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        ("x^2", "x ^ { 2 }"),
        ("x^{2}", "x ^ { 2 }"),
        ("x^\\alpha", "x ^ { \\alpha }"),
        ("x^\\frac12", "x ^ { \\frac { 1 } { 2 } }"),
        ("e^{-\\sqrt 2}", "e ^ { - \\sqrt { 2 } }"),
        ("x^2_1", "x _ { 1 } ^ { 2 }"),
        ("{x^2}_1", "x _ { 1 } ^ { 2 }"),
        ("x_{}", "x"),
        ("\\frac12", "\\frac { 1 } { 2 }"),
        ("\\frac1{2x}", "\\frac { 1 } { 2 x }"),
        ("\\dfrac{a}b", "\\frac { a } { b }"),
        ("{a+b \\over c}", "\\frac { a + b } { c }"),
        ("\\sqrt3", "\\sqrt { 3 }"),
        ("\\sqrt[3]{x}", "\\sqrt [ 3 ] { x }"),
        ("\\sqrt[n]x", "\\sqrt [ n ] { x }"),
        ("\\sqrt[]{x}", "\\sqrt { x }"),
        ("\\sqrt[\\sqrt[3]{2}]{[a]}", "\\sqrt [ \\sqrt [ 3 ] { 2 } ] { [ a ] }"),
        ("\\left(a\\right)", "( a )"),
        ("\\left. a \\right|_0^1", "a | _ { 0 } ^ { 1 }"),
        ("\\left\\{a\\right\\}", "\\{ a \\}"),
        ("\\Big[a\\Big]", "[ a ]"),
        ("a \\le b \\ge c \\ne d", "a \\leq b \\geq c \\neq d"),
        ("a \\not= b", "a \\neq b"),
        ("a\\lt b\\gt c", "a < b > c"),
        ("M\\ltN", "M < N"),
        ("x\\to\\infty", "x \\rightarrow \\infty"),
        ("\\lvert x\\rvert", "| x |"),
        ("\\|x\\|", "| | x | |"),
        ("1,\\dots,n", "1 , \\ldots , n"),
        ("f'(x)", "f ^ { \\prime } ( x )"),
        ("f''", "f ^ { \\prime \\prime }"),
        ("f'^2", "f ^ { \\prime 2 }"),
        ("f_1'", "f _ { 1 } ^ { \\prime }"),
        ("f^{'}", "f ^ { \\prime }"),
        ("f^'", "f ^ { \\prime }"),
        ("f^{\\prime}", "f ^ { \\prime }"),
        ("y \\prime", "y \\prime"),
        ("$$x$$", "x"),
        ("$x$ + $y$", "x + y"),
        ("\\[ x \\]", "x"),
        ("\\displaystyle x\\,\\! y \\quad z\\ ", "x y z"),
        ("{{x}}", "x"),
        ("\\mathrm{d}x", "d x"),
        ("\\mbox{log} x", "\\log x"),
        ("\\operatorname{sin}x", "\\sin x"),
        ("\\operatorname*{lim}_{x}", "\\lim \\limits _ { x }"),
        ("l o g x", "\\log x"),
        ("\\ln x", "l n x"),
        ("\\sum_{i=1}^n i", "\\sum \\limits _ { i = 1 } ^ { n } i"),
        ("\\sum^n_{i=1} i", "\\sum \\limits _ { i = 1 } ^ { n } i"),
        ("\\sum\\limits_i", "\\sum \\limits _ { i }"),
        ("\\sum\\nolimits_i", "\\sum \\limits _ { i }"),
        ("\\int^1", "\\int ^ { 1 }"),
        ("\\int\\limits^1", "\\int ^ { 1 }"),
        ("\\int x", "\\int x"),
        ("x\\limits_1", "x _ { 1 }"),
        ("α² ≤ ∞ − 2×3", "\\alpha ^ { 2 } \\leq \\infty - 2 \\times 3"),
        ("x¹²", "x ^ { 1 2 }"),
        ("", ""),
        ("$ $", ""),
    ],
)
def test_what_people_type(typed: str, canonical: str) -> None:
    assert " ".join(normalize(typed)) == canonical


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        ("|x|", "\\vert x \\vert"),
        ("\\sum_{i}^{5}", "\\sum _ { i } ^ { 5 }"),
        ("\\lim\\limits_{n\\to\\infty}", "\\lim \\limits _ { n \\rightarrow \\infty }"),
        ("\\mathop{f}\\limits_{m}", "\\mathop { f } \\limits _ { m }"),
        ("\\hat{b}", "\\widehat { b }"),
        ("\\overline AB", "\\overline { A } B"),
        ("\\xrightarrow[\\Delta]{O_2}", "\\xrightarrow [ \\Delta ] { O _ { 2 } }"),
        ("\\ln x", "\\ln x"),
        ("50%", "5 0 \\%"),
        ("∠A=90°", "\\angle A = 9 0 \\circ"),
    ],
)
def test_the_vocabulary_decides_the_spelling(typed: str, canonical: str) -> None:
    assert " ".join(normalize(typed, HME100K)) == canonical


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("a + \\foo", "'\\\\foo' at character 5 is no symbol"),
        ("x # y", "'#' at character 3"),
        ("\\begin{matrix}", "'\\\\begin{matrix}' at character 1"),
        ("\\overline{x}", "'\\\\overline' at character 1"),
        ("x^", "'^' at character 2 lacks an argument"),
        ("{x_}", "'_' at character 3 lacks an argument"),
        ("x^_2", "'^' at character 2 lacks an argument"),
        ("\\frac1", "'\\\\frac' at character 1 lacks an argument"),
        ("\\sqrt{x", "'{' at character 6 is never closed: add '}'"),
        ("\\sqrt[3{x}", "'[' at character 6 is never closed: add ']'"),
        ("x}", "'}' at character 2 closes nothing"),
        ("{" * 5000, "too deeply"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(typed: str, message: str) -> None:
    with pytest.raises(LatexError) as error:
        normalize(typed)
    assert message in str(error.value)


def test_a_label_may_hold_what_has_no_class() -> None:
    assert normalize("2\\Pi+\\bar{x}", strict=False) == ["2", "\\Pi", "+", "\\bar", "{", "x", "}"]


@given(paths(CROHME, without="[ ]"))
def test_crohme_normal_form_stays(path: list[str]) -> None:
    check_stays(path, CROHME)


@given(paths(HME100K, without="[ ]"))
def test_hme100k_normal_form_stays(path: list[str]) -> None:
    check_stays(path, HME100K)


def check_stays(path: list[str], vocabulary: Vocabulary) -> None:
    from namer_edge_runtime.formula.nodes import to_nodes, to_tokens

    tokens = normalize(" ".join(to_tokens(path, vocabulary)), vocabulary)
    assert normalize(" ".join(tokens), vocabulary) == tokens
    assert to_tokens(to_nodes(tokens, vocabulary), vocabulary) == tokens


@given(st.text(alphabet="x2^_{}[]'$ \\frac+sqrtlim", max_size=30))
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    try:
        tokens = normalize(text)
    except LatexError:
        return
    assert all(token in CROHME or token in "{}" for token in tokens)


@pytest.mark.parametrize("vocabulary", [CROHME, HME100K], ids=lambda v: v.name)
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"\begin{equation}x+1\end{equation}", "x+1"),
        (r"\begin {aligned*} a&=b \end{aligned*}", "a=b"),
        (r"x+1\tag{1}\label{eq:a_1}\nonumber", "x+1"),
        (r"x\tag*{(1)}", "x"),
        (r"a\hspace{1em}b\hspace*{2pt}c\kern1pt d\mkern-3mu e\hskip 1em f", "abcdef"),
        (r"\sqrt{x\hspace{2pt}}\phantom{yz}", r"\sqrt{x}"),
        ("x+1 % comment", "x+1"),
        (r"\color{red}{x}+{\color[rgb]{1,0,0}y}\textcolor{red}{z}", "x+yz"),
        (r"\frac\color{red}12", r"\frac12"),
        (r"x\sp2\sb{1}", "x^2_1"),
        ("1,2,...,n", r"1,2,\ldots,n"),
        ("1.......n", "1 . . . . . . . n"),
        ("f’(x)+f′+f″+x_1′", "f'(x)+f'+f''+x_1'"),
        (r"\underset{x\to0}{\lim}f", r"\lim\limits_{x\to0}f"),
        (r"\overset{a}{=}\stackrel{b}{=}", "=^a=^b"),
        ("x₁₂+y₁²+aₙ₋₁", "x_{12}+y_1^2+a_{n-1}"),
        ("½x+1¼", r"\frac12x+1\frac14"),
        ("x⁻¹+xⁿ⁺¹", "x^{-1}+x^{n+1}"),
    ],
)
def test_labels_as_tools_write_them(written: str, meant: str, vocabulary: Vocabulary) -> None:
    assert normalize(written, vocabulary) == normalize(meant, vocabulary)


def test_a_box_is_kept_where_it_is_a_class() -> None:
    assert normalize(r"\boxed{x}", CROHME) == ["x"]
    assert normalize(r"\boxed{x}", HME100K) == ["\\boxed", "{", "x", "}"]


@pytest.mark.parametrize("written", [r"x\tag", r"x\tag{1", r"x\hspace", r"\underset{a}"])
def test_commands_around_no_ink_need_their_argument(written: str) -> None:
    for strict in (True, False):
        with pytest.raises(LatexError, match="lacks an argument"):
            normalize(written, CROHME, strict=strict)


def test_other_environments_are_no_letters() -> None:
    tokens = normalize(r"\begin{cases}a\end{cases}", CROHME, strict=False)
    assert tokens == [r"\begin{cases}", "a", r"\end{cases}"]
