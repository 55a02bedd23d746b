"""Engines for ablations at inference time: without self-correction, and with a cache."""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.engine.base import Engine, PgdInputs, PgdOutput, VatOutput


@dataclass
class _Wrapper:
    """Wraps an engine under its own name, device and precision."""

    engine: Engine

    @property
    def name(self) -> str:
        return self.engine.name

    @property
    def device(self) -> str:
        return self.engine.device

    @property
    def precision(self) -> str:
        return self.engine.precision


@dataclass
class Remembering(_Wrapper):
    """Caches outputs by input, so that rows that differ only in path selection run no network.

    Its `features` are keys that only this engine understands.
    """

    _seen: dict[str, VatOutput] = field(default_factory=dict)
    _decoded: dict[str, PgdOutput] = field(default_factory=dict)
    _features: tuple[str, Any, Any] = ("", None, None)
    """Features of the last batch; all of them would need too much memory."""

    def vat(self, images: NDArray[np.uint8]) -> VatOutput:
        key = hashlib.sha256(str(images.shape).encode() + images.tobytes()).hexdigest()
        if key not in self._seen:
            output = self.engine.vat(images)
            self._features = (key, output.features, output.memory)
            # Key and pictures, from which the features can be recomputed.
            self._seen[key] = replace(output, features=key, memory=images)
        return self._seen[key]

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        nodes = (inputs.cells, inputs.classes, inputs.endings, inputs.scores, inputs.mask)
        key = hashlib.sha256(inputs.features.encode() + b"".join(a.tobytes() for a in nodes))
        digest = key.hexdigest()
        if digest not in self._decoded:
            if self._features[0] != inputs.features:
                again = self.engine.vat(inputs.memory)
                self._features = (inputs.features, again.features, again.memory)
            _, features, memory = self._features
            real = replace(inputs, features=features, memory=memory)
            self._decoded[digest] = self.engine.pgd(real)
        return self._decoded[digest]


@dataclass
class Uncorrected(_Wrapper):
    """An engine without self-correction: every node keeps VAT's class, none is deleted (table 6,
    rows without SCH)."""

    def vat(self, images: NDArray[np.uint8]) -> VatOutput:
        return self.engine.vat(images)

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        output = self.engine.pgd(inputs)
        kept = np.zeros_like(output.correction)
        # <sos> and <eos> are no outputs of the head; their rows are not used.
        classes = np.minimum(inputs.classes, kept.shape[2] - 1)
        np.put_along_axis(kept, classes[..., None], 1.0, axis=2)
        return PgdOutput(kept, output.left, output.right)
