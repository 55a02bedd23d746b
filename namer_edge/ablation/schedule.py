"""Estimated minutes of the runs of a table, on a GPU and on this CPU."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..data.pack import load_pack
from ..training.building import build, cost_of
from ..training.config import TrainConfig
from .runs import Run

GPU_FLOPS = 0.2 * 67e12
"""A fifth of what an H200 can in fp32: an assumption."""
HOST_SECONDS = 0.5e-3
"""Matching and targets of a sample in the training process, which a GPU waits for."""
CROHME_FORMULAS = 8836
"""Of the training set, where its pack is not here."""

HEADING = (
    "GPU: a fifth of an H200's 67 TFLOPS in fp32, and at least 0.5 ms a sample on the host; CPU: "
    "the encoder timed here, the rest by its FLOPs. Estimates; validation comes on top."
)


@dataclass(frozen=True)
class Estimate:
    """Minutes that a run still takes."""

    run: Run
    epochs: int
    samples: int
    gpu_minutes: float
    cpu_minutes: float
    same_as: str = ""
    """A run before that this one is."""

    def text(self) -> str:
        if self.same_as:
            return f"{self.run.name}: the run of {self.same_as}"
        return (
            f"{self.run.name}: {self.epochs} of {self.run.config.epochs} epochs to go, "
            f"{self.samples:,} samples, GPU {self.gpu_minutes:,.0f} min, "
            f"this CPU {self.cpu_minutes:,.0f} min"
        )


def estimates(runs: Iterable[Run]) -> Iterator[Estimate]:
    """The estimate of each run, after those of its teacher where that is not trained yet; costs are
    measured once for each architecture. A run of several rows is counted with the first."""
    seconds: dict[object, tuple[float, float]] = {}
    known: dict[Path, str] = {}
    for run in runs:
        teacher = run.teacher
        for one in (run,) if teacher is None else (teacher, run):
            if one.folder in known:
                if one is run:
                    yield Estimate(run, 0, 0, 0.0, 0.0, known[one.folder])
                continue
            known[one.folder] = one.name
            config = one.config
            kind = (config.model, config.architecture, config.decoder, config.preprocessing)
            if kind not in seconds:
                seconds[kind] = seconds_of_a_sample(config)
            gpu, cpu = (second / 60 for second in seconds[kind])
            epochs = max(0, config.epochs - one.epochs_done)
            samples = epochs * _formulas(config)
            yield Estimate(one, epochs, samples, samples * gpu, samples * cpu)


def seconds_of_a_sample(config: TrainConfig) -> tuple[float, float]:
    """On a GPU (estimated), and on this CPU: the encoder's forward and backward pass for a typical
    formula, times the share of all FLOPs that are the encoder's."""
    cost = cost_of(config)
    total = sum(cost.flops.values())
    encoder = build(config, Vocabulary.load(config.vocabulary)).encoder.train()
    image = torch.zeros(1, config.preprocessing.inputs, cost.height, cost.width)
    spent = []
    for _ in range(2):  # the first one warms up
        start = time.perf_counter()
        f8, f16 = encoder(image)
        (f8.mean() + f16.mean()).backward()
        spent.append(time.perf_counter() - start)
    return max(3 * total / GPU_FLOPS, HOST_SECONDS), min(spent) * total / cost.flops["encoder"]


def _formulas(config: TrainConfig) -> int:
    """Samples of an epoch."""
    if not config.train:
        return config.samples
    here = [Path(path).exists() for path in config.train]
    if not all(here):
        return CROHME_FORMULAS
    return sum(len(load_pack(path).formulas) for path in config.train)
