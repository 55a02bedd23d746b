"""The forms a formula is handed out in."""

from xml.etree import ElementTree

import pytest
from hypothesis import given

from namer_edge_runtime.errors import LatexError
from namer_edge_runtime.formula.latex import compact
from namer_edge_runtime.formula.mathml import mathml
from namer_edge_runtime.formula.nodes import to_nodes, to_tokens
from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.formula.vocabulary import INKLESS, Vocabulary

from .formulas import CROHME, HME100K, paths


@pytest.mark.parametrize(
    ("canonical", "latex"),
    [
        ("x ^ { 2 } + 1", "x^2+1"),
        ("x ^ { 1 2 }", "x^{12}"),
        ("x ^ { 2 } 3", "x^2 3"),
        ("x ^ { 2 } y", "x^2y"),
        ("x _ { i } ^ { \\alpha }", "x_i^{\\alpha}"),
        ("f ^ { \\prime \\prime } ( x )", "f''(x)"),
        ("\\prime ^ { \\prime }", "\\prime^{\\prime}"),
        ("^ { 2 } x", "{}^2x"),
        ("y ^ { \\prime } ^ { 2 }", "{y'}^2"),
        ("\\sin x \\times 2", "\\sin x\\times 2"),
        ("2 \\pi r", "2\\pi r"),
        ("\\frac { 1 } { x }", "\\frac{1}{x}"),
        ("\\sqrt { x }", "\\sqrt{x}"),
        ("\\sqrt [ 3 ] { x }", "\\sqrt[3]{x}"),
        ("\\sqrt [ \\sqrt [ 3 ] { 2 } ] { x }", "\\sqrt[{\\sqrt[3]{2}}]{x}"),
        ("\\sum \\limits _ { i } ^ { n } i", "\\sum\\limits_i^ni"),
        ("x \\limits _ { i }", "x_i"),
        ("\\mathop { f } \\limits _ { m }", "\\mathop{f}\\limits_m"),
        ("\\{ a \\}", "\\{a\\}"),
        ("\\xrightarrow [ \\Delta ] { O _ { 2 } }", "\\xrightarrow[\\Delta]{O_2}"),
        ("5 0 \\% 元", "50\\%\\text{元}"),
        ("", ""),
    ],
)
def test_compact_latex(canonical: str, latex: str) -> None:
    assert compact(canonical.split()) == latex


MATH = '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">'


