"""The four of table 3 on encoder `edge`, small enough to run in a moment."""

import torch

from namer_edge.model.namer import Architecture, Namer
from namer_edge_benchmarks.baselines import BASELINES, Baseline, Baselines
from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.preprocessing import Preprocessing

from ..autoregressive.small import small

CROHME = Vocabulary.load("crohme")


def small_baselines() -> Baselines:
    """With random weights."""
    torch.manual_seed(0)
    widths, blocks = (8, 8, 16, 16), (0, 0, 0, 1)
    architecture = Architecture("edge", widths, blocks, 16, 16, 1, 2)
    few = tuple(Baseline(name, small(name, vocabulary=CROHME), False) for name in BASELINES)
    return Baselines(Namer(architecture, CROHME), False, DecodingOptions(), few, Preprocessing())
