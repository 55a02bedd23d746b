"""Coverage attention: attention with the sum of its past weights as input (WAP, DWAP)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..model.graph_decoder import position_encoding


@dataclass(frozen=True)
class Keys:
    """Inputs of attention to N pictures that do not depend on tokens."""

    values: Tensor
    """[N, C, h, w]: the feature map."""
    projected: Tensor
    """[N, A, h, w]: U_a a_i."""
    coverage: Tensor
    """[A, 1, k, k]: U_f Q, applied to the sum of past attention."""
    mask: Tensor | None
    """[N, 1, h, w]."""

    def nothing(self) -> Tensor:
        """Zeros [N, h, w]: the sum of past attention before the first token."""
        return torch.zeros_like(self.values[:, 0])


@dataclass(frozen=True)
class AttentionOutput:
    """One step of attention."""

    context: Tensor
    """[N, C]: the attended features."""
    weights: Tensor
    """[N, h, w]: α, 1 in sum."""


class CoverageAttention(nn.Module):
    """e_i = νᵀ tanh(W ŝ + U_a a_i + U_f f_i) with f = Q ∗ Σ past α; α = softmax(e).

    Q and U_f are both linear, so their product is computed once for all tokens, at a fraction of
    the cost of applying them in turn.
    """

    def __init__(
        self, channels: int, query_width: int, width: int, kernel: int, positions: bool = False
    ) -> None:
        """`positions`: whether keys have position encodings (CAN)."""
        super().__init__()
        self.key = nn.Conv2d(channels, width, 1)
        self.query = nn.Linear(query_width, width, bias=False)
        self.coverage = nn.Conv2d(1, width, kernel, bias=False)
        self.fertility = nn.Linear(width, width, bias=False)
        self.energy = nn.Linear(width, 1, bias=False)  # a bias would not change a softmax
        self.positions = positions

    def keys(self, values: Tensor, mask: Tensor | None) -> Keys:
        """Keys of a feature map [N, C, h, w] with mask [N, 1, h, w]."""
        projected = self.key(values)
        if self.positions:
            projected = projected + grid_encoding(values, projected.shape[1])
        coverage = torch.einsum("af,fokl->aokl", self.fertility.weight, self.coverage.weight)
        return Keys(values, projected, coverage, mask)

    def forward(self, keys: Keys, query: Tensor, past: Tensor) -> AttentionOutput:
        """query [N, D], past [N, h, w]: the sum of attention so far."""
        # Matrix products: the backward pass of one-channel convolutions takes twice as long.
        kernel = keys.coverage.shape[-1]
        around = F.unfold(past[:, None], kernel, padding=kernel // 2)  # [N, k·k, h·w]
        covered = keys.coverage.flatten(1) @ around.to(keys.coverage.dtype)
        inside = torch.tanh(
            keys.projected.flatten(2) + self.query(query)[:, :, None] + covered
        )  # [N, A, h·w]
        energy = (self.energy.weight @ inside).squeeze(1).float()
        if keys.mask is not None:
            energy = energy + (1.0 - keys.mask.flatten(1)) * -1e4
        weights = torch.softmax(energy, 1).view_as(past)
        context = torch.einsum("nchw,nhw->nc", keys.values, weights.to(keys.values.dtype))
        return AttentionOutput(context, weights)


def grid_encoding(features: Tensor, width: int) -> Tensor:
    """2-D sinusoids [width, h, w] of the cells of a feature map [N, C, h, w]."""
    rows = torch.arange(features.shape[2], device=features.device)[:, None] + 0.5
    columns = torch.arange(features.shape[3], device=features.device)[None, :] + 0.5
    where = position_encoding(
        rows + torch.zeros_like(columns), columns + torch.zeros_like(rows), width
    )
    return where.permute(2, 0, 1).to(features.dtype)


def masked_mean(features: Tensor, mask: Tensor | None) -> Tensor:
    """Mean [N, C] of a feature map [N, C, h, w] over the picture, without padding."""
    if mask is None:
        return features.mean((2, 3))
    return (features * mask).sum((2, 3)) / mask.sum((2, 3))
