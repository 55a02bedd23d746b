"""Where PGD's self correction head looks: the weights of its cross-attention to F16 (eq. 5)."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..model.graph_decoder import Attention, Layer
from ..model.namer import Namer


class Watch:
    """Keeps what the last call of a `Namer`'s PGD attended to."""

    def __init__(self) -> None:
        self.weights: dict[int, Tensor] = {}
        """Layer → [N, h·w]: of each node of the first picture, 1 in sum; mean over heads."""

    def maps(self, shape: tuple[int, int]) -> NDArray[np.float32]:
        """[J, N, h, w] on the H/16 grid, one map a layer; raises `KeyError` where PGD was not
        asked."""
        layers = [self.weights[number] for number in range(max(1, len(self.weights)))]
        return torch.stack(layers).unflatten(2, shape).numpy()


@contextmanager
def watching(namer: Namer) -> Iterator[Watch]:
    """While this lasts, the layers of the self correction head are watched."""
    watch = Watch()
    layers = cast(Iterable[Layer], namer.pgd.self_head.layers)
    with ExitStack() as hooks:
        for number, layer in enumerate(layers):
            preprocessing = partial(_look, watch, number)
            hooks.callback(layer.cross.register_forward_pre_hook(preprocessing).remove)
        yield watch


def _look(watch: Watch, number: int, module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    assert isinstance(module, Attention)
    queries, values, mask = inputs
    q = module.query(queries[:1]).unflatten(-1, (module.heads, -1)).transpose(1, 2)
    both = module.key_value(values[:1]).unflatten(-1, (2 * module.heads, -1)).transpose(1, 2)
    logits = q @ both[:, : module.heads].transpose(2, 3) * q.shape[-1] ** -0.5
    if mask is not None:
        logits = logits + mask[:1]
    watch.weights[number] = torch.softmax(logits.float(), -1).mean(1)[0].cpu()
