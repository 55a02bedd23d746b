"""Alphabet, coverage, counting, and the published sizes."""

import pytest
import torch

from namer_edge.autoregressive.alphabet import Alphabet
from namer_edge.autoregressive.can import Can
from namer_edge.autoregressive.coverage_attention import CoverageAttention
from namer_edge.autoregressive.model import DecoderArchitecture
from namer_edge.autoregressive.registry import build_autoregressive
from namer_edge_runtime.errors import ConfigError
from namer_edge_runtime.formula.vocabulary import Vocabulary

from .small import NAMES, VOCABULARY, small

CROHME = Vocabulary.load("crohme")


@pytest.mark.parametrize(("name", "millions"), [("dwap", 4.72), ("comer", 6.4)])
def test_on_the_densenet_recognizers_have_their_published_size(name: str, millions: float) -> None:
    model = build_autoregressive(DecoderArchitecture(name, "densenet"), CROHME)
    count = sum(p.numel() for p in model.parameters())
    assert count == pytest.approx(millions * 1e6, rel=0.05)


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="dwap, "):
        build_autoregressive(DecoderArchitecture("dawp"), CROHME)


def test_canonical_tokens_are_written_braces_included() -> None:
    alphabet = Alphabet(VOCABULARY)
    tokens = ["x", "^", "{", "1", "}", "\\sqrt", "[", "1", "]", "{", "x", "}"]
    numbers = alphabet.numbers(tokens)
    assert alphabet.tokens(numbers) == tuple(tokens)
    assert max(numbers) < alphabet.size
    assert alphabet.tokens(alphabet.inked) == ("1", "x", "[", "]", "\\sqrt")


@pytest.mark.parametrize(
    ("label", "places"),
    [
        ("x ^ { 2 } + 1", [0, 1, 3, 5, 6]),
        ("\\sqrt [ 3 ] { x }", [0, 2, 5]),
        ("\\sqrt { [ x ] }", [0, 2, 3, 4]),
        ("\\sum \\limits _ { i } a _ { i }", [0, 1, 4, 6, 7, 9]),
        ("\\frac { 1 } { 1 }", [0, 2, 5]),
    ],
)
def test_visual_nodes_are_found_among_the_tokens(label: str, places: list[int]) -> None:
    assert Alphabet(CROHME).visual_places(label.split()) == places


@torch.inference_mode()
def test_coverage_is_the_sum_of_past_attention_seen_through_two_linear_maps() -> None:
    """e = νᵀ tanh(W ŝ + U_a a + U_f f) with f = Q ∗ past, taken literally."""
    torch.manual_seed(0)
    attention = CoverageAttention(5, 4, 16, 3)
    features, query, past = torch.randn(2, 5, 3, 4), torch.randn(2, 4), torch.rand(2, 3, 4)
    glance = attention(attention.keys(features, None), query, past)
    f = torch.nn.functional.conv2d(past[:, None], attention.coverage.weight, padding=1)
    inside = attention.fertility(f.permute(0, 2, 3, 1)) + attention.query(query)[:, None, None]
    inside = inside + attention.key(features).permute(0, 2, 3, 1)
    weights = torch.softmax(attention.energy(torch.tanh(inside)).flatten(1), 1).view(2, 3, 4)
    torch.testing.assert_close(glance.weights, weights)
    torch.testing.assert_close(glance.context, (features * weights[:, None]).sum((2, 3)))


def test_can_is_trained_on_how_often_inked_tokens_stand_in_a_label() -> None:
    model = small("can")
    assert isinstance(model, Can)
    context = model.prepare(model.encode(torch.rand(1, 1, 32, 48)))
    label = model.alphabet.numbers(["x", "^", "{", "x", "}", "1"])
    truth = torch.zeros(1, model.alphabet.size)
    truth[0, model.alphabet.numbers(["x", "1"])] = torch.tensor([2.0, 1.0])
    truth[0, model.alphabet.open] = 9.0  # nobody asks for braces

    def counting(counts: torch.Tensor) -> float:
        object.__setattr__(context, "counts", counts.expand(2, -1, -1))
        losses = model.losses(context, [label])
        torch.testing.assert_close(losses["loss"], losses["tokens"] + losses["counting"])
        return float(losses["counting"].detach())

    assert counting(truth) == 0.0
    assert counting(truth + 1) > 0.0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "tree-decoder"])
def test_labels_of_several_lengths_are_learned_at_once_as_one_by_one(name: str) -> None:
    """The mean over all tokens is the mean of the labels', weighed by their lengths."""
    model = small(name)
    image = torch.rand(1, 1, 32, 64)
    labels = [model.alphabet.numbers(t.split()) for t in ("x", "x ^ { 1 } 1")]
    features = model.encode(image)
    whole = model.losses(model.prepare(features.repeat(2)), labels)
    key = "tokens" if "tokens" in whole else "loss"
    context = model.prepare(features)
    apart = [float(model.losses(context, [label])[key].detach()) for label in labels]
    assert float(whole[key].detach()) == pytest.approx((2 * apart[0] + 7 * apart[1]) / 9, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [("can", "counters.0.look.conv.weight"), ("comer", "refinement.look.weight")],
)
def test_parameters_keep_the_names_that_checkpoints_have(name: str, parameter: str) -> None:
    assert parameter in small(name).state_dict()
