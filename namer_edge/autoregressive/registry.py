"""The recognisers by name."""

from namer_edge_runtime.errors import ConfigError
from namer_edge_runtime.formula.vocabulary import Vocabulary

from .bttr import Bttr
from .can import Can
from .comer import Comer
from .dwap import Dwap, MultiScaleDwap
from .model import DecoderArchitecture, Recogniser
from .tree_decoder import TreeDecoder

RECOGNISERS: dict[str, type[Recogniser]] = {
    "dwap": Dwap,
    "dwap-msa": MultiScaleDwap,
    "can": Can,
    "bttr": Bttr,
    "comer": Comer,
    "tree-decoder": TreeDecoder,
}


def build_recogniser(architecture: DecoderArchitecture, vocabulary: Vocabulary) -> Recogniser:
    """A new one, its weights drawn at random; raises `ConfigError` for an unknown name."""
    try:
        kind = RECOGNISERS[architecture.model]
    except KeyError:
        raise ConfigError(
            f"model = {architecture.model!r}: choose one of {', '.join(RECOGNISERS)}"
        ) from None
    return kind(architecture, vocabulary)
