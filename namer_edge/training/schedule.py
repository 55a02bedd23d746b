"""Where a run is, and the learning rate there."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .config import TrainConfig


@dataclass
class Progress:
    """Where a run is; `batch` counts the batches of each process within the epoch."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    samples_seen: int = 0
    best: float = -1.0

    def dealt_anew(self, before: Mapping[str, Any], config: TrainConfig) -> "Progress":
        """The same place where `config` divides the samples otherwise than the configuration of
        `before` did: as many samples on within the epoch, in whole updates."""
        then = before["batch_size"] / before.get("accumulate", 1)
        if then == config.batch_size / config.accumulate:
            return self
        updates = int(self.batch * then / config.batch_size)
        return replace(self, batch=updates * config.accumulate)


def rate(config: TrainConfig, epochs_done: float) -> float:
    """Learning rate: linear warm-up, then a cosine to the final rate ("Implementation Details")."""
    if epochs_done < config.warmup_epochs:
        return config.learning_rate * epochs_done / config.warmup_epochs
    share = (epochs_done - config.warmup_epochs) / max(config.epochs - config.warmup_epochs, 1e-9)
    low = config.final_learning_rate
    return low + (config.learning_rate - low) * (1 + math.cos(math.pi * min(share, 1.0))) / 2
