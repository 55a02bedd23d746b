"""Beam search, of which a beam of one is greedy decoding, and decoding without a cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from .model import AutoregressiveModel, DecoderOutput, Features, State


@dataclass(frozen=True)
class Hypothesis:
    """A formula as it may have been written, in token numbers, without <sos> and <eos>."""

    tokens: tuple[int, ...]
    score: float
    """Logarithm of its probability, the closing token's included."""

    def normalized(self, power: float) -> float:
        """The score over length^power: long formulas are not at a disadvantage."""
        return self.score / (len(self.tokens) + 1) ** power


class Decoder(Protocol):
    """What the search asks of a recognizer; see `AutoregressiveModel`."""

    def prepare(self, features: Features) -> Any: ...
    def initial_state(self, context: Any) -> State: ...
    def step(self, context: Any, state: State, tokens: Tensor) -> DecoderOutput: ...


class Recomputing:
    """A recognizer that computes the whole formula so far anew for each token: no cache.

    That is how the papers' transformers decode. Same tokens as with a cache, at more cost.
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
    """The `beam` likeliest formulas of each of B pictures, by `Hypothesis.normalized(power)`.

    `ends`: the opening and the closing token of each picture's formula. A formula of `longest`
    tokens is cut off there.
    """
    pictures, device = len(ends), features.f16.device
    opening, closing = torch.tensor(ends, device=device).unbind(1)
    context = decoder.prepare(features.repeat(beam))
    state = decoder.initial_state(context)
    first_row = torch.arange(pictures, device=device)[:, None] * beam
    tokens = opening.repeat_interleave(beam)
    written = torch.zeros(pictures, beam, 0, dtype=torch.int64, device=device)
    # At first all hypotheses of a picture are one and the same, so only one may go on.
    scores = torch.full((pictures, beam), -torch.inf, device=device)
    scores[:, 0] = 0.0
    done = torch.zeros(pictures, beam, dtype=torch.bool, device=device)
    for _ in range(longest):
        said = decoder.step(context, state, tokens[:, None])
        gains = torch.log_softmax(said.logits[:, 0].float(), -1).unflatten(0, (pictures, beam))
        # What is finished stays: it goes on with its closing token, at no cost.
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
        state = {name: value[rows] for name, value in said.state.items()}
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

    A recognizer of both directions, unless `beam` is 1, is asked for formulas in both, judges each
    in the other direction as well, and takes the one with the best sum (BTTR, "approximate joint
    search"). Without `cached`, the whole formula is computed anew for each token.
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
        judged = [
            Hypothesis(h.tokens, h.score + other)
            for hypotheses, backward in ((ahead, True), (back, False))
            for h, other in zip(
                hypotheses,
                judge(model, features.of(picture), [h.tokens for h in hypotheses], backward),
                strict=True,
            )
        ]
        best.append(max(judged, key=lambda h: h.normalized(power)))
    return best


@torch.inference_mode()
def judge(
    model: AutoregressiveModel,
    features: Features,
    labels: Sequence[Sequence[int]],
    backward: bool = False,
) -> list[float]:
    """Logarithm of the probability of each of several labels for one picture's `features`."""
    inputs, targets = model.sequences(labels, backward)
    context = model.prepare(features.repeat(len(labels)))
    said = model.teacher_forcing(context, inputs.to(model.device))
    chances = torch.log_softmax(said.logits.float(), -1).cpu()
    counted = targets >= 0
    own = chances.gather(2, targets.clamp_min(0)[..., None]).squeeze(2)
    return (own * counted).sum(1).tolist()
