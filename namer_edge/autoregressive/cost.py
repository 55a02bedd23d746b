"""Cost of an autoregressive model: parameters, and FLOPs counted by PyTorch."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from ..model.cost import Cost
from .model import AutoregressiveModel


def measure(
    model: AutoregressiveModel, height: int = 96, width: int = 256, tokens: int = 40
) -> Cost:
    """Encodes one picture and decodes `tokens` tokens with a cache."""
    model = model.eval()
    encoder = sum(p.numel() for p in model.encoder.parameters())
    whole = sum(p.numel() for p in model.parameters())
    with torch.inference_mode():
        image = torch.zeros(1, model.architecture.channels, height, width)
        with FlopCounterMode(display=False) as counter:
            features = model.encode(image)
        seen = counter.get_total_flops()
        with FlopCounterMode(display=False) as counter:
            context = model.prepare(features)
            state = model.initial_state(context)
            for _ in range(tokens):
                state = model.step(context, state, torch.zeros(1, 1, dtype=torch.int64)).state
        written = counter.get_total_flops()
    parameters = {"encoder": encoder, "decoder": whole - encoder}
    return Cost(height, width, tokens, parameters, {"encoder": seen, "decoder": written}, "tokens")
