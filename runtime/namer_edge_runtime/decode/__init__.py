"""From the scores of VAT and PGD to a formula: token picking and path selection, compiled."""

from .decode import Path, decode
from .pick import EOS, SOS, Nodes, pick
from .warm_up import WarmUp, warm_up

__all__ = ["EOS", "SOS", "Nodes", "Path", "WarmUp", "decode", "pick", "warm_up"]
