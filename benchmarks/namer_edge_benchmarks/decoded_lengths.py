"""How long the formulas of a trained decoder are, where it is trained on another encoder.

Weights on other features than those raced on cannot race, but what they write, and where they stop,
is real: as many tokens can be asked of random weights of the right size.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from namer_edge.autoregressive.beam_search import read
from namer_edge.autoregressive.model import AutoregressiveModel
from namer_edge.checkpoints.weights import load_model
from namer_edge_runtime.errors import UsageError
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.preprocessing import Preprocessing


@dataclass(frozen=True)
class Lengths:
    """A trained recognizer on pictures of its own look."""

    model: AutoregressiveModel
    preprocessing: Preprocessing

    @property
    def encoder(self) -> str:
        """The name of the encoder that it was trained with."""
        return self.model.architecture.encoder

    @torch.inference_mode()
    def steps(self, value: Any, beam: int) -> int:
        """Tokens written of an input, the closing one not counted; raises as `prepare_input`."""
        prepared = prepare_input(value, self.preprocessing)
        image = torch.from_numpy(np.stack([prepared.planes(self.preprocessing.inputs)]))
        features = self.model.encode(image.float() / 255.0)
        longest = self.model.longest
        return len(read(self.model, features, beam, longest)[0].tokens)


def load_lengths(weights: Mapping[str, Path]) -> dict[str, Lengths]:
    """By the names of the recognizers. Raises `CheckpointError` for what are no weights, and
    `UsageError` for those of another recognizer."""
    found = {}
    for name, path in weights.items():
        model, preprocessing, _ = load_model(path)
        if not isinstance(model, AutoregressiveModel) or model.architecture.model != name:
            kind = getattr(model.architecture, "model", "namer")
            raise UsageError(f"the weights given for {name} are those of a {kind}")
        found[name] = Lengths(model.eval(), preprocessing)
    return found
