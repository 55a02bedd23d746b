"""DWAP: a GRU decoder with coverage attention (Zhang, Du, Dai: ICPR 2018)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from namer_edge_runtime.formula.vocabulary import Vocabulary

from .coverage_attention import CoverageAttention, Keys, masked_mean
from .model import AutoregressiveModel, DecoderArchitecture, DecoderOutput, Features, State

KERNELS = {16: 11, 8: 7}
"""Stride → coverage kernel in cells."""


@dataclass(frozen=True)
class Context:
    """Inputs of decoding N pictures that do not depend on tokens."""

    keys: dict[int, Keys]
    """Stride → keys of attention."""
    initial: Tensor
    """[N, D] initial state of the GRU."""
    seen: Tensor
    """[N, D] or 0, added at every token (CAN's counts)."""


class Dwap(AutoregressiveModel):
    """s_t = GRU(E y_{t-1}, s_{t-1}); c_t = coverage attention of s_t;
    P(y_t) = softmax(W_o (E y_{t-1} + W_s s_t + W_c c_t)), the first state from the mean feature.

    The context is no input of the GRU, as in the form with 4.72 M parameters of the field's
    tables; the original has a second GRU for it.
    """

    strides: tuple[int, ...] = (16,)
    positions = False

    def __init__(self, architecture: DecoderArchitecture, vocabulary: Vocabulary) -> None:
        super().__init__(architecture, vocabulary)
        width = architecture.decoder_width
        channels = {8: self.encoder.width8, 16: self.encoder.width16}
        self.initial = nn.Linear(channels[16], width)
        self.embedding = nn.Embedding(self.alphabet.size, width)
        self.gru = nn.GRUCell(width, width)
        self.attention = nn.ModuleList(
            CoverageAttention(
                channels[stride],
                width,
                architecture.attention_width,
                KERNELS[stride],
                self.positions,
            )
            for stride in self.strides
        )
        self.from_token = nn.Linear(width, width)
        self.from_state = nn.Linear(width, width)
        self.from_context = nn.Linear(sum(channels[stride] for stride in self.strides), width)
        self.dropout = nn.Dropout(architecture.dropout)
        self.output = nn.Linear(width, self.alphabet.size)

    @property
    def attention_at(self) -> list[tuple[int, CoverageAttention]]:
        """The attention at each stride."""
        modules = cast(Iterable[CoverageAttention], self.attention)
        return list(zip(self.strides, modules, strict=True))

    def prepare(self, features: Features) -> Context:
        maps = {8: features.f8, 16: features.f16}
        keys = {
            stride: attention.keys(maps[stride], features.mask_at(stride))
            for stride, attention in self.attention_at
        }
        mean = masked_mean(features.f16, features.mask)
        return Context(keys, torch.tanh(self.initial(mean)), mean.new_zeros(()))

    def initial_state(self, context: Context) -> State:
        past = {f"past{stride}": keys.nothing() for stride, keys in context.keys.items()}
        return {"hidden": context.initial, **past}

    def step(self, context: Context, state: State, tokens: Tensor) -> DecoderOutput:
        state = dict(state)
        logits, weights = [], []
        for embedded in self.embedding(tokens).unbind(1):
            hidden = state["hidden"] = self.gru(embedded, state["hidden"])
            outputs = []
            for stride, attention in self.attention_at:
                output = attention(context.keys[stride], hidden, state[f"past{stride}"])
                state[f"past{stride}"] = state[f"past{stride}"] + output.weights
                outputs.append(output)
            seen = self.from_context(torch.cat([output.context for output in outputs], 1))
            whole = self.from_token(embedded) + self.from_state(hidden) + seen + context.seen
            logits.append(self.output(self.dropout(whole)))
            weights.append(outputs[-1].weights)
        return DecoderOutput(torch.stack(logits, 1), torch.stack(weights, 1), state)


class MultiScaleDwap(Dwap):
    """DWAP-MSA: with a second coverage attention over F8 for small signs."""

    strides = (16, 8)
