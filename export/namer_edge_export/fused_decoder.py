"""PGD arranged as it runs fastest: the same function in fewer and larger steps.

What the six layers want of F16, keys and values, is one product instead of six, and so are query,
key and value of a self-attention. The bias of keys goes: it adds the same to all logits of a
softmax. Whatever int8 rounds stays as it was and is rounded alike: weights go by rows.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from namer_edge.model.graph_decoder import Attention, GraphDecoder, Head, Layer, padding_bias

Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None, int], Tensor]
"""(queries [B, N, D], keys and values [B, M, D], mask [B, M] or None, heads) → [B, N, D]."""


def plain_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, heads: int) -> Tensor:
    """Attention in standard operators, which every engine reads."""
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q, k, v))
    bias = None if mask is None else padding_bias(mask)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).flatten(2)


def fused_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, heads: int) -> Tensor:
    """Attention as one operator of ONNX Runtime's own; computes only where it was exported to."""
    inputs: list[Tensor | None] = [q, k, v]
    if mask is not None:
        inputs += [None, mask.to(torch.int32)]
    return torch.onnx.ops.symbolic(
        "com.microsoft::MultiHeadAttention",
        inputs,
        {"num_heads": heads},
        dtype=q.dtype,
        shape=q.shape,
        version=1,
    )


class FusedDecoder(nn.Module):
    """A PGD with its softmaxes; takes and gives what `PgdGraph` does, without a memory mask."""

    def __init__(self, pgd: GraphDecoder, attend: Attend = plain_attention) -> None:
        super().__init__()
        self.pgd = pgd
        layers = list(_layers(pgd.heads))
        self.key_value = _stacked([layer.cross.key_value.weight for layer in layers])
        self.layers = nn.ModuleList(_ArrangedLayer(layer, attend) for layer in layers)

    def forward(
        self,
        features: Tensor,
        memory: Tensor,
        cells: Tensor,
        classes: Tensor,
        endings: Tensor,
        scores: Tensor,
        mask: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        q0 = self.pgd.queries(features, cells, classes, endings, scores)
        seen = iter(self.key_value(self.pgd.context(memory)).chunk(2 * len(self.layers), -1))
        layers = iter(self.layers)
        decoded = []
        for head in self.pgd.heads:
            q = q0
            for _ in head.layers:
                q = next(layers)(q, next(seen), next(seen), mask)
            decoded.append(head.norm(q))
        of_self, of_left, of_right = decoded
        logits = self.pgd.logits(q0, of_self, of_left, of_right, padding_bias(mask))
        own, left, right = (torch.softmax(x, -1) for x in logits)
        return own, left, right


class _ArrangedLayer(nn.Module):
    """`Layer`, with keys and values of the cross-attention given, the values without their bias."""

    def __init__(self, layer: Layer, attend: Attend) -> None:
        super().__init__()
        self.layer, self.attend = layer, attend
        own = layer.self_attention
        self.own = _stacked([own.query.weight, own.key_value.weight])
        self.query_bias = nn.Parameter(own.query.bias.detach())
        self.own_bias, self.cross_bias = _values_bias(own), _values_bias(layer.cross)

    def forward(self, q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        layer, cross, own = self.layer, self.layer.cross, self.layer.self_attention
        asked, values = cross.query(layer.norms[0](q)), values + self.cross_bias
        q = q + cross.out(self.attend(asked, keys, values, None, cross.heads))
        asked, keys, values = self.own(layer.norms[1](q)).chunk(3, -1)
        asked, values = asked + self.query_bias, values + self.own_bias
        q = q + own.out(self.attend(asked, keys, values, mask, own.heads))
        return q + layer.contract(torch.relu(layer.expand(layer.norms[2](q))))


def _layers(heads: tuple[Head, ...]) -> Iterator[Layer]:
    for head in heads:
        for layer in head.layers:
            assert isinstance(layer, Layer)
            yield layer


def _stacked(weights: list[Tensor]) -> nn.Linear:
    """One product in place of several of the same input."""
    weight = torch.cat(weights).detach()
    linear = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    linear.weight = nn.Parameter(weight)
    return linear


def _values_bias(attention: Attention) -> nn.Parameter:
    return nn.Parameter(attention.key_value.bias.detach().chunk(2)[1])
