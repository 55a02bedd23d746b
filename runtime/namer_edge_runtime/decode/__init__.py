"""From the scores of VAT and PGD to a formula: token picking and path selection, compiled."""

from .decode import decode, decode_all
from .hypothesis import Hypothesis
from .pick import EOS, SOS, Nodes, pick, pick_all
from .warm_up import WarmUp, warm_up

__all__ = [
    "EOS",
    "SOS",
    "Hypothesis",
    "Nodes",
    "WarmUp",
    "decode",
    "decode_all",
    "pick",
    "pick_all",
    "warm_up",
]
