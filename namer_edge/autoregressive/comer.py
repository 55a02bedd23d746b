"""CoMER: BTTR with coverage in its attention (Zhao, Gao: ECCV 2022)."""

import torch
from torch import Tensor, nn

from namer_edge_runtime.formula.vocabulary import Vocabulary

from .bttr import Bttr, Context
from .model import DecoderArchitecture, State


class AttentionRefinement(nn.Module):
    """R = norm(max(0, K ∗ C + b) W), subtracted from the logits; C is the sum of past attention.

    A window of 5 × 5 cells over the heads of two coverages, `width` channels, one refinement for
    each head.
    """

    def __init__(self, heads: int, width: int = 32, kernel: int = 5) -> None:
        super().__init__()
        self.look = nn.Conv2d(2 * heads, width, kernel, padding=kernel // 2)
        self.project = nn.Conv2d(width, heads, 1, bias=False)
        self.norm = nn.BatchNorm1d(heads)

    def forward(self, coverage: Tensor, context: Context) -> Tensor:
        """[N, 2 · heads, T, L] → [N, heads, T, L]."""
        rows, _, time, _ = coverage.shape
        images = coverage.transpose(1, 2).flatten(0, 1).unflatten(2, context.shape)
        refined = self.project(torch.relu(self.look(images))).float()
        cells = refined.flatten(2).transpose(1, 2)  # [N · T, L, heads]
        if self.training and context.mask is not None:
            # Statistics without padding.
            inside = context.mask.flatten(1).bool().repeat_interleave(time, 0)
            normed = torch.zeros_like(cells)
            normed[inside] = self.norm(cells[inside])
        else:
            normed = self.norm(cells.flatten(0, 1)).view_as(cells)
        return normed.unflatten(0, (rows, time)).permute(0, 3, 1, 2)


class Comer(Bttr):
    """In each layer after the first, two coverages refine the logits: that of the layer's own
    attention (self) and that of the previous layer's refined attention (cross). All layers share
    one refinement.
    """

    def __init__(self, architecture: DecoderArchitecture, vocabulary: Vocabulary) -> None:
        super().__init__(architecture, vocabulary)
        self.refinement = AttentionRefinement(architecture.decoder_heads)

    def initial_state(self, context: Context) -> State:
        state = super().initial_state(context)
        for number, grid in enumerate(context.grids[1:], 1):
            rows, heads, cells, _ = grid.keys.shape
            for name in ("own", "below"):
                state[f"{name}{number}"] = torch.zeros(
                    rows, heads, cells, dtype=torch.float32, device=grid.keys.device
                )
        return state

    def attend(
        self,
        context: Context,
        state: State,
        layer: int,
        logits: Tensor,
        below: Tensor | None,
    ) -> Tensor:
        own = torch.softmax(logits, -1)
        if below is None:
            return own
        coverages = []
        for name, weights in (("own", own), ("below", below)):
            before = state[f"{name}{layer}"][:, :, None]
            whole = before + weights.cumsum(2)
            coverages.append(whole - weights)  # up to the previous token
            state[f"{name}{layer}"] = whole[:, :, -1]
        return torch.softmax(logits - self.refinement(torch.cat(coverages, 1), context), -1)
