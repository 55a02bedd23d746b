"""NAMER's losses (eq. 3, 6 to 9) over one batch, matching included."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from namer_edge_runtime.bounded import bounded
from namer_edge_runtime.preprocessing import CELL

from ..data.batches import UNKNOWN, Batch
from ..model.graph_decoder import PARTS, PgdLogits
from ..model.namer import Namer
from .cell_probabilities import CellProbabilities
from .matching import assign
from .objective import TrainingObjective
from .targets import IGNORE, Candidates, completed_nodes, stack, visual_map

FREEZABLE = ("encoder", "vat", "pgd")
"""Parts of a NAMER that training may leave unchanged."""


@dataclass(frozen=True)
class LossOptions:
    """Options of the loss; the defaults are the paper's."""

    pgd_weight: float = bounded(0.5, 0, inf)
    """λ of eq. 9."""
    vat_loss_per_token: bool = False
    """Divide VAT's summed loss by the number of tokens instead of the number of cells (eq. 3)."""
    label_smoothing: float = bounded(0.0, 0, 1)
    """Label smoothing of VAT and self-correction."""
    window: int = bounded(5, 1, inf)
    """k of the matching."""


class Objective(TrainingObjective):
    """A NAMER with its training loss."""

    def __init__(
        self,
        namer: Namer,
        options: LossOptions,
        candidates: Candidates,
        frozen: Sequence[str] = (),
    ) -> None:
        """`frozen` parts of the NAMER keep their weights and batch statistics."""
        super().__init__()
        self.namer, self.options, self.candidates = namer, options, candidates
        self.frozen = [namer.get_submodule(part) for part in frozen]
        for part in self.frozen:
            part.requires_grad_(False)

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        for part in self.frozen:
            part.eval()
        return self

    def forward(self, batch: Batch, seed: tuple[int, ...]) -> dict[str, Tensor]:
        """Scalars `loss` (eq. 9), `vat` (eq. 3), and of the enabled heads `self`, `left`, `right`
        (eq. 6, 7); `seed` draws the disturbed nodes."""
        device = next(self.parameters()).device
        images = batch.images.to(device, non_blocking=True).float() / 255.0  # [B, C, H, W]
        mask = batch.mask  # [B, 1, H/16, W/16]
        mask = None if mask is None else mask.to(device, non_blocking=True)
        maps = self.namer.encode(images.contiguous(memory_format=torch.channels_last), mask)
        logits = maps.logits.float()  # [B, K + 1, h, w], h = H/8
        seen = CellProbabilities(logits)
        visual, nodes = self._targets(batch, seen, np.random.default_rng(seed))
        nodes = {name: value.to(device) for name, value in nodes.items()}
        pgd = self.namer.decode(
            maps,
            nodes["cells"],  # [B, N, 2]
            nodes["classes"],  # [B, N], as all others
            nodes["endings"],
            nodes["scores"],
            nodes["mask"],
            mask,
        )
        vat = self._vat_loss(logits, visual.to(device))
        heads = self._pgd_losses(pgd, nodes)
        loss = vat + self.options.pgd_weight * torch.stack(list(heads.values())).sum()
        return {"loss": loss, "vat": vat, **heads}

    def _targets(
        self, batch: Batch, seen: CellProbabilities, rng: np.random.Generator
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """P* [B, h, w] and the stacked `NodeTargets`, by matching in P [B, K + 1, h, w]."""
        vocabulary, best = self.namer.vocabulary, seen.best()
        shapes = [(height // CELL, width // CELL) for height, width in batch.sizes]  # unpadded
        wanted = seen.of_classes([label.classes[label.visual] for label in batch.labels])
        matched = [  # [V, 2] each
            assign(np.ascontiguousarray(rows[:, :h, :w]), estimates, self.options.window)
            for rows, estimates, (h, w) in zip(wanted, batch.cells, shapes, strict=True)
        ]
        columns = seen.of_cells(matched)
        visual = np.full(best.none.shape, IGNORE, np.int64)
        nodes = []
        for i, (label, (h, w)) in enumerate(zip(batch.labels, shapes, strict=True)):
            visual[i, :h, :w] = visual_map(label, matched[i], (h, w), vocabulary)
            nodes.append(
                completed_nodes(
                    label,
                    matched[i],
                    columns[i],
                    best.of(i, h, w),
                    vocabulary,
                    self.candidates,
                    rng,
                )
            )
        return torch.from_numpy(visual), stack(nodes)

    def _vat_loss(self, logits: Tensor, target: Tensor) -> Tensor:
        """Eq. 3 for logits [B, K + 1, h, w] and P* [B, h, w]."""
        vocabulary = self.namer.vocabulary
        counted = target != IGNORE
        if self.options.vat_loss_per_token:
            counted &= target != vocabulary.none
        total = cross_entropy_sum(logits, target, vocabulary.size, self.options.label_smoothing)
        return total / counted.sum().clamp_min(1)

    def _pgd_losses(self, logits: PgdLogits, nodes: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Eq. 6 and 7: the mean cross-entropy of each enabled head over the nodes that have a
        target."""
        losses = {}
        for part, name in zip(PARTS, PgdLogits._fields, strict=True):
            if part not in self.namer.architecture.pgd_parts:
                continue
            scores = getattr(logits, name).float().flatten(0, 1)  # [B·N, K + 2 or N]
            target = nodes[name].flatten()  # [B·N]
            smoothing = self.options.label_smoothing if part == "self" else 0.0
            total = cross_entropy_sum(scores, target, self.namer.vocabulary.size, smoothing)
            losses[part] = total / (target != IGNORE).sum().clamp_min(1)
        return losses


def cross_entropy_sum(logits: Tensor, target: Tensor, visual: int, smoothing: float) -> Tensor:
    """Cross-entropy summed over all targets but `IGNORE`; logits [n, M, …], target [n, …].

    An `UNKNOWN` sign has the uniform distribution over the `visual` classes, which come first.
    """
    unknown = target == UNKNOWN
    known = F.cross_entropy(
        logits,
        target.masked_fill(unknown, IGNORE),
        ignore_index=IGNORE,
        reduction="sum",
        label_smoothing=smoothing,
    )
    if not unknown.any():
        return known
    uniform = logits.log_softmax(1)[:, :visual].mean(1)
    return known - uniform[unknown].sum()
