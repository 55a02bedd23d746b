"""What an autoregressive recogniser costs: parameters, and multiply-adds counted by PyTorch."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from ..model.cost import Cost
from .model import Recogniser


def measure(recogniser: Recogniser, height: int = 96, width: int = 256, tokens: int = 40) -> Cost:
    """Encode one picture and write `tokens` tokens in turn, each taken in once (cached)."""
    recogniser = recogniser.eval()
    encoder = sum(p.numel() for p in recogniser.encoder.parameters())
    whole = sum(p.numel() for p in recogniser.parameters())
    with torch.inference_mode():
        image = torch.zeros(1, recogniser.architecture.channels, height, width)
        with FlopCounterMode(display=False) as counter:
            features = recogniser.encode(image)
        seen = counter.get_total_flops()
        with FlopCounterMode(display=False) as counter:
            context = recogniser.prepare(features)
            state = recogniser.begin(context)
            for _ in range(tokens):
                state = recogniser.advance(
                    context, state, torch.zeros(1, 1, dtype=torch.int64)
                ).state
        written = counter.get_total_flops()
    parameters = {"encoder": encoder, "decoder": whole - encoder}
    return Cost(height, width, tokens, parameters, {"encoder": seen, "decoder": written}, "tokens")
