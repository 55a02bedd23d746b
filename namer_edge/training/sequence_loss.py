"""The training loss of autoregressive recognisers, over one batch."""

import torch
from torch import Tensor, nn

from ..autoregressive.model import Recogniser
from ..data.batches import Batch, LabelPath


class SequenceObjective(nn.Module):
    """A recogniser under teacher forcing: batch → losses; one module, so that DDP can wrap it."""

    def __init__(self, recogniser: Recogniser, smoothing: float = 0.0) -> None:
        super().__init__()
        self.recogniser, self.smoothing = recogniser, smoothing

    def forward(self, batch: Batch, seed: tuple[int, ...]) -> dict[str, Tensor]:
        """Scalars, `loss` first; see `Recogniser.losses`. Nothing is drawn by `seed`."""
        recogniser = self.recogniser
        images = batch.images.to(recogniser.device).float() / 255.0
        mask = None if batch.mask is None else batch.mask.to(recogniser.device)
        features = recogniser.encode(images.contiguous(memory_format=torch.channels_last), mask)
        labels = [self._numbers(label) for label in batch.labels]
        return recogniser.losses(recogniser.prepare(features), labels, self.smoothing)

    def _numbers(self, label: LabelPath) -> list[int]:
        """The canonical tokens of a path through the nodes."""
        return self.recogniser.alphabet.numbers(label.tokens(self.recogniser.vocabulary))
