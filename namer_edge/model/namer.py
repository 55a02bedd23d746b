"""The NAMER model: encoder, VAT and PGD, and the two graphs that a device runs."""

from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn

from namer_edge_runtime.bounded import bounded, from_json
from namer_edge_runtime.formula.vocabulary import Vocabulary

from .encoder import build_encoder
from .graph_decoder import PARTS, GraphDecoder, PgdLogits
from .layers import mask_pyramid
from .visual_tokenizer import VisualTokenizer


class StoredArchitecture:
    """An architecture as checkpoints hold it."""

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Raises `ModelFileError` that names an unknown key or an impossible value."""
        return from_json(cls, value, "architecture")


@dataclass(frozen=True)
class Architecture(StoredArchitecture):
    """Hyperparameters of a NAMER; every checkpoint holds them."""

    encoder: str = "edge"
    widths: tuple[int, ...] = bounded((32, 48, 96, 192), 1, 4096)
    """Channels of `edge` at H/2, H/4, H/8, H/16; `densenet` is as published."""
    blocks: tuple[int, ...] = bounded((0, 1, 2, 3), 0, 64)
    """Residual blocks of `edge` at the same resolutions."""
    vat_width: int = bounded(192, 1, 4096)
    pgd_width: int = bounded(192, 1, 4096)
    pgd_layers: int = bounded(2, 1, 64)
    pgd_heads: int = bounded(6, 1, 256)
    pgd_feedforward: int = bounded(2, 1, 64)
    pgd_parts: tuple[str, ...] = PARTS
    """Enabled heads of PGD; fewer than all in ablations (table 6)."""
    dropout: float = bounded(0.1, 0, 0.999)
    """Dropout in PGD."""
    vat_dropout: float = bounded(0.0, 0, 0.999)
    """Dropout of whole channels, before VAT's classes."""
    channels: int = bounded(1, 1, 16)
    vat_lateral: int = bounded(0, 0, 4096)
    """Channels of VAT's 1 × 1 convolution (eq. 1); 0: as many as F8 has."""


@dataclass(frozen=True)
class Maps:
    """Outputs of encoder and VAT for a batch of pictures."""

    logits: Tensor
    """[B, K + 1, h, w], eq. 2 before the softmax; the last class is "none"."""
    features: Tensor
    """F_out [B, vat_width, h, w]."""
    memory: Tensor
    """F16 [B, width16, h/2, w/2]."""


class Namer(nn.Module):
    """Encoder + VAT (`encode`) and PGD (`decode`)."""

    def __init__(self, architecture: Architecture, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.architecture, self.vocabulary = architecture, vocabulary
        self.encoder = build_encoder(
            architecture.encoder, architecture.channels, architecture.widths, architecture.blocks
        )
        width8, width16 = self.encoder.width8, self.encoder.width16
        self.vat = VisualTokenizer(
            width8,
            width16,
            architecture.vat_width,
            vocabulary.size,
            architecture.vat_dropout,
            architecture.vat_lateral,
        )
        self.pgd = GraphDecoder(
            architecture.vat_width,
            width16,
            vocabulary.size,
            architecture.pgd_width,
            architecture.pgd_heads,
            architecture.pgd_layers,
            architecture.pgd_feedforward,
            architecture.dropout,
            architecture.pgd_parts,
        )

    def encode(self, image: Tensor, mask: Tensor | None = None) -> Maps:
        """Image [B, channels, H, W] in 0 … 1 with H and W multiples of 16 → `Maps` with h = H/8.

        `mask` [B, 1, H/16, W/16] is 0 on F16 cells that only pad a batch, which then do not
        influence the others. Without it, every cell belongs to the picture.
        """
        masks = None if mask is None else mask_pyramid(mask)
        f8, f16 = self.encoder(image, masks)
        features, logits = self.vat(f8, f16, masks)
        return Maps(logits, features, f16)

    def decode(
        self,
        maps: Maps,
        cells: Tensor,
        classes: Tensor,
        endings: Tensor,
        scores: Tensor,
        node_mask: Tensor,
        mask: Tensor | None = None,
    ) -> PgdLogits:
        """Logits of the three heads; see `GraphDecoder.forward`."""
        return self.pgd(
            maps.features, maps.memory, cells, classes, endings, scores, node_mask, mask
        )


class VatGraph(nn.Module):
    """The first graph of a model file: picture → tokens of each cell, best classes first.

    uint8 [B, channels, H, W], ink 255 on 0 → scores and classes [B, C, h, w] of the C best visual
    classes, none [B, h, w], features F_out, memory F16.
    """

    def __init__(self, namer: Namer, best: int = 4) -> None:
        super().__init__()
        self.namer, self.best = namer, best

    def forward(
        self, image: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        maps = self.namer.encode(image.float() / 255.0, mask)
        probabilities = torch.softmax(maps.logits.float(), 1)
        none = probabilities[:, -1]
        scores, classes = probabilities[:, :-1].permute(0, 2, 3, 1).topk(self.best)
        return (
            scores.permute(0, 3, 1, 2),
            classes.permute(0, 3, 1, 2),
            none,
            maps.features,
            maps.memory,
        )


class PgdGraph(nn.Module):
    """The second graph of a model file: nodes → probabilities of the three heads.

    Shapes as in `GraphDecoder.forward`, softmax over classes (self) and over nodes (left, right).
    """

    def __init__(self, namer: Namer) -> None:
        super().__init__()
        self.pgd = namer.pgd

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
    ) -> tuple[Tensor, Tensor, Tensor]:
        logits = self.pgd(features, memory, cells, classes, endings, scores, mask, memory_mask)
        self_correction, left, right = (torch.softmax(x.float(), -1) for x in logits)
        return self_correction, left, right
