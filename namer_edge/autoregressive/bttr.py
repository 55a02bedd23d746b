"""BTTR: a bidirectional transformer (Zhao et al.: ICDAR 2021)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from namer_edge_runtime.formula.vocabulary import Vocabulary

from .coverage_attention import grid_encoding
from .model import AutoregressiveModel, DecoderArchitecture, DecoderOutput, Features, State
from .transformer import FAR, DecoderLayer, Grid, time_encoding


@dataclass(frozen=True)
class Context:
    """Inputs of decoding N pictures that do not depend on tokens."""

    grids: list[Grid]
    """One per layer."""
    shape: tuple[int, int]
    """Cells of F16: L = h · w."""
    mask: Tensor | None
    """[N, 1, h, w]."""


class Bttr(AutoregressiveModel):
    """Three transformer layers over F16 with 2-D positions; both directions share weights and
    differ in the opening token.
    """

    two_way = True

    def __init__(self, architecture: DecoderArchitecture, vocabulary: Vocabulary) -> None:
        super().__init__(architecture, vocabulary)
        width = architecture.decoder_width
        self.project = nn.Conv2d(self.encoder.width16, width, 1)
        self.memory_norm = nn.LayerNorm(width)
        self.embedding = nn.Embedding(self.alphabet.size, width)
        self.embedding_norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            DecoderLayer(
                width,
                architecture.decoder_heads,
                architecture.decoder_feedforward,
                architecture.dropout,
            )
            for _ in range(architecture.decoder_layers)
        )
        self.output = nn.Linear(width, self.alphabet.size)

    def prepare(self, features: Features) -> Context:
        f16 = self.project(features.f16)
        memory = (f16 + grid_encoding(f16, f16.shape[1])).flatten(2).transpose(1, 2)
        memory = self.memory_norm(memory)
        bias = None
        if features.mask is not None:
            bias = (1.0 - features.mask.flatten(1)[:, None, None]) * FAR
        height, width = f16.shape[2:]
        grids = [layer.grid(memory, bias) for layer in self._layers]
        return Context(grids, (height, width), features.mask)

    @property
    def _layers(self) -> Iterable[DecoderLayer]:
        return cast(Iterable[DecoderLayer], self.layers)

    def initial_state(self, context: Context) -> State:
        state = {}
        for number, grid in enumerate(context.grids):
            rows, heads, _, width = grid.keys.shape
            for name in ("keys", "values"):
                state[f"{name}{number}"] = grid.keys.new_zeros(rows, heads, 0, width)
        return state

    def step(self, context: Context, state: State, tokens: Tensor) -> DecoderOutput:
        state = dict(state)
        start = state["keys0"].shape[2]
        x = self.embedding(tokens)
        x = self.embedding_norm(x + time_encoding(start, x.shape[1], x.shape[2], x))
        weights = None
        for number, layer in enumerate(self._layers):
            names = (f"keys{number}", f"values{number}")
            past = (state[names[0]], state[names[1]])
            x, (state[names[0]], state[names[1]]) = layer.attend_to_past(x, past)
            logits = layer.cross_logits(x, context.grids[number])
            weights = self.attend(context, state, number, logits, weights)
            x = layer.finish(x, weights, context.grids[number])
        assert weights is not None
        # Attention of the last layer, mean over heads.
        return DecoderOutput(self.output(x), weights.mean(1).unflatten(2, context.shape), state)

    def attend(
        self,
        context: Context,
        state: State,
        layer: int,
        logits: Tensor,
        below: Tensor | None,
    ) -> Tensor:
        """Weights of a layer's cross-attention [N, heads, T, L] from its logits and the weights
        `below`, of the previous layer."""
        return torch.softmax(logits, -1)
