"""PGD, the Parallel Graph Decoder: corrects nodes and scores their neighbors (eq. 5 to 7)."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

PARTS = ("self", "left", "right")
"""PGD's heads: self correction (SCH), left (LCH) and right connectivity (RCH)."""
CERTAIN = 30.0
"""Logit of a class with a probability of practically 1."""


class PgdLogits(NamedTuple):
    """Outputs of the three heads for N nodes (eq. 6, 7)."""

    self_correction: Tensor
    """[B, N, K + 2]: visual classes, `}`, delete."""
    left: Tensor
    """[B, N, N], at [j, i] that i is left of j."""
    right: Tensor
    """[B, N, N], at [i, j] that j is right of i."""


def position_encoding(rows: Tensor, columns: Tensor, width: int) -> Tensor:
    """2-D sinusoids of positions in units of 16 pixels: […] and […] → […, width].

    Half of the channels tell the row, half the column; wavelengths run from about two cells of F16
    to the largest picture.
    """
    frequencies = 2.0 * torch.exp(
        torch.arange(width // 4, device=rows.device, dtype=torch.float32)
        * (-math.log(400.0) / (width // 4 - 1))
    )
    angles = [x.float().unsqueeze(-1) * frequencies for x in (rows, columns)]
    return torch.cat([f(a) for a in angles for f in (torch.sin, torch.cos)], -1)


def padding_bias(mask: Tensor) -> Tensor:
    """Mask [B, N] (1 real, 0 padding) → what is added to logits [B, 1, 1, N]."""
    return (1.0 - mask[:, None, None, :]) * -1e4


class Attention(nn.Module):
    """Multi-head attention: queries [B, N, D] over values [B, M, D], mask [B, 1, 1, M] additive."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)
        self.heads = heads

    def forward(self, queries: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        q = self.query(queries).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = (
            self.key_value(values).unflatten(-1, (2 * self.heads, -1)).transpose(1, 2).chunk(2, 1)
        )
        mask = None if mask is None else mask.to(q.dtype)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(attended.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Cross-attention to F16, then a transformer layer (eq. 5): [B, N, D] → [B, N, D]."""

    def __init__(self, width: int, heads: int, feedforward: int, dropout: float) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.cross = Attention(width, heads)
        self.self_attention = Attention(width, heads)
        self.expand = nn.Linear(width, feedforward * width)
        self.contract = nn.Linear(feedforward * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, q: Tensor, memory: Tensor, memory_mask: Tensor | None, mask: Tensor
    ) -> Tensor:
        q = q + self.dropout(self.cross(self.norms[0](q), memory, memory_mask))
        x = self.norms[1](q)
        q = q + self.dropout(self.self_attention(x, x, mask))
        return q + self.dropout(self.contract(torch.relu(self.expand(self.norms[2](q)))))


class Head(nn.Module):
    """One of the three decoders: Q_0 [B, N, D] → Q_J [B, N, D] (eq. 5)."""

    def __init__(
        self, width: int, heads: int, layers: int, feedforward: int, dropout: float
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            Layer(width, heads, feedforward, dropout) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)

    def forward(
        self, q: Tensor, memory: Tensor, memory_mask: Tensor | None, mask: Tensor
    ) -> Tensor:
        for layer in self.layers:
            q = layer(q, memory, memory_mask, mask)
        return self.norm(q)


class GraphDecoder(nn.Module):
    """Nodes and features → logits of self-correction and of both connectivities.

    `classes` is K: K + 3 node classes go in (visual, `}`, <sos>, <eos>) and self-correction returns
    K + 2 (visual, `}`, delete).
    """

    def __init__(
        self,
        feature_width: int,
        memory_width: int,
        classes: int,
        width: int = 256,
        heads: int = 8,
        layers: int = 2,
        feedforward: int = 2,
        dropout: float = 0.1,
        parts: Sequence[str] = PARTS,
    ) -> None:
        """`parts`: enabled heads (table 6). A disabled head has no layers and its output is
        undefined, except that disabled self-correction returns the input classes."""
        super().__init__()
        self.width, self.sos, self.parts = width, classes + 1, tuple(parts)
        self.feature = nn.Linear(feature_width, width)
        self.memory = nn.Linear(memory_width, width)
        self.token = nn.Embedding(classes + 3, width)
        self.ending = nn.Embedding(3, width)
        self.score = nn.Linear(1, width)
        self.input_norm = nn.LayerNorm(width)
        self.self_head, self.left_head, self.right_head = (
            Head(width, heads, layers if part in parts else 0, feedforward, dropout)
            for part in PARTS
        )
        self.correct = nn.Linear(width, classes + 2)
        for part, head in zip(PARTS, self.heads, strict=True):
            head.requires_grad_(part in parts)
        self.correct.requires_grad_("self" in parts)

    @property
    def heads(self) -> tuple[Head, Head, Head]:
        """Self-correction, left, right."""
        return self.self_head, self.left_head, self.right_head

    def queries(
        self, features: Tensor, cells: Tensor, classes: Tensor, endings: Tensor, scores: Tensor
    ) -> Tensor:
        """Q_0 [B, N, D]: visual feature + position + token of each node ("PGD").

        An ending has its relation's cell and its own embedding; <sos> and <eos> have no place.
        """
        rows, columns = cells[..., 0], cells[..., 1]
        flat = features.flatten(2).transpose(1, 2)  # [B, h·w, C]
        index = (rows * features.shape[3] + columns).unsqueeze(-1)
        local = self.feature(flat.gather(1, index.expand(-1, -1, flat.shape[2])))
        where = position_encoding((rows + 0.5) / 2, (columns + 0.5) / 2, self.width)
        placed = (classes < self.sos).unsqueeze(-1)
        q = self.token(classes) + self.ending(endings) + self.score(scores.unsqueeze(-1))
        return self.input_norm(q + torch.where(placed, local + where.to(local.dtype), 0.0))

    def context(self, memory: Tensor) -> Tensor:
        """F^p_16x of eq. 5: F16 [B, E, h/2, w/2] with positions → [B, h·w/4, D]."""
        rows = torch.arange(memory.shape[2], device=memory.device)[:, None] + 0.5
        columns = torch.arange(memory.shape[3], device=memory.device)[None, :] + 0.5
        where = position_encoding(
            rows + torch.zeros_like(columns), columns + torch.zeros_like(rows), self.width
        )
        context = self.memory(memory.flatten(2).transpose(1, 2))
        return context + where.flatten(0, 1).to(context.dtype)

    def logits(
        self, q0: Tensor, q_self: Tensor, q_left: Tensor, q_right: Tensor, node_bias: Tensor
    ) -> PgdLogits:
        """Q_0 and the three Q_J [B, N, D] → logits (eq. 6, 7)."""
        scale = self.width**-0.5
        bias = node_bias.squeeze(1)  # [B, 1, N]
        left = q0 @ q_left.transpose(1, 2) * scale + bias
        right = q0 @ q_right.transpose(1, 2) * scale + bias
        return PgdLogits(self.correct(q_self), left, right)

    def forward(
        self,
        features: Tensor,
        memory: Tensor,
        cells: Tensor,
        classes: Tensor,
        endings: Tensor,
        scores: Tensor,
        mask: Tensor,
        memory_mask: Tensor | None = None,
    ) -> PgdLogits:
        """features F_out [B, C, h, w], memory F16 [B, E, h/2, w/2]; of N nodes: cells [B, N, 2]
        (row, column), classes, endings [B, N] int64, scores [B, N] (VAT's probability), mask
        [B, N] (1 node, 0 padding); memory_mask [B, 1, h/2, w/2] likewise.

        Padding nodes get no weight. Both connectivities are scaled dot-product attention (1/√D)
        from Q_0 of the node in the row to Q_J of the node in the column.
        """
        q0 = self.queries(features, cells, classes, endings, scores)
        context = self.context(memory)
        node_bias = padding_bias(mask)
        memory_bias = None
        if memory_mask is not None:
            memory_bias = padding_bias(memory_mask.flatten(1))
        q_self, q_left, q_right = (head(q0, context, memory_bias, node_bias) for head in self.heads)
        logits = self.logits(q0, q_self, q_left, q_right, node_bias)
        if "self" in self.parts:
            return logits
        one_hot = F.one_hot(classes, logits.self_correction.shape[2] + 1)[..., :-1]
        return logits._replace(self_correction=CERTAIN * one_hot.to(logits.left.dtype))
