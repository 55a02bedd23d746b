"""VAT, the Visual Aware Tokenizer: all symbols and relations of a picture at once (eq. 1, 2)."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .layers import ConvNorm, Masks, masked


class VisualTokenizer(nn.Module):
    """F8 [B, C8, h, w], F16 [B, C16, h/2, w/2] → F_out [B, width, h, w], logits [B, K + 1, h, w].

    The last class means "none". `classes` is K, the number of visual classes; `dropout` drops whole
    channels before classification; `lateral` is the width of F'_8x, 0 for C8.
    """

    def __init__(
        self,
        width8: int,
        width16: int,
        width: int,
        classes: int,
        dropout: float = 0.0,
        lateral: int = 0,
    ) -> None:
        super().__init__()
        self.lateral = ConvNorm(width16, lateral or width8, kernel=1)
        self.merge = ConvNorm(width8 + (lateral or width8), width)
        self.dropout = nn.Dropout2d(dropout)
        self.classify = nn.Conv2d(width, classes + 1, 3, padding=1)
        # Prior: nearly all cells are "none".
        assert self.classify.bias is not None
        nn.init.zeros_(self.classify.bias)
        nn.init.constant_(self.classify.bias[-1:], 7.0)

    def forward(self, f8: Tensor, f16: Tensor, masks: Masks | None = None) -> tuple[Tensor, Tensor]:
        f16_upsampled = masked(self.lateral(upsample(f16, masks)), masks, 8)  # F'_8x of eq. 1
        features = masked(self.merge(torch.cat([f8, f16_upsampled], 1)), masks, 8)
        return features, self.classify(self.dropout(features))


def upsample(f16: Tensor, masks: Masks | None) -> Tensor:
    """Bilinear, twice the resolution: [B, C, h/2, w/2] → [B, C, h, w].

    At the edge of a map, interpolation repeats the last cell; at the edge of a picture in a padded
    batch, division by the interpolated mask has the same effect.
    """
    larger = F.interpolate(f16, scale_factor=2, mode="bilinear", align_corners=False)
    if masks is None:
        return larger
    weight = F.interpolate(masks[16], scale_factor=2, mode="bilinear", align_corners=False)
    return larger / weight.clamp_min(0.25)
