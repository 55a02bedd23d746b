"""Cost of a model: parameters, and FLOPs counted by PyTorch."""

from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode

from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.preprocessing import Preprocessing

from .namer import Architecture, Namer

PAPER = 11.39
"""G, table 3 of the paper, which names neither unit nor size; multiply-adds fit, FLOPs do not."""


def typical_size(preprocessing: Preprocessing) -> tuple[int, int]:
    """Height and width of a typical CROHME formula, 96 × 256 where symbols have 20 pixels."""
    scale = preprocessing.symbol_height / 20
    return 16 * round(6 * scale), 16 * round(16 * scale)


@dataclass(frozen=True)
class Cost:
    """Cost for one picture of `height` × `width` pixels with `nodes` nodes (autoregressive models:
    tokens); FLOPs are 2 × multiply-adds."""

    height: int
    width: int
    nodes: int
    parameters: dict[str, int]
    """Parts are `encoder`, `vat`, `pgd`, or `encoder`, `decoder` of an autoregressive model."""
    flops: dict[str, int]
    unit: str = "nodes"

    def lines(self) -> list[str]:
        """A table as text."""
        rows = [
            (part, self.parameters[part] / 1e6, self.flops[part] / 1e9) for part in self.parameters
        ]
        rows.append(("total", sum(row[1] for row in rows), sum(row[2] for row in rows)))
        return [
            f"{self.height} x {self.width} pixels, {self.nodes} {self.unit}, "
            "FLOPs = 2 x multiply-adds",
            *(f"{name:8} {m:7.2f} M parameters {g:7.2f} GFLOPs" for name, m, g in rows),
            f"{rows[-1][2] / 2:.2f} G multiply-adds (the paper's table 3: {PAPER} G)",
        ]


def measure(
    architecture: Architecture,
    vocabulary: Vocabulary,
    height: int = 96,
    width: int = 256,
    nodes: int = 40,
) -> Cost:
    """Builds and runs the model once; defaults are a typical CROHME formula at 20 pixels."""
    namer = Namer(architecture, vocabulary).eval()
    parts = {"encoder": namer.encoder, "vat": namer.vat, "pgd": namer.pgd}
    parameters = {name: sum(p.numel() for p in part.parameters()) for name, part in parts.items()}
    flops = {}
    with torch.inference_mode():
        image = torch.zeros(1, architecture.channels, height, width)
        with FlopCounterMode(display=False) as counter:
            f8, f16 = namer.encoder(image)
        flops["encoder"] = counter.get_total_flops()
        with FlopCounterMode(display=False) as counter:
            features, _ = namer.vat(f8, f16)
        flops["vat"] = counter.get_total_flops()
        zeros = torch.zeros(1, nodes, dtype=torch.int64)
        cells = torch.zeros(1, nodes, 2, dtype=torch.int64)
        with FlopCounterMode(display=False) as counter:
            namer.pgd(features, f16, cells, zeros, zeros, zeros.float(), torch.ones(1, nodes))
        flops["pgd"] = counter.get_total_flops()
    return Cost(height, width, nodes, parameters, flops)
