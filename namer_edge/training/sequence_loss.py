"""The training loss of autoregressive recognizers, over one batch."""

import torch
from torch import Tensor, nn

from ..autoregressive.model import AutoregressiveModel
from ..data.batches import Batch, LabelPath


class SequenceObjective(nn.Module):
    """A recognizer under teacher forcing: batch → losses; one module, so that DDP can wrap it."""

    def __init__(self, model: AutoregressiveModel, smoothing: float = 0.0) -> None:
        super().__init__()
        self.model, self.smoothing = model, smoothing

    def forward(self, batch: Batch, seed: tuple[int, ...]) -> dict[str, Tensor]:
        """Scalars, `loss` first; see `AutoregressiveModel.losses`. Nothing is drawn by `seed`."""
        model = self.model
        images = batch.images.to(model.device).float() / 255.0
        mask = None if batch.mask is None else batch.mask.to(model.device)
        features = model.encode(images.contiguous(memory_format=torch.channels_last), mask)
        labels = [self._numbers(label) for label in batch.labels]
        return model.losses(model.prepare(features), labels, self.smoothing)

    def _numbers(self, label: LabelPath) -> list[int]:
        """The canonical tokens of a path through the nodes."""
        return self.model.alphabet.numbers(label.tokens(self.model.vocabulary))
