"""From the scores of VAT and PGD to a formula: token picking and path selection, compiled."""

from .pick import EOS, SOS, Nodes, pick

__all__ = ["EOS", "SOS", "Nodes", "pick"]
