"""Failures of a training step, and errors that say what to do about them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from namer_edge_runtime.errors import TrainingError

NAMED = 8
"""Most formulas of a batch that an error names."""


@dataclass(frozen=True)
class StepContext:
    """Where in a run a step is."""

    epoch: int
    batch: int
    batches: int
    names: Sequence[str]
    """Names of the formulas in this process's batches."""
    state: Path
    """Path of the run's last state, which may not exist yet."""

    def __str__(self) -> str:
        more = f" and {len(self.names) - NAMED} more" if len(self.names) > NAMED else ""
        formulas = ", ".join(self.names[:NAMED]) + more
        return f"epoch {self.epoch}, batch {self.batch} of {self.batches} ({formulas})"

    @property
    def recovery(self) -> str:
        """How to continue, as a sentence for people."""
        if not self.state.exists():
            return "nothing was saved yet: begin again"
        return f"{self.state} holds the last good state: go on with --resume"


def check_finite(context: StepContext, losses: Mapping[str, float], norm: float) -> None:
    """Raises `TrainingError` if a loss or the gradients' norm is not finite: weights never recover
    from such an update."""
    wrong = {name: loss for name, loss in losses.items() if not math.isfinite(loss)}
    if not math.isfinite(norm):
        wrong["norm of the gradients"] = norm
    if wrong:
        values = ", ".join(f"{name} {value}" for name, value in wrong.items())
        raise TrainingError(
            f"{values} in {context}: training stopped before the weights took it. "
            f"{context.recovery}, "
            "with a lower learning_rate, clip=1 or precision=fp32; if it is always this batch, "
            "look at its formulas with `namer-edge data show`"
        )


@contextmanager
def explain_out_of_memory(
    context: StepContext, samples: int, accumulate: int, processes: int
) -> Iterator[None]:
    """Turns running out of memory in a micro-batch of `samples` pictures into a `TrainingError`
    that says which settings to try."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not _is_memory(error):
            raise
        advice = "lower symbol_height: one picture alone is too large"
        if samples > 1:
            size = samples // 2 * accumulate * processes
            advice = (
                f"try batch_size={size}, or keep the batch and take it in smaller parts: "
                f"accumulate={2 * accumulate}"
            )
        raise TrainingError(
            f"out of memory in {context}, with {samples} pictures at once: {advice}. "
            f"{context.recovery}"
        ) from error


def _is_memory(error: RuntimeError) -> bool:
    """Whether memory ran out; for the CPU torch has no error class of its own."""
    return isinstance(error, torch.OutOfMemoryError) or "DefaultCPUAllocator" in str(error)
