"""However a recognizer is asked, it says the same: at once, in turn, cached or not, in batches."""

from itertools import product

import pytest
import torch

from namer_edge.autoregressive.beam_search import (
    Hypothesis,
    Recomputing,
    beam_search,
    log_probability,
    read,
)
from namer_edge.autoregressive.model import AutoregressiveModel, Features

from .small import NAMES, small


@pytest.fixture(params=NAMES)
def model(request: pytest.FixtureRequest) -> AutoregressiveModel:
    return small(request.param)


@torch.inference_mode()
def features(model: AutoregressiveModel, *sizes: tuple[int, int]) -> Features:
    """Pictures of noise of several sizes in one padded batch."""
    generator = torch.Generator().manual_seed(1)
    height, width = (max(size[i] for size in sizes) for i in (0, 1))
    images = torch.zeros(len(sizes), 1, height, width)
    mask = torch.zeros(len(sizes), 1, height // 16, width // 16)
    for i, (h, w) in enumerate(sizes):
        images[i, :, :h, :w] = torch.rand(1, h, w, generator=generator)
        mask[i, :, : h // 16, : w // 16] = 1
    return model.encode(images, None if mask.all() else mask)


@pytest.mark.parametrize("beam", [1, 4])
def test_with_a_cache_and_without_the_same_tokens_are_written(
    model: AutoregressiveModel, beam: int
) -> None:
    seen = features(model, (32, 48), (48, 96))
    cached = read(model, seen, beam, longest=14)
    anew = read(model, seen, beam, longest=14, cached=False)
    assert [h.tokens for h in cached] == [h.tokens for h in anew]
    assert [h.score for h in cached] == pytest.approx([h.score for h in anew], abs=1e-4)


@torch.inference_mode()
def test_token_by_token_is_teacher_forcing(model: AutoregressiveModel) -> None:
    context = model.prepare(features(model, (32, 64), (48, 48)))
    tokens = torch.randint(0, model.alphabet.size, (2, 7))
    taught = model.teacher_forcing(context, tokens)
    state = model.initial_state(context)
    # One, then three at once, then the rest: state carries all there is to know.
    for start, stop in ((0, 1), (1, 4), (4, 7)):
        said = model.step(context, state, tokens[:, start:stop])
        torch.testing.assert_close(said.logits, taught.logits[:, start:stop])
        torch.testing.assert_close(said.attention, taught.attention[:, start:stop])
        state = said.state
    torch.testing.assert_close(taught.attention.sum((2, 3)), torch.ones(2, 7))


@torch.inference_mode()
def test_later_tokens_change_nothing_of_earlier_ones(model: AutoregressiveModel) -> None:
    context = model.prepare(features(model, (32, 64)))
    tokens = torch.randint(0, model.alphabet.size, (1, 6))
    other = tokens.clone()
    other[0, 4:] = (other[0, 4:] + 1) % model.alphabet.size
    one, two = (model.teacher_forcing(context, t).logits for t in (tokens, other))
    torch.testing.assert_close(one[:, :4], two[:, :4])
    assert not torch.allclose(one[:, 4:], two[:, 4:])


@pytest.mark.parametrize(("name", "encoder"), [*product(NAMES, ["edge"]), ("dwap-msa", "densenet")])
@torch.inference_mode()
def test_a_picture_reads_the_same_alone_and_padded_in_a_batch(name: str, encoder: str) -> None:
    model = small(name, encoder)
    together = features(model, (32, 48), (48, 96))
    tokens = torch.randint(0, model.alphabet.size, (2, 5))
    batched = model.teacher_forcing(model.prepare(together), tokens)
    # Of the first picture alone, without its padding.
    own = Features(together.f8[:1, :, :4, :6], together.f16[:1, :, :2, :3], None)
    alone = model.teacher_forcing(model.prepare(own), tokens[:1])
    torch.testing.assert_close(alone.logits[0], batched.logits[0], atol=1e-4, rtol=1e-4)
    height, width = alone.attention.shape[2:]
    inside = batched.attention[0, :, :height, :width]
    torch.testing.assert_close(alone.attention[0], inside, atol=1e-5, rtol=1e-4)


@torch.inference_mode()
def test_a_wide_beam_finds_the_likeliest_of_all_formulas() -> None:
    """Every formula of up to two tokens, judged one by one, against the search."""
    model = small("dwap")
    seen = features(model, (32, 32))
    start, stop = model.ends(backward=False)
    others = [n for n in range(model.alphabet.size) if n != stop]
    formulas = [tokens for length in (0, 1, 2) for tokens in product(others, repeat=length)]
    scores = log_probability(model, seen, formulas)
    every = [Hypothesis(t, s) for t, s in zip(formulas, scores, strict=True)]
    # A third token can only be the end of what has two.
    (found,) = beam_search(model, seen, [(start, stop)], 400, longest=3, power=1.0)
    found = [h for h in found if len(h.tokens) < 3]
    best = sorted(every, key=lambda h: -h.normalized(1.0))[:20]
    assert [h.tokens for h in found[:20]] == [h.tokens for h in best]
    assert [h.score for h in found[:20]] == pytest.approx([h.score for h in best], abs=1e-4)


@torch.inference_mode()
def test_a_beam_of_one_takes_the_best_token_each_time(model: AutoregressiveModel) -> None:
    seen = features(model, (32, 64))
    start, stop = model.ends(backward=False)
    tokens = [start]
    context = model.prepare(seen)
    while len(tokens) < 10 and (stop not in tokens[1:]):
        said = model.teacher_forcing(context, torch.tensor([tokens]))
        tokens.append(int(said.logits[0, -1].argmax()))
    (found,) = read(model, seen, beam=1, longest=9)
    assert list(found.tokens) == [token for token in tokens[1:] if token != stop]


@pytest.mark.parametrize("name", ["bttr", "comer"])
def test_both_directions_judge_every_formula(name: str) -> None:
    model = small(name)
    seen = features(model, (32, 64))
    (best,) = read(model, seen, beam=3, longest=8)
    both = [log_probability(model, seen, [best.tokens], backward)[0] for backward in (False, True)]
    ends = model.ends(False)
    if len(best.tokens) < 8:  # one that was cut off has no closing token yet
        assert best.score == pytest.approx(sum(both), abs=1e-4)
    for backward in (False, True):
        ends = [model.ends(backward)]
        for h in beam_search(model, seen, ends, 3, 8)[0]:
            if len(h.tokens) == 8:
                continue
            tokens = h.tokens[::-1] if backward else h.tokens
            (own,) = log_probability(model, seen, [tokens], backward)
            (other,) = log_probability(model, seen, [tokens], not backward)
            assert h.score == pytest.approx(own, abs=1e-4)
            whole = Hypothesis(tokens, own + other)
            assert best.normalized(1.0) >= whole.normalized(1.0) - 1e-4


def test_without_a_cache_the_whole_formula_is_computed_each_time() -> None:
    model = small("bttr")
    with torch.no_grad():
        model.get_parameter("output.bias")[model.alphabet.eos] = -1e9  # never the end
    seen = features(model, (32, 32))
    lengths: list[int] = []
    step = model.step

    def spy(context: object, state: dict[str, torch.Tensor], tokens: torch.Tensor) -> object:
        lengths.append(tokens.shape[1])
        return step(context, state, tokens)

    model.step = spy  # type: ignore[method-assign, assignment]
    ends = [model.ends(backward=False)]
    beam_search(Recomputing(model), seen, ends, 1, longest=4)
    beam_search(model, seen, ends, 1, longest=4)
    assert lengths == [1, 2, 3, 4, 1, 1, 1, 1]
