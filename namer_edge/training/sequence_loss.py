"""The training loss of autoregressive models over one batch."""

import torch
from torch import Tensor

from ..autoregressive.model import AutoregressiveModel
from ..data.batches import Batch, LabelPath
from .objective import TrainingObjective


class SequenceObjective(TrainingObjective):
    """An autoregressive model under teacher forcing."""

    def __init__(self, model: AutoregressiveModel, smoothing: float = 0.0) -> None:
        super().__init__()
        self.model, self.smoothing = model, smoothing

    def forward(self, batch: Batch, seed: tuple[int, ...]) -> dict[str, Tensor]:
        """Scalars, `loss` first; see `AutoregressiveModel.losses`. `seed` is not used."""
        model = self.model
        images = batch.images.to(model.device).float() / 255.0
        mask = None if batch.mask is None else batch.mask.to(model.device)
        features = model.encode(images.contiguous(memory_format=torch.channels_last), mask)
        labels = [self._numbers(label) for label in batch.labels]
        return model.losses(model.prepare(features), labels, self.smoothing)

    def _numbers(self, label: LabelPath) -> list[int]:
        """The alphabet's numbers of the canonical tokens of a path."""
        return self.model.alphabet.numbers(label.tokens(self.model.vocabulary))
