"""Encoders by name: picture → F8 and F16."""

from collections.abc import Sequence

from .densenet import DenseNetEncoder
from .edge import EdgeEncoder

Encoder = EdgeEncoder | DenseNetEncoder
"""Called with a picture and its masks; `width8` and `width16` are the channels of F8 and F16."""
ENCODERS = ("edge", "densenet")


def build_encoder(
    name: str, channels: int, widths: Sequence[int], blocks: Sequence[int]
) -> Encoder:
    """`widths` and `blocks` shape `edge`; `densenet` is as published."""
    if name == "edge":
        return EdgeEncoder(channels, widths, blocks)
    return DenseNetEncoder(channels)
