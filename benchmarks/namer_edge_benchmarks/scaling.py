"""How time grows: with the tokens of a formula, the size of its picture, the nodes of its graph.

The networks have random weights and the pictures nothing on them: what they compute, and how much
of it, is the same. Formulas are `x + x + …`, which every decoder writes whole (`DecoderTiming`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from namer_edge_runtime.decode import warm_up

from .baselines import BASELINES, Baselines
from .decoder_timing import DecoderTiming, Picture, SearchSetting
from .path_time import path_time
from .report import table

LENGTHS = (5, 11, 21, 41, 81)
"""Tokens, on a picture of `PICTURE`."""
PICTURE = (96, 512)
"""Height and width in pixels, as are `PICTURES`."""
PICTURES = ((48, 128), (64, 256), (96, 384), (128, 512), (160, 768))
LENGTH = 21
NODES = (10, 30, 60, 120, 240)


@dataclass(frozen=True)
class Curve:
    """Milliseconds at each place of an axis."""

    name: str
    axis: tuple[float, ...]
    milliseconds: tuple[float, ...]

    @property
    def growth(self) -> float:
        """The last time, in times of the first."""
        return self.milliseconds[-1] / self.milliseconds[0]


@dataclass(frozen=True)
class Chart:
    """Curves over one axis."""

    title: str
    axis: str
    curves: tuple[Curve, ...]


def scaling(
    baselines: Baselines,
    lengths: Sequence[int] = LENGTHS,
    sizes: Sequence[tuple[int, int]] = PICTURES,
    nodes: Sequence[int] = NODES,
    rounds: int = 3,
) -> list[Chart]:
    """Measures on the CPU; each point is the median of `rounds`, in which all points take turns."""
    baselines.to("cpu")
    warm_up()
    formulas = [_picture(length, PICTURE) for length in lengths]
    pictures = [_picture(LENGTH, size) for size in sizes]
    endings = baselines.namer.vocabulary.endings
    microseconds = [path_time(endings, count) for count in nodes]
    path = Curve("path selection", tuple(nodes), tuple(1e-3 * x for x in microseconds))
    return [
        Chart(
            "Decoding against tokens, {} x {} pixels".format(*PICTURE),
            "tokens",
            _curves(baselines, formulas, lengths, rounds, encoder=False),
        ),
        Chart(
            f"Encoder and decoders against picture size, {LENGTH} tokens",
            "kilopixels",
            _curves(baselines, pictures, [h * w / 1000 for h, w in sizes], rounds, encoder=True),
        ),
        Chart("Path selection against nodes", "nodes", (path,)),
    ]


def chart_page(charts: Sequence[Chart]) -> str:
    """The charts as Markdown tables."""
    parts = []
    for chart in charts:
        places = [f"{place:g} {chart.axis}" for place in chart.curves[0].axis]
        rows = [[c.name, *c.milliseconds, f"{c.growth:.1f} x"] for c in chart.curves]
        parts.append(f"### {chart.title}\n\n{table(['ms', *places, 'last / first'], rows)}")
    return "\n\n".join(parts)


def _picture(length: int, size: tuple[int, int]) -> Picture:
    label = tuple("x" if place % 2 == 0 else "+" for place in range(length))
    return Picture(f"{length} tokens", torch.zeros(1, 1, *size, dtype=torch.uint8), label)


def _curves(
    baselines: Baselines,
    pictures: Sequence[Picture],
    axis: Sequence[float],
    rounds: int,
    encoder: bool,
) -> tuple[Curve, ...]:
    ways = [SearchSetting(baseline, 1, True) for baseline in baselines.decoders]
    races = [DecoderTiming(baselines, ways, "cpu") for _ in pictures]
    for turn in range(rounds + 1):
        for race, picture in zip(races, pictures, strict=True):
            race.run(picture)
            if turn == 0:  # warm-up
                race.clear()
    names = ["NAMER", *(f"{BASELINES[way.baseline.name]}, {way}" for way in ways)]
    found = [
        Curve(name, tuple(axis), tuple(float(np.median(r.lines[n].decoder)) for r in races))
        for n, name in enumerate(names)
    ]
    if encoder:
        found.insert(0, Curve("encoder", tuple(axis), tuple(_median(r.encoder) for r in races)))
    return tuple(found)


def _median(values: Sequence[float]) -> float:
    return float(np.median(values))
