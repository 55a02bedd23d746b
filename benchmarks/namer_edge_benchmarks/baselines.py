"""The models that table 3 compares: NAMER and three autoregressive decoders."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from namer_edge.autoregressive.model import AutoregressiveModel, DecoderOutput, State
from namer_edge.autoregressive.registry import build_autoregressive
from namer_edge.checkpoints.decoding import decoding_of
from namer_edge.checkpoints.weights import load_model
from namer_edge.model.namer import Namer
from namer_edge.training.config import load_config
from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.errors import UsageError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.preprocessing import Preprocessing

from .decoded_lengths import Lengths, load_lengths

NAMER = "namer"
BASELINES = {"dwap": "DWAP", "tree-decoder": "TreeDecoder", "comer": "CoMER"}
"""Names in `namer_edge.autoregressive` → names in the paper's table."""


class Forced:
    """A recognizer that goes on until it is cut off: without trained weights it does not know where
    a formula ends."""

    def __init__(self, model: AutoregressiveModel) -> None:
        self.model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def step(self, context: Any, state: State, tokens: Tensor) -> DecoderOutput:
        written = self.model.step(context, state, tokens)
        logits = written.logits.clone()
        logits[..., list(self.model.ends(False))] = -torch.inf
        return replace(written, logits=logits)


@dataclass(frozen=True)
class Baseline:
    """An autoregressive recognizer; without training its weights are random."""

    name: str
    model: AutoregressiveModel
    trained: bool
    lengths: Lengths | None = None
    """Says how many tokens are written where the weights are random."""

    @property
    def reader(self) -> AutoregressiveModel:
        """What the search is to ask."""
        return self.model if self.trained else cast(AutoregressiveModel, Forced(self.model))


@dataclass(frozen=True)
class Baselines:
    """All models of table 3, on pictures of one preprocessing."""

    namer: Namer
    namer_trained: bool
    decoding: DecodingOptions
    decoders: tuple[Baseline, ...]
    preprocessing: Preprocessing

    def to(self, device: str) -> "Baselines":
        """Onto a device, in eval mode; raises `UsageError` for one that is not there."""
        try:
            for module in (self.namer, *(b.model for b in self.decoders)):
                module.eval().to(device)
        except (RuntimeError, AssertionError) as error:
            raise UsageError(f"torch cannot use device {device!r} ({error})") from None
        return self


def baselines(
    weights: Mapping[str, Path],
    vocabulary: Vocabulary | None = None,
    lengths: Mapping[str, Path] | None = None,
) -> Baselines:
    """The paper's four on its DenseNet; random weights (one seed) where none are given by name.

    `lengths`: weights of decoders on any encoder, for the lengths that they write (`Lengths`).
    Raises `UsageError` for unknown names, and for weights that would not compare like with like: of
    another kind, on another encoder, for other preprocessing; `CheckpointError` for other files.
    """
    for given, known in ((weights, (NAMER, *BASELINES)), (lengths or {}, tuple(BASELINES))):
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise UsageError(f"no entrant {unknown[0]!r}: there are {', '.join(known)}")
    both = sorted(set(weights) & set(lengths or {}))
    if both:
        raise UsageError(f"{both[0]} is trained on these features and stops by itself: no lengths")
    known_lengths = load_lengths(lengths or {})
    config = load_config("paper-crohme")
    vocabulary = vocabulary or Vocabulary.load(config.vocabulary)
    prepared: dict[str, Preprocessing] = {}
    decoding = decoding_of({})
    torch.manual_seed(0)
    namer, decoders = Namer(config.architecture, vocabulary), []
    if NAMER in weights:
        loaded, prepared[NAMER], record = load_model(weights[NAMER])
        namer = cast(Namer, _checked(NAMER, loaded))
        decoding = decoding_of(record.get("config", {}))
    for name in BASELINES:
        if name in weights:
            loaded, prepared[name], _ = load_model(weights[name])
            model = cast(AutoregressiveModel, _checked(name, loaded))
        else:
            architecture = load_config("paper-dwap", [f"model={name}"]).decoder
            model = build_autoregressive(architecture, vocabulary)
        decoders.append(Baseline(name, model, name in weights, known_lengths.get(name)))
    if len({str(preprocessing) for preprocessing in prepared.values()}) > 1:
        raise UsageError(
            f"the weights of {' and '.join(prepared)} were trained with different preprocessing: "
            "times compare on the same pictures only"
        )
    preprocessing = next(iter(prepared.values()), config.preprocessing)
    return Baselines(namer, NAMER in weights, decoding, tuple(decoders), preprocessing)


def _checked(name: str, model: Namer | AutoregressiveModel) -> Namer | AutoregressiveModel:
    kind = getattr(model.architecture, "model", NAMER)
    if kind != name:
        raise UsageError(f"the weights given for {name} are those of a {kind}")
    if model.architecture.encoder != "densenet":
        raise UsageError(
            f"the {name} given is on encoder {model.architecture.encoder!r}: decoders are compared "
            "on the features of DenseNet, so train it with encoder=densenet"
        )
    return model
