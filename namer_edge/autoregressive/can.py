"""CAN: DWAP with weakly supervised symbol counting (Li et al.: ECCV 2022)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..model.layers import ConvNorm, masked
from .coverage_attention import masked_mean
from .dwap import Context, Dwap
from .model import DecoderArchitecture, Features


class Counter(nn.Module):
    """A counting map of each class, summed over the picture: F16 [N, C, h, w] → [N, classes].

    A convolution, channel attention over the whole picture, then 1 × 1 to a probability of each
    class at each cell.
    """

    def __init__(self, channels: int, classes: int, width: int, kernel: int) -> None:
        super().__init__()
        self.look = ConvNorm(channels, width, kernel)
        self.weigh = nn.Sequential(
            nn.Linear(width, width // 16), nn.ReLU(), nn.Linear(width // 16, width), nn.Sigmoid()
        )
        self.classify = nn.Conv2d(width, classes, 1)
        # Prior of a rare event: nearly no cell holds a symbol.
        assert self.classify.bias is not None
        nn.init.constant_(self.classify.bias, -6.0)

    def forward(self, f16: Tensor, mask: Tensor | None) -> Tensor:
        features = masked(self.look(f16), None if mask is None else {16: mask}, 16)
        features = features * self.weigh(masked_mean(features, mask))[:, :, None, None]
        counted = torch.sigmoid(self.classify(features).float())
        return (counted if mask is None else counted * mask).sum((2, 3))


@dataclass(frozen=True)
class CountedContext(Context):
    """A `Context` whose `seen` comes from the counts."""

    counts: Tensor
    """[2, N, A]: predicted count of each token, by each counter."""


class Can(Dwap):
    """Two counters, of 3 × 3 and 5 × 5 cells; the mean of their counts enters every token's scores.

    Attention keys have position encodings. Loss: DWAP's and the smooth L1 of the counts.
    """

    positions = True
    inked: Tensor
    """[A]: 1 for tokens that are counted."""

    def __init__(self, architecture: DecoderArchitecture, vocabulary: Vocabulary) -> None:
        super().__init__(architecture, vocabulary)
        self.counters = nn.ModuleList(
            Counter(self.encoder.width16, self.alphabet.size, architecture.attention_width, kernel)
            for kernel in (3, 5)
        )
        self.from_counts = nn.Linear(self.alphabet.size, architecture.decoder_width)
        inked = torch.zeros(self.alphabet.size)
        inked[self.alphabet.inked] = 1.0
        self.register_buffer("inked", inked, persistent=False)

    def prepare(self, features: Features) -> CountedContext:
        counts = torch.stack([count(features.f16, features.mask) for count in self.counters])
        plain = super().prepare(features)
        seen = self.from_counts(counts.mean(0))
        return CountedContext(plain.keys, plain.initial, seen, counts)

    def losses(
        self, context: CountedContext, labels: Sequence[Sequence[int]], smoothing: float = 0.0
    ) -> dict[str, Tensor]:
        """Adds `counting`, over tokens with ink: braces and scripts are not visible."""
        tokens = super().losses(context, labels, smoothing)["loss"]
        truth = torch.stack(
            [torch.bincount(torch.tensor(label), minlength=self.alphabet.size) for label in labels]
        ).to(self.device, torch.float32)
        counts = torch.cat([context.counts, context.counts.mean(0, keepdim=True)]) * self.inked
        wrong = F.smooth_l1_loss(counts, (truth * self.inked).expand_as(counts))
        return {"loss": tokens + wrong, "tokens": tokens, "counting": wrong}
