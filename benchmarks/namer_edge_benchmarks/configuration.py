"""One configuration of a model, and what was measured of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

STAGES = ("prepare", "encoder", "vat", "encoder + vat", "pgd", "path", "latex")
"""In their order. `encoder + vat` stands for both where one graph holds them and its engine cannot
run a part of it; `latex` is all that comes after the path: LaTeX, the vote of several passes."""


@dataclass(frozen=True)
class Configuration:
    """One configuration, measured in a process of its own."""

    data: str
    """A pack, or what holds pictures or InkML."""
    model: str | None = None
    """A packaged model, a model file, or a checkpoint (torch); None: the packaged default."""
    engine: str | None = None
    device: str | None = None
    threads: int = 1
    batch: int = 1
    limit: int | None = None
    """Formulas, spread evenly over the data."""
    warm_up: int = 5
    """Formulas read before the clock runs."""
    one_look: bool = False
    as_pictures: bool = False
    """Ink is drawn as PNG first."""
    only: tuple[str, ...] = ()
    """Formulas of these tokens (and braces) alone; none: of all."""
    loose: bool = False
    """Label and answer are normalized before they are compared, as those of peers are."""

    def __str__(self) -> str:
        device = f", {self.device}" if self.device else ""
        return (
            f"{self.model or 'packaged model'}, {self.engine or 'its own engine'}{device}, "
            f"threads {self.threads}, batch {self.batch}{', one pass' if self.one_look else ''}"
        )


@dataclass(frozen=True)
class Spread:
    """Milliseconds a formula."""

    mean: float
    median: float
    p95: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Raises `ValueError` for no values at all."""
        if not values:
            raise ValueError("nothing was measured")
        median, p95 = np.percentile(values, (50, 95))
        return cls(*(round(float(x), 4) for x in (np.mean(values), median, p95)))


@dataclass(frozen=True)
class Accuracy:
    """Rates over the timed formulas; a failed one counts as wrong."""

    exprate: float
    exprate_le1: float
    exprate_le2: float
    total: int
    protocol: str


@dataclass(frozen=True)
class Measured:
    """Figures that one process measured."""

    name: str
    precision: str
    engine: str
    device: str
    """Name, precision, engine and device as they ran."""
    load: float
    """Milliseconds of opening the model, in a process that has imported the package."""
    first: float
    """Milliseconds of the first reading."""
    stages: Mapping[str, Spread]
    """Milliseconds of each of the `STAGES` that could be separated."""
    whole: Spread
    """Wall clock; in a batch, its time shared out evenly."""
    fps: float
    """Formulas a second of wall clock, failed ones not counted."""
    processor_time: float
    """Milliseconds a formula, over all threads."""
    peak_memory: float | None
    """MB: highest resident memory of the process, Python and the pictures included."""
    gpu_memory: float | None
    """MB: highest that PyTorch had allocated; None where it did not run on CUDA."""
    joules: float | None
    """A formula, of the whole processor; None where the system does not tell."""
    file_bytes: int
    parameters: Mapping[str, int] | None
    """Parameters of encoder, vat and pgd; None without PyTorch, which counts them."""
    flops: Mapping[str, int] | None
    """2 x multiply-adds of the same at `size`, one pass."""
    size: tuple[int, int, int] | None
    """Height, width and nodes of the look with the median number of pixels."""
    formulas: int
    failed: Mapping[str, str] = field(default_factory=dict)
    """Inputs that were not read, by name, with the reason; they are in no time above."""
    accuracy: Accuracy | None = None
    """Rates; None where no input had a label."""


@dataclass(frozen=True)
class Row:
    """A configuration with its figures, or why there are none."""

    trial: Configuration
    measured: Measured | None = None
    error: str = ""

    @property
    def called(self) -> str:
        """The configuration in words."""
        m, looks = self.measured, ", one pass" if self.trial.one_look else ""
        return f"{m.name} {m.precision}{looks}" if m else str(self.trial)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Row":
        """Raises `TypeError` for keys that this version does not know."""
        found = value["measured"]
        if found is None:
            return cls(Configuration(**value["trial"]), None, value["error"])
        accuracy = found["accuracy"]
        measured = Measured(
            **{
                **found,
                "stages": {name: Spread(**spread) for name, spread in found["stages"].items()},
                "whole": Spread(**found["whole"]),
                "size": tuple(found["size"]) if found["size"] else None,
                "accuracy": Accuracy(**accuracy) if accuracy else None,
            }
        )
        return cls(Configuration(**value["trial"]), measured, value["error"])
