"""DWAP: a GRU that writes the formula with coverage attention (Zhang, Du, Dai: ICPR 2018)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from namer_edge_runtime.formula.vocabulary import Vocabulary

from .coverage_attention import CoverageAttention, Keys, masked_mean
from .model import AutoregressiveModel, DecoderArchitecture, DecoderOutput, Features, State

KERNELS = {16: 11, 8: 7}
"""Coverage's window in cells, for each stride."""


@dataclass(frozen=True)
class Context:
    """What is known of N pictures before the first token."""

    keys: dict[int, Keys]
    """For each stride that is attended to."""
    initial: Tensor
    """[N, D]: the GRU's first state."""
    seen: Tensor
    """[N, D] or 0: what speaks for every token alike (CAN's counts)."""


class Dwap(AutoregressiveModel):
    """s_t = GRU(E y_{t-1}, s_{t-1}); c_t = coverage attention of s_t;
    P(y_t) = softmax(W_o (E y_{t-1} + W_s s_t + W_c c_t)), the first state from the mean feature.

    The GRU sees no context: the form with the 4.72 M parameters that the field's tables give. In
    the original a second GRU takes it in.
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
        said, looked = [], []
        for embedded in self.embedding(tokens).unbind(1):
            hidden = state["hidden"] = self.gru(embedded, state["hidden"])
            glances = []
            for stride, attention in self.attention_at:
                glance = attention(context.keys[stride], hidden, state[f"past{stride}"])
                state[f"past{stride}"] = state[f"past{stride}"] + glance.weights
                glances.append(glance)
            seen = self.from_context(torch.cat([glance.context for glance in glances], 1))
            whole = self.from_token(embedded) + self.from_state(hidden) + seen + context.seen
            said.append(self.output(self.dropout(whole)))
            looked.append(glances[-1].weights)
        return DecoderOutput(torch.stack(said, 1), torch.stack(looked, 1), state)


class MultiScaleDwap(Dwap):
    """DWAP-MSA: a second coverage attention over F8 finds small signs; its context joins F16's."""

    strides = (16, 8)
