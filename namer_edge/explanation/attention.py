"""Cross-attention of PGD's self-correction head to F16 (eq. 5)."""

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


class AttentionRecorder:
    """Cross-attention of the last call of a `Namer`'s PGD."""

    def __init__(self) -> None:
        self.weights: dict[int, Tensor] = {}
        """Layer → [N, h·w] for each node of the first picture, 1 in sum; mean over heads."""

    def maps(self, shape: tuple[int, int]) -> NDArray[np.float32]:
        """[J, N, h, w] on the H/16 grid, one map per layer; raises `KeyError` if PGD was not
        called."""
        layers = [self.weights[number] for number in range(max(1, len(self.weights)))]
        return torch.stack(layers).unflatten(2, shape).numpy()


@contextmanager
def recording(namer: Namer) -> Iterator[AttentionRecorder]:
    """Records the attention of the self-correction head's layers inside the context."""
    recorder = AttentionRecorder()
    layers = cast(Iterable[Layer], namer.pgd.self_head.layers)
    with ExitStack() as hooks:
        for number, layer in enumerate(layers):
            hook = partial(_record, recorder, number)
            hooks.callback(layer.cross.register_forward_pre_hook(hook).remove)
        yield recorder


def _record(
    recorder: AttentionRecorder, number: int, module: nn.Module, inputs: tuple[Tensor, ...]
) -> None:
    assert isinstance(module, Attention)
    queries, values, mask = inputs
    q = module.query(queries[:1]).unflatten(-1, (module.heads, -1)).transpose(1, 2)
    both = module.key_value(values[:1]).unflatten(-1, (2 * module.heads, -1)).transpose(1, 2)
    logits = q @ both[:, : module.heads].transpose(2, 3) * q.shape[-1] ** -0.5
    if mask is not None:
        logits = logits + mask[:1]
    recorder.weights[number] = torch.softmax(logits.float(), -1).mean(1)[0].cpu()
