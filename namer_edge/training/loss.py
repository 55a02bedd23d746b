"""The losses of eq. 3 and 6 to 9, over one batch, matching included."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from namer_edge_runtime.preprocessing import CELL

from ..data.batches import UNKNOWN, Batch
from ..model.namer import Namer
from .matching import match
from .targets import IGNORE, Candidates, node_targets, stack, visual_map

FREEZABLE = ("encoder", "vat", "pgd")
"""Parts of a NAMER that training may leave as they are."""


@dataclass(frozen=True)
class LossOptions:
    """What of the loss is a matter of choice; the paper's is `pgd_weight` 0.5, the rest as here."""

    pgd_weight: float = 0.5
    """λ of eq. 9."""
    per_token: bool = False
    """Divide VAT's summed loss by the number of tokens instead of the number of cells (eq. 3)."""
    smoothing: float = 0.0
    """Label smoothing of VAT and self correction."""
    window: int = 5
    """k of the matching."""


class Objective(nn.Module):
    """A NAMER with its training loss: batch → losses; one module, so that DDP can wrap it."""

    def __init__(
        self,
        namer: Namer,
        options: LossOptions,
        candidates: Candidates,
        frozen: Sequence[str] = (),
    ) -> None:
        """Parts of the NAMER that are `frozen` keep their weights and batch statistics."""
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
        """Scalars `loss` (eq. 9), `vat` (eq. 3), and of the heads that there are `self`, `left`,
        `right` (eq. 6, 7); `seed` draws the disturbed nodes."""
        vocabulary, options = self.namer.vocabulary, self.options
        device = next(self.parameters()).device
        images = batch.images.to(device).float() / 255.0
        mask = None if batch.mask is None else batch.mask.to(device)
        maps = self.namer.encode(images.contiguous(memory_format=torch.channels_last), mask)
        logits = maps.logits.float()
        probabilities = torch.softmax(logits.detach(), 1).cpu().numpy()

        rng = np.random.default_rng(seed)
        visual = np.full((len(images), *logits.shape[2:]), IGNORE, np.int64)
        nodes = []
        for i, (label, cells, (h, w)) in enumerate(
            zip(batch.labels, batch.cells, batch.sizes, strict=True)
        ):
            p = probabilities[i, :, : h // CELL, : w // CELL]
            matched = match(p, label.classes[label.visual], cells, options.window)
            visual[i, : h // CELL, : w // CELL] = visual_map(
                label, matched, p.shape[1:], vocabulary
            )
            nodes.append(node_targets(label, matched, p, vocabulary, self.candidates, rng))
        target = torch.from_numpy(visual).to(device)
        tokens = {name: value.to(device) for name, value in stack(nodes).items()}

        inside = target != IGNORE
        counted = inside & (target != vocabulary.none) if options.per_token else inside
        vat = summed(logits, target, vocabulary.size, options.smoothing)
        vat = vat / counted.sum().clamp_min(1)

        own, left, right = self.namer.decode(
            maps,
            tokens["cells"],
            tokens["classes"],
            tokens["endings"],
            tokens["scores"],
            tokens["mask"],
            mask,
        )
        heads = {
            "self": (own, tokens["own"], options.smoothing),
            "left": (left, tokens["left"], 0.0),
            "right": (right, tokens["right"], 0.0),
        }
        losses = {
            part: summed(scores.float().flatten(0, 1), wanted.flatten(), vocabulary.size, smoothing)
            / (wanted != IGNORE).sum().clamp_min(1)
            for part, (scores, wanted, smoothing) in heads.items()
        }
        parts = self.namer.architecture.pgd_parts
        losses = {part: loss for part, loss in losses.items() if part in parts}
        loss = vat + options.pgd_weight * torch.stack(list(losses.values())).sum()
        return {"loss": loss, "vat": vat, **losses}


def summed(logits: Tensor, target: Tensor, visual: int, smoothing: float) -> Tensor:
    """Cross-entropy summed over all places that have a target; logits [n, M, …], target [n, …].

    For an `UNKNOWN` sign all of the `visual` classes, which come first, are wanted equally.
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
    doubt = logits.log_softmax(1)[:, :visual].mean(1)
    return known - doubt[unknown].sum()
