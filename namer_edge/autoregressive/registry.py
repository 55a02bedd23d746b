"""Autoregressive models by name."""

from namer_edge_runtime.errors import ConfigError
from namer_edge_runtime.formula.vocabulary import Vocabulary

from .bttr import Bttr
from .can import Can
from .comer import Comer
from .dwap import Dwap, MultiScaleDwap
from .model import AutoregressiveModel, DecoderArchitecture
from .tree_decoder import TreeDecoder

AUTOREGRESSIVE_MODELS: dict[str, type[AutoregressiveModel]] = {
    "dwap": Dwap,
    "dwap-msa": MultiScaleDwap,
    "can": Can,
    "bttr": Bttr,
    "comer": Comer,
    "tree-decoder": TreeDecoder,
}


def build_autoregressive(
    architecture: DecoderArchitecture, vocabulary: Vocabulary
) -> AutoregressiveModel:
    """A randomly initialized model; raises `ConfigError` for an unknown name."""
    try:
        kind = AUTOREGRESSIVE_MODELS[architecture.model]
    except KeyError:
        raise ConfigError(
            f"model = {architecture.model!r}: choose one of {', '.join(AUTOREGRESSIVE_MODELS)}"
        ) from None
    return kind(architecture, vocabulary)
