"""Encoder `edge`: residual 3 × 3 convolutions, the fastest on CPUs in int8."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .layers import ConvNorm, Masks, masked


class ResidualBlock(nn.Module):
    """Two 3 × 3 convolutions with a residual connection: [B, C, H, W] → the same."""

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        self.first = ConvNorm(channels, channels)
        self.second = ConvNorm(channels, channels, relu=False)
        self.stride = stride

    def forward(self, x: Tensor, masks: Masks | None = None) -> Tensor:
        inner = masked(self.first(x), masks, self.stride)
        return masked(torch.relu(x + self.second(inner)), masks, self.stride)


class Stage(nn.Module):
    """Halves the resolution, then residual blocks: [B, in, H, W] → [B, out, ⌈H/2⌉, ⌈W/2⌉]."""

    def __init__(self, channels_in: int, channels_out: int, blocks: int, stride: int) -> None:
        super().__init__()
        self.down = ConvNorm(channels_in, channels_out, stride=2)
        self.blocks = nn.ModuleList(ResidualBlock(channels_out, stride) for _ in range(blocks))
        self.stride = stride

    def forward(self, x: Tensor, masks: Masks | None = None) -> Tensor:
        x = masked(self.down(x), masks, self.stride)
        for block in self.blocks:
            x = block(x, masks)
        return x


class EdgeEncoder(nn.Module):
    """Picture [B, channels, H, W] → F8 [B, widths[2], H/8, W/8], F16 [B, widths[3], H/16, W/16].

    `widths` are the channels at H/2, H/4, H/8 and H/16, `blocks` the residual blocks there.
    """

    def __init__(
        self,
        channels: int = 1,
        widths: Sequence[int] = (32, 48, 96, 192),
        blocks: Sequence[int] = (0, 1, 2, 3),
    ) -> None:
        super().__init__()
        inputs = (channels, *widths[:-1])
        self.stages = nn.ModuleList(
            Stage(inputs[i], widths[i], blocks[i], 2 ** (i + 1)) for i in range(len(widths))
        )
        self.width8, self.width16 = widths[2], widths[3]

    def forward(self, image: Tensor, masks: Masks | None = None) -> tuple[Tensor, Tensor]:
        half, quarter, eighth, sixteenth = self.stages
        f8 = eighth(quarter(half(image, masks), masks), masks)
        return f8, sixteenth(f8, masks)
