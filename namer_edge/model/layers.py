"""Convolution block of encoders and VAT, and masks that exclude padding."""

import torch
from torch import Tensor, nn

Masks = dict[int, Tensor]
"""Stride s → [B, 1, H/s, W/s], 1 on the picture and 0 on padding."""


def mask_pyramid(mask: Tensor) -> Masks:
    """Mask [B, 1, H/16, W/16] of whole F16 cells → the mask of every feature map's stride."""
    return {
        stride: mask.repeat_interleave(16 // stride, 2).repeat_interleave(16 // stride, 3)
        for stride in (2, 4, 8, 16)
    }


def masked(features: Tensor, masks: Masks | None, stride: int) -> Tensor:
    """Zeros features on padding, as convolutions pad edges with zeros."""
    return features if masks is None else features * masks[stride]


class ConvNorm(nn.Module):
    """Convolution, batch normalization and optional ReLU; "Conv" of eq. 1.

    [B, in, H, W] → [B, out, ⌈H/stride⌉, ⌈W/stride⌉].
    """

    def __init__(
        self,
        channels_in: int,
        channels_out: int,
        kernel: int = 3,
        stride: int = 1,
        relu: bool = True,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(
            channels_in, channels_out, kernel, stride, padding=kernel // 2, bias=False
        )
        self.norm = nn.BatchNorm2d(channels_out)
        self.relu = relu

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.conv(x))
        return torch.relu(x) if self.relu else x
