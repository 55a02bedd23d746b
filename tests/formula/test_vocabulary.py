"""The classes of a data set."""

from pathlib import Path

import pytest

from namer_edge_runtime.errors import LatexError, ModelFileError, UsageError
from namer_edge_runtime.formula.latex import compact
from namer_edge_runtime.formula.vocabulary import Vocabulary

from .formulas import CROHME, HME100K, read_labels


def test_relation_table_of_the_supplement() -> None:
    endings = dict(zip(HME100K.tokens, HME100K.endings.tolist(), strict=True))
    one = "^ _ \\limits \\dot \\ddot \\boxed \\widehat \\overline \\textcircled \\overrightarrow"
    assert {endings[token] for token in one.split()} == {1}
    # The arrows take an optional text below, so they have a second ending where the paper has one.
    two = "\\frac \\sqrt \\xrightarrow \\xlongequal"
    assert {endings[token] for token in two.split()} == {2}
    assert set(CROHME.relations) == {"^", "_", "\\limits", "\\frac", "\\sqrt"}
    assert {endings[token] for token in HME100K.symbols} == {0}


def test_class_numbers() -> None:
    size = CROHME.size
    assert size == 107
    assert [CROHME.id(token) for token in CROHME.tokens] == list(range(size))
    assert (CROHME.none, CROHME.end, CROHME.sos, CROHME.eos) == (size, size, size + 1, size + 2)
    assert CROHME.delete == size + 1
    assert [CROHME.token(size + i) for i in range(3)] == ["}", "<sos>", "<eos>"]
    assert [CROHME.id(CROHME.token(number)) for number in range(size + 3)] == [*range(size + 3)]


def test_only_visual_tokens_are_in_it() -> None:
    assert "x" in CROHME
    assert "\\frac" in CROHME
    assert not any(token in CROHME for token in ("}", "{", "<sos>", "\\Pi", "'", 3))


def test_a_token_without_a_class_is_named() -> None:
    with pytest.raises(LatexError, match=r"\\\\Pi.*crohme"):
        CROHME.id("\\Pi")


@pytest.mark.parametrize("number", [-1, 110])
def test_a_number_that_is_no_class(number: int) -> None:
    with pytest.raises(UsageError, match=str(number)):
        CROHME.token(number)


def test_a_vocabulary_that_is_not_packaged() -> None:
    with pytest.raises(UsageError, match="crohme, everyday, hme100k, mathwriting"):
        Vocabulary.load("mathpix")


def test_it_travels_as_json() -> None:
    for vocabulary in (CROHME, HME100K):
        assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary


@pytest.mark.parametrize(
    "change",
    [
        {"symbols": ["x", "x"]},
        {"symbols": ["{"]},
        {"symbols": ["a b"]},
        {"symbols": 3},
        {"relations": {"^": ["("]}},
        {"relations": {"^": []}},
        {"relations": ["^"]},
    ],
)
def test_impossible_json_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ModelFileError):
        Vocabulary.from_json(CROHME.to_json() | change)
    with pytest.raises(ModelFileError):
        Vocabulary.from_json({"name": "no parts"})


def test_scanning_a_few_labels() -> None:
    labels = [
        "x ^ { 2 } + \\hat { y }",
        "\\binom { n } { k } \\hat { y }",
        "\\root [ 3 ] { x } [ a ]",
        "\\root { \\frac { \\hat { 1 } } { 2 } } x ]",
        "\\sum \\limits _ { i } i + \\prod _ { i } x _ { i }",
    ]
    vocabulary = Vocabulary.scan(labels, "mine")
    assert vocabulary.relations == {
        "\\limits": ("_ {",),
        "^": ("{",),
        "_": ("{",),
        "\\hat": ("{",),
        "\\binom": ("{", "{"),
        "\\frac": ("{", "{"),
        "\\root": ("[", "{"),
    }
    assert vocabulary.limits == ("\\sum",)
    assert " ".join(vocabulary.symbols) == "+ 1 2 3 [ \\prod \\sum ] a i k n x y"


def test_crohme_is_what_its_training_labels_say(shared_data: Path) -> None:
    folder = shared_data / "crohme"
    assert Vocabulary.scan(read_labels(folder / "labels-train.tsv").values(), "crohme") == CROHME
    listed = set((folder / "dictionary.txt").read_text(encoding="utf-8").split())
    # `'` is spelled `\prime` in canonical labels, so a class of its own could never be right.
    assert listed - set(CROHME.tokens) == {"{", "}", "'", "<eol>"}
    assert not set(CROHME.tokens) - listed


def test_hme100k_is_what_its_training_labels_say_and_a_published_list(shared_data: Path) -> None:
    folder = shared_data / "hme100k"
    scanned = Vocabulary.scan(read_labels(folder / "labels-train.tsv").values())
    unseen = {"\\xlongequal": ("[", "{")}  # in the quarter of the labels that is not at hand
    assert {**scanned.relations, **unseen} == HME100K.relations
    assert scanned.limits == HME100K.limits == ()
    listed = set((folder / "dictionary.txt").read_text(encoding="utf-8").split())
    # `%` and `\%` are one sign.
    assert listed ^ set(HME100K.tokens) == {"{", "}", "%"}


def test_a_relation_of_three_arguments_is_refused_by_its_name() -> None:
    with pytest.raises(ModelFileError, match=r"foo.*3 arguments"):
        Vocabulary("x", ("a", "b"), {"\\foo": ("{", "{", "{")})
    with pytest.raises(ModelFileError, match=r"foo.*3 arguments"):
        Vocabulary.scan(["\\foo { a } { b } { c }"])
    with pytest.raises(LatexError, match="foo"):
        compact(["\\foo", "{", "a", "}", "{", "b", "}", "{", "c", "}"])


@pytest.mark.parametrize(
    ("symbols", "relations", "limits"),
    [
        (("a", "a"), {}, ()),
        (("a", "<sos>"), {}, ()),
        (("a", "}"), {}, ()),
        (("a", ""), {}, ()),
        (("a", 3), {}, ()),
        ((), {}, ()),
        (tuple(f"s{n}" for n in range(1 << 15)), {}, ()),
        (("a",), {"^": ()}, ()),
        (("a",), {"^": ("(",)}, ()),
        (("a",), {}, ("\\sum",)),
    ],
)
def test_classes_that_cannot_be_are_refused(
    symbols: tuple[str, ...], relations: dict[str, tuple[str, ...]], limits: tuple[str, ...]
) -> None:
    with pytest.raises(ModelFileError, match="vocabulary"):
        Vocabulary("x", symbols, relations, limits)
