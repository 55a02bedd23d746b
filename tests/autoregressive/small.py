"""Recognizers small enough to run in a moment."""

import torch

from namer_edge.autoregressive.model import AutoregressiveModel, DecoderArchitecture
from namer_edge.autoregressive.registry import AUTOREGRESSIVE_MODELS, build_autoregressive
from namer_edge_runtime.formula.vocabulary import Vocabulary

NAMES = tuple(AUTOREGRESSIVE_MODELS)
VOCABULARY = Vocabulary("tiny", ("1", "x", "[", "]"), {"^": ("{",), "\\sqrt": ("[", "{")})


def small(
    name: str, encoder: str = "edge", vocabulary: Vocabulary = VOCABULARY
) -> AutoregressiveModel:
    """In eval mode, with batch statistics as after training: they would hide what padding does."""
    torch.manual_seed(0)
    model = build_autoregressive(
        DecoderArchitecture(
            name,
            encoder,
            widths=(8, 8, 16, 16),
            blocks=(0, 0, 0, 1),
            decoder_width=32,
            attention_width=32,
            decoder_layers=3,
            decoder_heads=4,
        ),
        vocabulary,
    )
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d | torch.nn.BatchNorm1d):
            torch.nn.init.normal_(module.running_mean, std=0.5)  # type: ignore[arg-type]
            torch.nn.init.uniform_(module.running_var, 0.5, 2.0)  # type: ignore[arg-type]
            torch.nn.init.normal_(module.bias, std=0.5)
    return model.eval()
