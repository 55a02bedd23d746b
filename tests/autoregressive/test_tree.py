"""Formulas as trees: there and back, whatever is written; and the decoder of the published size."""

from pathlib import Path

import numpy as np
import pytest
import torch

from namer_edge.autoregressive.beam_search import read
from namer_edge.autoregressive.model import DecoderArchitecture, Features
from namer_edge.autoregressive.registry import build_autoregressive
from namer_edge.autoregressive.tree_alphabet import PLACES, TreeAlphabet
from namer_edge.autoregressive.tree_decoder import TreeDecoder
from namer_edge.data.labels import read_labels
from namer_edge_runtime.errors import ConfigError, LatexError
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary

from .small import small
from .test_decoding import features

CROHME = Vocabulary.load("crohme")
ALPHABET = TreeAlphabet(CROHME)


def node(parent: int, token: str, relation: str) -> list[int]:
    return [
        ALPHABET.pointers + parent,
        CROHME.id(token),
        ALPHABET.classes + ALPHABET.relations.index(relation),
    ]


def test_a_fraction_with_a_power_is_the_tree_one_would_draw() -> None:
    label = "\\frac { x ^ { 2 } } { y } + 1"
    assert ALPHABET.numbers(label.split()) == [
        *node(0, "\\frac", "right"),
        *node(1, "x", "argument 1"),
        *node(2, "2", "^"),
        *node(1, "y", "argument 2"),
        *node(1, "+", "right"),
        *node(5, "1", "right"),
        ALPHABET.pointers + 6,
    ]


@pytest.mark.parametrize(
    "label",
    [
        "",
        "x",
        "x _ { 1 } ^ { 2 } y",
        "x ^ { 2 } _ { 1 } y",
        "x ^ { y ^ { z } } + 1",
        "\\sqrt { x } + \\sqrt [ 3 ] { x + 1 }",
        "\\sum \\limits _ { i = 1 } ^ { n } i",
        "\\frac { } { x }",
        "\\frac { x } { }",
        "x ^ { } y",
        "^ { 2 } x",
        "\\frac { ^ { 2 } x } { \\sqrt { } }",
        "x ^ { 2 } ^ { 3 }",
    ],
)
def test_what_goes_in_comes_out(label: str) -> None:
    assert " ".join(ALPHABET.tokens(ALPHABET.numbers(label.split()))) == label


def test_all_published_labels_come_out_as_they_went_in(shared_data: Path) -> None:
    for name, vocabulary in (("crohme", CROHME), ("hme100k", Vocabulary.load("hme100k"))):
        alphabet, irregular = TreeAlphabet(vocabulary), 0
        for label in read_labels(shared_data / name / "labels-train.tsv"):
            tokens = tuple(label.latex.split())
            try:
                assert alphabet.tokens(alphabet.numbers(tokens)) == tokens
            except LatexError:
                irregular += 1
        assert irregular <= 12  # labels whose braces or arguments are not right themselves


def test_whatever_tree_is_written_the_latex_is_balanced() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        length = int(rng.integers(0, 60))
        numbers: list[int] = []
        for place in range(length):
            numbers += [
                ALPHABET.pointers + int(rng.integers(0, place + 1)),
                int(rng.integers(0, CROHME.size + 1)),
                ALPHABET.classes + int(rng.integers(0, len(ALPHABET.relations))),
            ]
        cut = numbers[: len(numbers) - int(rng.integers(0, 3))]
        to_nodes(ALPHABET.tokens(cut), CROHME)  # raises where braces or arguments are wrong


def test_a_long_row_is_no_deep_recursion_and_a_longer_one_is_refused() -> None:
    label = ["x"] * (PLACES - 1)
    assert list(ALPHABET.tokens(ALPHABET.numbers(label))) == label
    with pytest.raises(LatexError, match="255 symbols"):
        ALPHABET.numbers(["x"] * PLACES)


def test_it_has_the_size_of_the_published_one() -> None:
    """Counted from the layers of the authors' own program, 5.00 M; their paper gives no number."""
    model = build_autoregressive(DecoderArchitecture("tree-decoder", "densenet"), CROHME)
    count = sum(p.numel() for p in model.parameters())
    encoder = sum(p.numel() for p in model.encoder.parameters())
    d, n, a, k, relations = 684, 256, 512, 106, 7
    grus = 2 * (3 * (n * n + n) + 3 * n * n) + 2 * (3 * (d * n + n) + 3 * n * n)
    attention = 2 * ((d * a + a) + n * a + 121 * 512 + (512 * a + a) + (a + 1))
    memory = (n * a + a) + n * a + (a + 1)
    outputs = (d * n + n) + 2 * (n * n + n) + 2 * (n // 2 * k + k)
    outputs += (2 * d * n + n) + (n * relations + relations)
    published = grus + attention + memory + outputs + (d * n + n) + k * n
    assert count - encoder == pytest.approx(published, rel=0.02)


@torch.inference_mode()
def test_only_what_may_come_now_is_written() -> None:
    """A parent that is there, then a class, then a relation; <eos> for a class alone."""
    model = small("tree-decoder")
    assert isinstance(model, TreeDecoder)
    alphabet = model.alphabet
    seen = features(model, (32, 64), (48, 96))
    for hypothesis in read(model, seen, beam=4, longest=20):
        for place, number in enumerate(hypothesis.tokens):
            if place % 3 == 0:
                assert 0 <= number - alphabet.pointers <= place // 3
            elif place % 3 == 1:
                assert number < alphabet.classes
            else:
                assert alphabet.classes <= number < alphabet.pointers


def test_losses_are_those_of_each_part_and_guide_attention() -> None:
    model = small("tree-decoder")
    assert isinstance(model, TreeDecoder)
    seen = features(model, (32, 64), (48, 96))
    assert seen.mask is not None
    context = model.prepare(Features(seen.f8.clone(), seen.f16.clone(), seen.mask.clone()))
    labels = [model.alphabet.numbers(t.split()) for t in ("x ^ { 1 } x", "1")]
    losses = model.losses(context, labels, smoothing=0.1)
    assert list(losses) == ["loss", "parent", "child", "relation", "symbol", "attention"]
    parts = losses["parent"] + losses["child"] + losses["relation"]
    whole = parts + 0.1 * (losses["symbol"] + losses["attention"])
    torch.testing.assert_close(losses["loss"], whole)
    assert losses["loss"] < 30  # what cannot come now is no part of any smoothing
    losses["attention"].backward()
    for preprocessing in (model.look_parent, model.look_child):
        gradient = preprocessing.get_parameter("energy.weight").grad
        assert gradient is not None
        assert gradient.abs().sum() > 0


def test_formulas_of_several_lengths_are_learned_at_once_as_one_by_one() -> None:
    model = small("tree-decoder")
    seen = model.encode(torch.rand(1, 1, 32, 64))
    labels = [model.alphabet.numbers(t.split()) for t in ("x", "x ^ { 1 } 1")]
    whole = model.losses(model.prepare(seen.repeat(2)), labels)
    apart = [model.losses(model.prepare(seen), [label]) for label in labels]
    # One node and three, and for parents and children the end as well.
    for part, (few, many) in {"parent": (2, 4), "child": (2, 4), "relation": (1, 3)}.items():
        mean = (few * apart[0][part] + many * apart[1][part]) / (few + many)
        torch.testing.assert_close(whole[part], mean, atol=1e-4, rtol=1e-4)


def test_a_tree_decoder_is_no_teacher() -> None:
    with pytest.raises(ConfigError, match="another teacher"):
        ALPHABET.visual_places(["x"])
