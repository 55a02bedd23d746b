"""A transformer decoder with a key-value cache."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..model.graph_decoder import Attention

FAR = -1e4
"""Added to logits of masked places."""


class WeighedAttention(Attention):
    """Multi-head attention in steps, which allows a cache and the refinement of weights."""

    def keys_values(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """[N, M, D] → keys and values [N, heads, M, D / heads]."""
        both = self.key_value(values).unflatten(-1, (2 * self.heads, -1)).transpose(1, 2)
        keys, values = both.chunk(2, 1)
        return keys, values

    def logits(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Queries [N, T, D] over keys → [N, heads, T, M], float32."""
        q = self.query(queries).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        return (q @ keys.transpose(2, 3)).float() / math.sqrt(q.shape[-1])

    def collect(self, weights: Tensor, values: Tensor) -> Tensor:
        """Weights [N, heads, T, M] and values → [N, T, D]."""
        return self.out((weights.to(values.dtype) @ values).transpose(1, 2).flatten(2))


@dataclass(frozen=True)
class Grid:
    """Keys and values of the picture for a layer's cross-attention."""

    keys: Tensor
    """[N, heads, L, D / heads], as are `values`."""
    values: Tensor
    bias: Tensor | None
    """[N, 1, 1, L], added to logits: padding gets no weight."""


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention to the picture and a feed-forward network, each with residual
    connection and post-normalization ("Attention Is All You Need").

    Its three steps are separate methods, because a refinement may change the second one's weights.
    """

    def __init__(self, width: int, heads: int, feedforward: int, dropout: float) -> None:
        super().__init__()
        self.self_attention = WeighedAttention(width, heads)
        self.cross = WeighedAttention(width, heads)
        self.feedforward = nn.Sequential(
            nn.Linear(width, feedforward * width),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(feedforward * width, width),
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def attend_to_past(
        self, x: Tensor, past: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Self-attention of x [N, T, D] to itself and to cached keys and values; returns the
        extended cache as well."""
        keys, values = (
            torch.cat([old.to(new.dtype), new], 2)
            for old, new in zip(past, self.self_attention.keys_values(x), strict=True)
        )
        time, whole = x.shape[1], keys.shape[2]
        later = torch.ones(time, whole, dtype=torch.bool, device=x.device).triu(whole - time + 1)
        logits = self.self_attention.logits(x, keys).masked_fill(later, FAR)
        seen = self.self_attention.collect(torch.softmax(logits, -1), values)
        return self.norms[0](x + self.dropout(seen)), (keys, values)

    def grid(self, memory: Tensor, bias: Tensor | None) -> Grid:
        """Keys and values of memory [N, L, D]."""
        return Grid(*self.cross.keys_values(memory), bias)

    def cross_logits(self, x: Tensor, grid: Grid) -> Tensor:
        """Logits [N, heads, T, L] of cross-attention."""
        logits = self.cross.logits(x, grid.keys)
        return logits if grid.bias is None else logits + grid.bias

    def finish(self, x: Tensor, weights: Tensor, grid: Grid) -> Tensor:
        """Cross-attention by `weights` [N, heads, T, L], then the feed-forward network."""
        x = self.norms[1](x + self.dropout(self.cross.collect(weights, grid.values)))
        return self.norms[2](x + self.dropout(self.feedforward(x)))


def time_encoding(start: int, length: int, width: int, like: Tensor) -> Tensor:
    """Sinusoids [length, width] of positions from `start` on."""
    places = torch.arange(start, start + length, device=like.device, dtype=torch.float32)
    frequencies = torch.exp(
        torch.arange(0, width, 2, device=like.device, dtype=torch.float32)
        * (-math.log(10000.0) / width)
    )
    angles = places[:, None] * frequencies
    return torch.cat([torch.sin(angles), torch.cos(angles)], -1).to(like.dtype)