@pytest.mark.parametrize(
    ("canonical", "inside"),
    [
        ("x ^ { 2 }", "<msup><mi>x</mi><mn>2</mn></msup>"),
        ("x _ { 1 } ^ { 2 }", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"),
        ("1 2 . 5 ^ { 2 }", "<msup><mn>12.5</mn><mn>2</mn></msup>"),
        ("1 . .", "<mrow><mn>1</mn><mo>.</mo><mo>.</mo></mrow>"),
        ("\\frac { a } { b }", "<mfrac><mi>a</mi><mi>b</mi></mfrac>"),
        ("\\sqrt { x + 1 }", "<msqrt><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow></msqrt>"),
        ("\\sqrt [ 3 ] { x }", "<mroot><mi>x</mi><mn>3</mn></mroot>"),
        ("\\sin \\theta", "<mrow><mi>sin</mi><mi>θ</mi></mrow>"),
        ("a < b", "<mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow>"),
        (
            "\\lim \\limits _ { n } n",
            "<mrow><munder><mi>lim</mi><mi>n</mi></munder><mi>n</mi></mrow>",
        ),
        (
            "\\sum \\limits _ { i } ^ { \\infty }",
            '<munderover><mo movablelimits="false">∑</mo><mi>i</mi><mi>∞</mi></munderover>',
        ),
        ("\\dot { a }", '<mover accent="true"><mi>a</mi><mo>˙</mo></mover>'),
        ("\\boxed { a }", '<menclose notation="box"><mi>a</mi></menclose>'),
        ("^ { 2 }", "<msup><mrow></mrow><mn>2</mn></msup>"),
        ("\\Foo", "<mtext>\\Foo</mtext>"),
        ("", "<mrow></mrow>"),
    ],
)
def test_presentation_mathml(canonical: str, inside: str) -> None:
    assert mathml(canonical.split()) == f"{MATH}{inside}</math>"


def test_marked_elements_name_their_visual_token() -> None:
    label = "\\frac { 1 2 ^ { 3 } } { \\sqrt { x _ { 1 } } } + \\sum \\limits _ { i } a"
    tokens = label.split()
    nodes = to_nodes(tokens, CROHME)
    visual = [node.token for node in nodes if not node.ending]
    written = ElementTree.fromstring(mathml(tokens, marked=True))
    found = {
        int(element.attrib["data-token"]): element.text or element.tag.partition("}")[2]
        for element in written.iter()
        if "data-token" in element.attrib
    }
    inked = {place: token for place, token in enumerate(visual) if token not in INKLESS}
    shown = {"\\frac": "mfrac", "\\sqrt": "msqrt", "\\sum": "∑"}
    assert found == {place: shown.get(token, token) for place, token in inked.items()}
    assert "data-token" not in mathml(tokens)


def test_every_symbol_has_a_character() -> None:
    for vocabulary in (CROHME, HME100K):
        unknown = [s for s in vocabulary.symbols if "<mtext>" in mathml([s], vocabulary)]
        assert not unknown


def test_relations_of_ones_own_vocabulary() -> None:
    label = "\\vec { x } ^ { 2 } + \\binom { n } { 2 }"
    tokens = label.split()
    assert compact(tokens) == "\\vec{x}^2+\\binom{n}{2}"
    ElementTree.fromstring(mathml(tokens))


@pytest.mark.parametrize("write", [compact, mathml])
def test_unbalanced_tokens_are_refused(write: type) -> None:
    with pytest.raises(LatexError):
        write(["\\frac", "{", "1", "}"])


def test_as_deep_as_a_decoder_can_return() -> None:
    tokens = to_tokens(["^"] * 600 + ["}"] * 600, CROHME)
    assert compact(tokens).count("^") == mathml(tokens).count("<msup>") == 600


@given(paths(CROHME))
def test_crohme_paths_can_be_written(path: list[str]) -> None:
    check_written(path, CROHME)


@given(paths(HME100K))
def test_hme100k_paths_can_be_written(path: list[str]) -> None:
    check_written(path, HME100K)


def check_written(path: list[str], vocabulary: Vocabulary) -> None:
    tokens = to_tokens(path, vocabulary)
    ElementTree.fromstring(mathml(tokens))
    canonical = normalize(compact(tokens), vocabulary)
    assert normalize(compact(canonical), vocabulary) == canonical


@given(paths(CROHME, without="[ ]"))
def test_crohme_canonical_form_survives_compact_latex(path: list[str]) -> None:
    check_survives(path, CROHME)


@given(paths(HME100K, without="[ ]"))
def test_hme100k_canonical_form_survives_compact_latex(path: list[str]) -> None:
    check_survives(path, HME100K)


def check_survives(path: list[str], vocabulary: Vocabulary) -> None:
    tokens = normalize(" ".join(to_tokens(path, vocabulary)), vocabulary)
    assert normalize(compact(tokens, vocabulary), vocabulary) == tokens


@pytest.mark.parametrize(
    ("canonical", "inside"),
    [
        (
            "( a - b ) ^ { 2 }",
            "<msup><mrow><mo>(</mo><mi>a</mi><mo>−</mo><mi>b</mi><mo>)</mo></mrow><mn>2</mn></msup>",
        ),
        (
            "f ( 1 2 ) _ { 3 }",
            "<mrow><mi>f</mi><msub><mrow><mo>(</mo><mn>12</mn><mo>)</mo></mrow><mn>3</mn></msub>"
            "</mrow>",
        ),
        ("[ 0 , 1 )", "<mrow><mo>[</mo><mn>0</mn><mo>,</mo><mn>1</mn><mo>)</mo></mrow>"),
        ("| x | ^ { 2 }", "<msup><mrow><mo>|</mo><mi>x</mi><mo>|</mo></mrow><mn>2</mn></msup>"),
        (
            "| | x | |",
            "<mrow><mo>|</mo><mrow><mo>|</mo><mi>x</mi><mo>|</mo></mrow><mo>|</mo></mrow>",
        ),
        (
            "( x | y )",
            '<mrow><mo>(</mo><mi>x</mi><mo stretchy="false">|</mo><mi>y</mi><mo>)</mo></mrow>',
        ),
        ("a )", '<mrow><mi>a</mi><mo stretchy="false">)</mo></mrow>'),
        (
            ") ^ { 2 } (",
            '<mrow><msup><mo stretchy="false">)</mo><mn>2</mn></msup><mo stretchy="false">(</mo>'
            "</mrow>",
        ),
    ],
)
def test_brackets_hold_together_and_bear_the_script(canonical: str, inside: str) -> None:
    assert mathml(canonical.split()) == f"{MATH}{inside}</math>"
