"""Quantization-aware fine-tuning: training with the roundings that int8 export will make.

Weights are rounded to 7 bits per output channel, activations to U8 per tensor at the points where
the int8 graphs have them so (`namer_edge_export.quantization.onnx_qdq`), and gradients pass the roundings as if
they were not there. `Namer` knows nothing of it: activations are rounded by hooks, weights are
handed in rounded, and what is saved is a checkpoint like any other.

Export rounds weights with batch normalization folded into them, here they are rounded without. Both
round alike: folding multiplies a channel and with it the step of its scale by one number.
Biases, which int8 keeps in 32 bits, stay as they are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from ..model.densenet import Bottleneck, DenseNetEncoder
from ..model.edge import ResidualBlock
from ..model.layers import ConvNorm
from ..model.namer import Namer
from .loss import Objective

NEGLIGIBLE = 9.0
"""A logit that lies this much under its cell's largest is as good as absent: all the classes
together weigh under 2 % there, and nearly always far less."""
FORGET = 0.02
"""Share of its distance to the present batch by which a range shrinks at every step."""
LARGEST_WEIGHT = 64
"""Largest magnitude of a weight in steps of its channel's scale: 7 bits, as the export has them."""
SMALLEST = torch.finfo(torch.float32).tiny
"""Step of what is 0 throughout."""


@dataclass(frozen=True)
class Point:
    """A place where int8 graphs round activations."""

    module: nn.Module
    output: bool = True
    """Whether it is what the module gives that is rounded, or what it takes."""
    logits: bool = False
    """Whether these are VAT's logits, whose range ends where probabilities become negligible."""


def points(namer: Namer) -> Iterator[Point]:
    """In encoder and VAT all that is computed between picture and softmax, in PGD what its linear
    layers take."""
    for module in (*namer.encoder.modules(), *namer.vat.modules()):
        if isinstance(module, ConvNorm | ResidualBlock | Bottleneck):
            yield Point(module)
    if isinstance(namer.encoder, DenseNetEncoder):
        for block in namer.encoder.blocks:  # their pictures come from pooling
            assert isinstance(block, nn.ModuleList)
            yield Point(block[0], output=False)
    yield Point(namer.vat.lateral, output=False)  # F16, upsampled: hardly narrower
    yield Point(namer.vat.merge, output=False)  # F8 beside it, in one scale
    yield Point(namer.vat.classify, logits=True)
    for module in namer.pgd.modules():
        if _is_rounded(module):
            yield Point(module, output=False)


class Activations(nn.Module):
    """Rounds the activations of a NAMER wherever its int8 graphs do, for as long as it lives.

    In training mode, ranges follow what is seen: they grow at once and shrink slowly, and so come
    close to the extremes over a few hundred formulas, which is what calibration takes. In eval
    mode they stand still.
    """

    bounds: Tensor
    """[P, 2] lowest and highest value of each point."""

    def __init__(self, namer: Namer, forget: float = FORGET) -> None:
        super().__init__()
        self.points, self.forget = list(points(namer)), forget
        device = next(namer.parameters()).device
        self.register_buffer("bounds", torch.zeros(len(self.points), 2, device=device))
        for row, point in enumerate(self.points):
            if point.output:
                point.module.register_forward_hook(self._on_output(row))
            else:
                point.module.register_forward_pre_hook(self._on_input(row))

    def _on_output(self, row: int) -> Callable[[nn.Module, Any, Tensor], Tensor]:
        return lambda module, inputs, output: self._round(row, output)

    def _on_input(self, row: int) -> Callable[[nn.Module, Any], tuple[Any, ...]]:
        return lambda module, inputs: (self._round(row, inputs[0]), *inputs[1:])

    def _round(self, row: int, x: Tensor) -> Tensor:
        """`x` on 256 steps between the bounds; autocast must not coarsen the steps themselves."""
        wide = x.float()
        if self.training:
            self._observe(row, wide.detach())
        low, high = self.bounds[row].clone()
        return round_u8(wide, low, high).to(x.dtype)

    @torch.no_grad()
    def _observe(self, row: int, x: Tensor) -> None:
        largest = x.amax(1) if self.points[row].logits else x
        low, high = torch.aminmax(largest)
        if self.points[row].logits:
            low = low - NEGLIGIBLE
        now = torch.stack((low.clamp(max=0.0), high.clamp(min=0.0)))
        slow = torch.lerp(self.bounds[row], now, self.forget)
        self.bounds[row, 0] = torch.minimum(slow[0], now[0])
        self.bounds[row, 1] = torch.maximum(slow[1], now[1])


class QuantizationAware(nn.Module):
    """An `Objective` whose NAMER computes as its int8 export will; called like the objective.

    Batch normalization keeps the statistics of the checkpoint, as the exported graphs do.
    """

    def __init__(self, objective: Objective) -> None:
        super().__init__()
        self.objective = objective
        self.activations = Activations(objective.namer)

    def train(self, mode: bool = True) -> "QuantizationAware":
        super().train(mode)
        for module in self.objective.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.eval()
        return self

    def forward(self, *batch: Any) -> dict[str, Tensor]:
        """As `Objective.forward`."""
        weights = {
            f"namer.{name}": weight for name, weight in rounded(self.objective.namer).items()
        }
        losses: dict[str, Tensor] = functional_call(self.objective, weights, batch)
        return losses

    def imitate(self, namer: Namer) -> Namer:
        """`namer`, of the same architecture, turned in place into what its int8 export computes."""
        activations = Activations(namer).eval()
        activations.load_state_dict(self.activations.state_dict())
        with torch.no_grad():
            weights = dict(namer.named_parameters())
            for name, weight in rounded(namer).items():
                weights[name].copy_(weight)
        return namer


def rounded(namer: Namer) -> dict[str, Tensor]:
    """Name → the weight rounded to 7 bits, for every weight that is so in the int8 graphs."""
    return {
        f"{name}.weight": round_weight(module.weight)
        for name, module in namer.named_modules()
        if isinstance(module, nn.Conv2d | nn.Linear) and _is_rounded(module)
    }


def round_weight(weight: Tensor) -> Tensor:
    """`weight` [out, …] on 129 steps of each output channel, symmetric about 0."""
    scale = (weight.detach().flatten(1).abs().amax(1) / LARGEST_WEIGHT).clamp_min(SMALLEST)
    zero = torch.zeros_like(scale, dtype=torch.int32)
    return torch.fake_quantize_per_channel_affine(
        weight, scale, zero, 0, -LARGEST_WEIGHT, LARGEST_WEIGHT
    )


def round_u8(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """`x` on 256 steps from `low` ≤ 0 to `high` ≥ 0, of which one lies at 0; what is beyond them is
    cut off and has no gradient."""
    scale = ((high - low) / 255).clamp_min(SMALLEST)
    zero = (-low / scale).round().to(torch.int32)
    return torch.fake_quantize_per_tensor_affine(x, scale, zero, 0, 255)


def _is_rounded(module: nn.Module) -> bool:
    """Convolutions, and linear layers of more than one input: a node's score is but stretched."""
    return isinstance(module, nn.Conv2d) or (
        isinstance(module, nn.Linear) and module.in_features > 1
    )
