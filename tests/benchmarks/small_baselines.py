"""The four of table 3 on encoder `edge`, small enough to run in a moment."""

import torch

from namer_edge.model.namer import Architecture, Namer
from namer_edge_benchmarks.baselines import RIVALS, Entrants, Rival
from namer_edge_runtime.decode.options import Decoding
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.preprocessing import Look

from ..autoregressive.small import small

CROHME = Vocabulary.load("crohme")


def small_entrants() -> Entrants:
    """With random weights."""
    torch.manual_seed(0)
    widths, blocks = (8, 8, 16, 16), (0, 0, 0, 1)
    architecture = Architecture("edge", widths, blocks, 16, 16, 1, 2)
    rivals = tuple(Rival(name, small(name, vocabulary=CROHME), False) for name in RIVALS)
    return Entrants(Namer(architecture, CROHME), False, Decoding(), rivals, Look())
