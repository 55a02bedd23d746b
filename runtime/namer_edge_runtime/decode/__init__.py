"""Decoding: token picking and path selection turn scores of VAT and PGD into a formula."""

from .decode import decode, decode_all
from .hypothesis import Hypothesis
from .options import DecodingOptions
from .pick import EOS, SOS, NodeBatch, Nodes, pick, pick_all, pick_nodes
from .warm_up import WarmUp, warm_up

__all__ = [
    "EOS",
    "SOS",
    "DecodingOptions",
    "Hypothesis",
    "NodeBatch",
    "Nodes",
    "WarmUp",
    "decode",
    "decode_all",
    "pick",
    "pick_all",
    "pick_nodes",
    "warm_up",
]
