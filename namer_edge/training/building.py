"""Model and loss of a configuration."""

from torch import nn

from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..autoregressive import cost as autoregressive_cost
from ..autoregressive.model import AutoregressiveModel
from ..autoregressive.registry import build_autoregressive
from ..model import cost
from ..model.densenet import DenseNetEncoder
from ..model.namer import Namer
from .config import NOT_COMPILED, TrainConfig
from .loss import Objective
from .objective import Model, TrainingObjective
from .quantization_aware import QuantizationAware
from .sequence_loss import SequenceObjective


def build(config: TrainConfig, vocabulary: Vocabulary) -> Model:
    """The model of a configuration, randomly initialized."""
    if config.model == "namer":
        return Namer(config.architecture, vocabulary)
    return build_autoregressive(config.decoder, vocabulary)


def objective_of(model: Model, config: TrainConfig) -> TrainingObjective:
    """The model with the loss of a configuration."""
    if isinstance(model, AutoregressiveModel):
        return SequenceObjective(model, config.label_smoothing)
    objective = Objective(model, config.loss, config.candidates, config.frozen)
    return QuantizationAware(objective) if config.qat else objective


def accelerate(model: Model, config: TrainConfig) -> None:
    """Sets how `model` is computed in training: activation checkpointing of the encoder, and its
    parts compiled. Names of weights stay as they are."""
    if isinstance(model.encoder, DenseNetEncoder):
        model.encoder.checkpointing = config.checkpointing
    if config.compile == NOT_COMPILED:
        return
    # Matching runs between VAT and PGD, on the host; a decoder's lengths differ by the step.
    parts = [model.encoder, model.vat, model.pgd] if isinstance(model, Namer) else [model.encoder]
    for part in parts:
        # In place, so that no name begins with "_orig_mod"; sizes of pictures vary.
        nn.Module.compile(part, backend=config.compile, dynamic=True)


def cost_of(config: TrainConfig) -> cost.Cost:
    """Parameters and FLOPs for a typical formula at the size that is trained."""
    vocabulary = Vocabulary.load(config.vocabulary)
    size = cost.typical_size(config.preprocessing)
    if config.model == "namer":
        return cost.measure(config.architecture, vocabulary, *size)
    return autoregressive_cost.measure(build_autoregressive(config.decoder, vocabulary), *size)
