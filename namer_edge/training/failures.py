"""What can go wrong in a step of training, and what to do about it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from namer_edge_runtime.errors import TrainingError

NAMED = 8
"""Formulas of a batch that are named."""


@dataclass(frozen=True)
class StepContext:
    """A step of a run."""

    epoch: int
    batch: int
    batches: int
    names: Sequence[str]
    """Of this process's formulas."""
    state: Path
    """Where the run's last state is, if it has one."""

    def __str__(self) -> str:
        more = f" and {len(self.names) - NAMED} more" if len(self.names) > NAMED else ""
        formulas = ", ".join(self.names[:NAMED]) + more
        return f"epoch {self.epoch}, batch {self.batch} of {self.batches} ({formulas})"

    @property
    def way_back(self) -> str:
        if not self.state.exists():
            return "nothing was saved yet: begin again"
        return f"{self.state} holds the last good state: go on with --resume"


def check_finite(where: StepContext, losses: Mapping[str, float], norm: float) -> None:
    """Raises `TrainingError` where a loss, or the gradients' norm, is no number: the step must not
    be taken, for the weights would never recover."""
    wrong = {name: loss for name, loss in losses.items() if not math.isfinite(loss)}
    if not math.isfinite(norm):
        wrong["norm of the gradients"] = norm
    if wrong:
        told = ", ".join(f"{name} {value}" for name, value in wrong.items())
        raise TrainingError(
            f"{told} in {where}: training stopped before the weights took it. {where.way_back}, "
            "with a lower learning_rate, clip=1 or precision=fp32; if it is always this batch, "
            "look at its formulas with `namer-edge data show`"
        )


@contextmanager
def memory_watched(
    where: StepContext, samples: int, accumulate: int, others: int
) -> Iterator[None]:
    """Turns running out of memory in a pass over `samples` pictures into a `TrainingError` that
    says which batch size to try; `others` is by how many the batch is more than that."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not _is_memory(error):
            raise
        advice = "lower symbol_height: one picture alone is too large"
        if samples > 1:
            advice = (
                f"try batch_size={samples // 2 * others}, or keep the batch and take it in smaller "
                f"parts: accumulate={2 * accumulate}"
            )
        raise TrainingError(
            f"out of memory in {where}, with {samples} pictures at once: {advice}. {where.way_back}"
        ) from error


def _is_memory(error: RuntimeError) -> bool:
    """On a CPU torch has no class of its own for it."""
    return isinstance(error, torch.OutOfMemoryError) or "DefaultCPUAllocator" in str(error)
