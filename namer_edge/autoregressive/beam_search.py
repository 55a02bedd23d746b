"""Beam search (greedy decoding is a beam of 1), with or without a cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from .model import AutoregressiveModel, DecoderOutput, Features, State


@dataclass(frozen=True)
class Hypothesis:
    """A candidate formula in token numbers, without <sos> and <eos>."""

    tokens: tuple[int, ...]
    score: float
    """Log-probability, closing token included."""

    def normalized(self, power: float) -> float:
        """Length-normalized score: score / length^power."""
        return self.score / (len(self.tokens) + 1) ** power


class Decoder(Protocol):
    """The methods of `AutoregressiveModel` that beam search calls."""

    def prepare(self, features: Features) -> Any: ...
    def initial_state(self, context: Any) -> State: ...
    def step(self, context: Any, state: State, tokens: Tensor) -> DecoderOutput: ...


class Recomputing:
    """A model without a cache, which recomputes the whole prefix for each token.

    The papers' transformers decode so. Tokens are the same as with a cache.
    """

    def __init__(self, model: AutoregressiveModel) -> None:
        self.model = model

    def prepare(self, features: Features) -> Any:
        return self.model.prepare(features)

    def initial_state(self, context: Any) -> State:
        rows = next(iter(self.model.initial_state(context).values())).shape[0]
        return {"tokens": torch.zeros(rows, 0, dtype=torch.int64)}

    def step(self, context: Any, state: State, tokens: Tensor) -> DecoderOutput:
        tokens = torch.cat([state["tokens"].to(tokens.device), tokens], 1)
        written = self.model.step(context, self.model.initial_state(context), tokens)
        return DecoderOutput(written.logits[:, -1:], written.attention[:, -1:], {"tokens": tokens})


@torch.inference_mode()
def beam_search(
    decoder: Decoder,
    features: Features,
    ends: Sequence[tuple[int, int]],
    beam: int = 10,
    longest: int = 200,
    power: float = 1.0,
) -> list[list[Hypothesis]]:
    """The `beam` best formulas of each of B pictures, by `Hypothesis.normalized(power)`.

    `ends`: opening and closing token for each picture. Formulas are truncated at `longest` tokens.
    """
    pictures, device = len(ends), features.f16.device
    opening, closing = torch.tensor(ends, device=device).unbind(1)
    context = decoder.prepare(features.repeat(beam))
    state = decoder.initial_state(context)
    first_row = torch.arange(pictures, device=device)[:, None] * beam
    tokens = opening.repeat_interleave(beam)
    written = torch.zeros(pictures, beam, 0, dtype=torch.int64, device=device)
    # All hypotheses of a picture start equal, so only one may be extended.
    scores = torch.full((pictures, beam), -torch.inf, device=device)
    scores[:, 0] = 0.0
    done = torch.zeros(pictures, beam, dtype=torch.bool, device=device)
    for _ in range(longest):
        output = decoder.step(context, state, tokens[:, None])
        gains = torch.log_softmax(output.logits[:, 0].float(), -1).unflatten(0, (pictures, beam))
        # Finished hypotheses repeat their closing token at no cost.
        close = closing[:, None, None].expand(-1, beam, 1)
        stay = torch.full_like(gains, -torch.inf).scatter_(2, close, 0.0)
        gains = torch.where(done[..., None], stay, gains)
        scores, choice = (scores[..., None] + gains).flatten(1).topk(beam)
        parent, token = choice // gains.shape[2], choice % gains.shape[2]
        written = torch.cat(
            [written.gather(1, parent[..., None].expand_as(written)), token[..., None]], 2
        )
        done = done.gather(1, parent) | (token == closing[:, None])
        if done.all():
            break
        rows = (first_row + parent).flatten()
        state = {name: value[rows] for name, value in output.state.items()}
        tokens = token.flatten()
    found = []
    for picture, stop in enumerate(closing.tolist()):
        hypotheses = [
            Hypothesis(tuple(row[: row.index(stop)] if stop in row else row), score)
            for row, score in zip(written[picture].tolist(), scores[picture].tolist(), strict=True)
            if score > -torch.inf
        ]
        found.append(sorted(hypotheses, key=lambda h: -h.normalized(power)))
    return found


def read(
    model: AutoregressiveModel,
    features: Features,
    beam: int = 1,
    longest: int = 200,
    power: float = 1.0,
    cached: bool = True,
) -> list[Hypothesis]:
    """The best formula of each picture.

    A bidirectional model with a beam above 1 searches in both directions, rescores each formula in
    the other one, and takes the best sum (BTTR, "approximate joint search"). Without `cached`, the
    whole prefix is recomputed for each token.
    """
    decoder: Decoder = model if cached else Recomputing(model)
    pictures = features.f16.shape[0]
    found = beam_search(decoder, features, [model.ends(False)] * pictures, beam, longest, power)
    if beam == 1 or not model.two_way:
        return [hypotheses[0] for hypotheses in found]
    turned = beam_search(decoder, features, [model.ends(True)] * pictures, beam, longest, power)
    best = []
    for picture, (ahead, back) in enumerate(zip(found, turned, strict=True)):
        back = [Hypothesis(h.tokens[::-1], h.score) for h in back]
        rescored = [
            Hypothesis(h.tokens, h.score + other)
            for hypotheses, backward in ((ahead, True), (back, False))
            for h, other in zip(
                hypotheses,
                log_probability(
                    model, features.of(picture), [h.tokens for h in hypotheses], backward
                ),
                strict=True,
            )
        ]
        best.append(max(rescored, key=lambda h: h.normalized(power)))
    return best


@torch.inference_mode()
def log_probability(
    model: AutoregressiveModel,
    features: Features,
    labels: Sequence[Sequence[int]],
    backward: bool = False,
) -> list[float]:
    """Log-probability of each of several labels for one picture's `features`."""
    inputs, targets = model.sequences(labels, backward)
    context = model.prepare(features.repeat(len(labels)))
    output = model.teacher_forcing(context, inputs.to(model.device))
    chances = torch.log_softmax(output.logits.float(), -1).cpu()
    counted = targets >= 0
    own = chances.gather(2, targets.clamp_min(0)[..., None]).squeeze(2)
    return (own * counted).sum(1).tolist()
