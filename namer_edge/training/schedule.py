"""Progress of a run, and the learning rate at it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .config import TrainConfig


@dataclass
class Progress:
    """How far a run is; `batch` counts the batches of each process within the epoch."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    samples_seen: int = 0
    best: float = -1.0

    def redivided(self, old: Mapping[str, Any], config: TrainConfig) -> "Progress":
        """The same progress if `config` divides batches otherwise than the `old` configuration: as
        many samples within the epoch, rounded down to whole updates."""
        old_size = old["batch_size"] / old.get("accumulate", 1)
        if old_size == config.batch_size / config.accumulate:
            return self
        updates = int(self.batch * old_size / config.batch_size)
        return replace(self, batch=updates * config.accumulate)


def rate(config: TrainConfig, epochs_done: float) -> float:
    """Learning rate: linear warm-up, then cosine decay ("Implementation Details")."""
    if epochs_done < config.warmup_epochs:
        return config.learning_rate * epochs_done / config.warmup_epochs
    share = (epochs_done - config.warmup_epochs) / max(config.epochs - config.warmup_epochs, 1e-9)
    low = config.final_learning_rate
    return low + (config.learning_rate - low) * (1 + math.cos(math.pi * min(share, 1.0))) / 2
