"""Quantization-aware fine-tuning (QAT): training with the rounding of the int8 export.

Weights are rounded to 7 bits per output channel, activations to U8 per tensor at the points where
the int8 graphs round them (`namer_edge_export.quantization.onnx_qdq`); gradients pass straight
through. `Namer` is unchanged: hooks round activations, the forward pass is given rounded weights,
and the checkpoint holds unrounded ones.

Export folds batch normalization into the weights before rounding, which gives the same result:
folding multiplies a channel and the step of its scale by the same number. Biases, 32 bits in int8
graphs, are not rounded.
"""

from collections.abc import Callable, Iterator, Mapping
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
from .objective import Model, TrainingObjective

NEGLIGIBLE = 9.0
"""Least distance of a logit to its cell's largest one at which it is negligible: all such classes
together have under 2 % there, and nearly always far less."""
FORGET = 0.02
"""Share of its distance to the present batch's range by which a range shrinks per step."""
LARGEST_WEIGHT = 64
"""Largest magnitude of a weight in steps of its channel's scale: 7 bits, as in the export."""
SMALLEST = torch.finfo(torch.float32).tiny
"""Step of a tensor that is 0 throughout."""


@dataclass(frozen=True)
class Point:
    """A place where int8 graphs round activations."""

    module: nn.Module
    output: bool = True
    """Whether the module's output is rounded, or its input."""
    logits: bool = False
    """Whether these are VAT's logits, whose range ends where probabilities become negligible."""


def points(namer: Namer) -> Iterator[Point]:
    """All activations of encoder and VAT between picture and softmax, and the inputs of PGD's
    linear layers."""
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
    """Hooks that round the activations of a NAMER wherever its int8 graphs do.

    In training mode, ranges track the activations: they grow at once and shrink slowly, which
    approximates calibration, the extremes over a few hundred formulas. In eval mode they are fixed.
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
        """Rounds `x` to 256 steps between the bounds, in fp32 even under autocast."""
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


class QuantizationAware(TrainingObjective):
    """An `Objective` whose NAMER computes as its int8 export will.

    Batch normalization keeps the checkpoint's statistics, as the exported graphs do.
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

    def extra_state(self) -> dict[str, dict[str, Tensor]]:
        """The ranges of activations."""
        return {"ranges": self.activations.state_dict()}

    def load_extra_state(self, groups: Mapping[str, Mapping[str, Tensor]]) -> None:
        if "ranges" in groups:
            self.activations.load_state_dict(groups["ranges"])

    def for_validation(self, model: Model) -> Namer:
        """`model` computing what its int8 export computes."""
        assert isinstance(model, Namer)
        activations = Activations(model).eval()
        activations.load_state_dict(self.activations.state_dict())
        with torch.no_grad():
            weights = dict(model.named_parameters())
            for name, weight in rounded(model).items():
                weights[name].copy_(weight)
        return model


def rounded(namer: Namer) -> dict[str, Tensor]:
    """Name → rounded weight, for every weight that the int8 graphs hold in 8 bits."""
    return {
        f"{name}.weight": round_weight(module.weight)
        for name, module in namer.named_modules()
        if isinstance(module, nn.Conv2d | nn.Linear) and _is_rounded(module)
    }


def round_weight(weight: Tensor) -> Tensor:
    """Rounds `weight` [out, …] to 129 steps per output channel, symmetric about 0."""
    scale = (weight.detach().flatten(1).abs().amax(1) / LARGEST_WEIGHT).clamp_min(SMALLEST)
    zero = torch.zeros_like(scale, dtype=torch.int32)
    return torch.fake_quantize_per_channel_affine(
        weight, scale, zero, 0, -LARGEST_WEIGHT, LARGEST_WEIGHT
    )


def round_u8(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Rounds `x` to 256 steps from `low` ≤ 0 to `high` ≥ 0, one of them 0; values outside are
    clipped and have no gradient."""
    scale = ((high - low) / 255).clamp_min(SMALLEST)
    zero = (-low / scale).round().to(torch.int32)
    return torch.fake_quantize_per_tensor_affine(x, scale, zero, 0, 255)


def _is_rounded(module: nn.Module) -> bool:
    """Whether it is a convolution or a linear layer of several inputs; PGD's layer for the score of
    a node has one."""
    return isinstance(module, nn.Conv2d) or (
        isinstance(module, nn.Linear) and module.in_features > 1
    )
