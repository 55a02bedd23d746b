"""Encoders by name: picture → F8 and F16."""

from collections.abc import Sequence

from namer_edge_runtime.errors import ConfigError

from .densenet import DenseNetEncoder
from .edge import EdgeEncoder

Encoder = EdgeEncoder | DenseNetEncoder
"""Called with a picture and its masks; `width8` and `width16` are the channels of F8 and F16."""
ENCODERS = ("edge", "densenet")
STAGES = 4
"""Resolutions of `edge`: H/2, H/4, H/8, H/16."""


def build_encoder(
    name: str, channels: int, widths: Sequence[int], blocks: Sequence[int]
) -> Encoder:
    """`widths` and `blocks` shape `edge`; `densenet` is as published.

    Raises `ConfigError` for an unknown encoder or a number of stages that `edge` has not.
    """
    if name not in ENCODERS:
        raise ConfigError(f"encoder = {name!r}: choose one of {', '.join(ENCODERS)}")
    if not len(widths) == len(blocks) == STAGES:
        raise ConfigError(f"widths = {widths}, blocks = {blocks}: give {STAGES} numbers each")
    if name == "edge":
        return EdgeEncoder(channels, widths, blocks)
    return DenseNetEncoder(channels)
