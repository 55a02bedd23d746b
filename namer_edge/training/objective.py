"""What the training loop asks of a model with its loss."""

from collections.abc import Mapping

from torch import Tensor, nn

from ..autoregressive.model import AutoregressiveModel
from ..model.namer import Namer

Model = Namer | AutoregressiveModel
"""What can be trained."""


class TrainingObjective(nn.Module):
    """A model with its training loss: (batch, seed) → losses, `loss` first; one module, so that
    DDP can wrap it."""

    def extra_state(self) -> dict[str, dict[str, Tensor]]:
        """Groups of tensors that a resumed run needs besides weights and optimizer state."""
        return {}

    def load_extra_state(self, groups: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Restores what `extra_state` returned from the groups of a state file."""

    def for_validation(self, model: Model) -> Model:
        """`model`, of the same architecture, turned in place into the one to be validated."""
        return model
