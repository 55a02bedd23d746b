"""Exponential moving average (EMA) of weights and batch statistics."""

from collections.abc import Mapping

import torch
from torch import Tensor


@torch.no_grad()
def update_average(
    average: Mapping[str, Tensor], state: Mapping[str, Tensor], decay: float
) -> None:
    """Moves the average, in place, towards the present weights: decay · average + (1 - decay) ·
    state. Whole numbers, as of batches seen, are copied. One kernel call for all tensors.
    """
    floats = [name for name, value in state.items() if value.is_floating_point()]
    torch._foreach_lerp_(
        [average[name] for name in floats], [state[name] for name in floats], 1 - decay
    )
    for name in state.keys() - set(floats):
        average[name].copy_(state[name])
