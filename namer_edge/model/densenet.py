"""Encoder `densenet`: the DenseNet that DWAP, CoMER and the paper share ("Implementation Details").

Growth 24, three blocks of 16 bottleneck layers, transitions that halve channels and resolution.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .layers import ConvNorm, Masks, masked
from .recomputation import recomputed

SEGMENT = 4
"""Layers between two kept activations with checkpointing: the root of the layers of a block."""


class Bottleneck(nn.Module):
    """1 × 1 to four times the growth, 3 × 3 to the growth, appended: [B, C] → [B, C + growth].

    The resolution stays.
    """

    def __init__(self, channels: int, growth: int, dropout: float, stride: int) -> None:
        super().__init__()
        self.narrow = ConvNorm(channels, 4 * growth, kernel=1)
        self.grow = ConvNorm(4 * growth, growth)
        self.dropout = nn.Dropout(dropout)
        self.stride = stride

    def forward(self, x: Tensor, masks: Masks | None = None) -> Tensor:
        inner = masked(self.dropout(self.narrow(x)), masks, self.stride)
        return torch.cat([x, masked(self.dropout(self.grow(inner)), masks, self.stride)], 1)


class DenseNetEncoder(nn.Module):
    """Picture [B, channels, H, W] → F8 [B, width8, H/8, W/8] after the second block, F16
    [B, width16, H/16, W/16] after the third.
    """

    def __init__(
        self, channels: int = 1, growth: int = 24, layers: int = 16, dropout: float = 0.2
    ) -> None:
        super().__init__()
        width = 2 * growth
        self.stem = ConvNorm(channels, width, kernel=7, stride=2)
        self.blocks = nn.ModuleList()
        self.transitions = nn.ModuleList()
        self.dropout = nn.Dropout(dropout)
        self.checkpointing = False  # activation checkpointing: less memory, more time
        widths = []
        for stride in (4, 8, 16):
            self.blocks.append(
                nn.ModuleList(
                    Bottleneck(width + i * growth, growth, dropout, stride) for i in range(layers)
                )
            )
            width += layers * growth
            widths.append(width)
            if stride < 16:
                width //= 2
                self.transitions.append(ConvNorm(2 * width, width, kernel=1))
        self.width8, self.width16 = widths[1], widths[2]

    def forward(self, image: Tensor, masks: Masks | None = None) -> tuple[Tensor, Tensor]:
        x = F.max_pool2d(masked(self.stem(image), masks, 2), 2)
        maps = []
        for number, block in enumerate(self.blocks):
            assert isinstance(block, nn.ModuleList)
            x = self._through(list(block), x, masks)
            maps.append(x)
            if number < len(self.transitions):
                narrow = self.dropout(self.transitions[number](x))
                x = F.avg_pool2d(masked(narrow, masks, 4 << number), 2)
        return maps[1], maps[2]

    def _through(self, layers: list[nn.Module], x: Tensor, masks: Masks | None) -> Tensor:
        if self.checkpointing and torch.is_grad_enabled():
            for start in range(0, len(layers), SEGMENT):
                x = recomputed(layers[start : start + SEGMENT], x, masks)
            return x
        for layer in layers:
            x = layer(x, masks)
        return x
