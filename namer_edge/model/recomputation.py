"""Activation checkpointing: activations are computed again in the backward pass, not kept."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from .layers import Masks


def recomputed(layers: Sequence[nn.Module], x: Tensor, masks: Masks | None) -> Tensor:
    """`layers` one after the other, of which only the input is kept for the backward pass.

    Gradients, dropout and batch statistics are those of the layers without it.
    """

    def forward(x: Tensor) -> Tensor:
        for layer in layers:
            x = layer(x, masks)
        return x

    def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), _statistics_kept(layers)

    output: Tensor = checkpoint(forward, x, use_reentrant=False, context_fn=contexts)
    return output


@contextmanager
def _statistics_kept(layers: Sequence[nn.Module]) -> Iterator[None]:
    """Batch normalization as in training, which has already counted this batch."""
    norms = [
        module
        for layer in layers
        for module in layer.modules()
        if isinstance(module, nn.BatchNorm2d) and module.training
    ]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
            if norm.num_batches_tracked is not None:
                norm.num_batches_tracked -= 1
