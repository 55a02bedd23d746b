"""Token picking and path selection as a model wants them: with its vocabulary and its constants."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .decode.decode import decode_all
from .decode.hypothesis import Hypothesis
from .decode.options import DecodingOptions
from .decode.pick import Nodes, pick_all
from .engine.base import PgdOutput
from .formula.vocabulary import Vocabulary


def picks(
    scores: NDArray[np.float32],
    classes: NDArray[np.integer],
    none: NDArray[np.float32],
    vocabulary: Vocabulary,
    decoding: DecodingOptions,
) -> list[Nodes]:
    """Nodes from VAT's maps of B pictures: scores and classes [B, C, h, w], none [B, h, w]
    (`pick_all`)."""
    return pick_all(
        scores,
        classes,
        none,
        vocabulary.endings,
        vocabulary.end,
        vocabulary.sos,
        vocabulary.eos,
        threshold=decoding.threshold,
        max_nodes=decoding.max_nodes,
    )


def readings(
    pgd: PgdOutput,
    nodes: Sequence[Nodes],
    vocabulary: Vocabulary,
    decoding: DecodingOptions,
    count: int = 1,
) -> list[list[Hypothesis]]:
    """Up to `count` readings of each formula, best first (`decode_all`)."""
    return decode_all(
        pgd.correction,
        pgd.left,
        pgd.right,
        nodes,
        vocabulary.endings,
        epsilon=decoding.epsilon,
        left_weight=decoding.left_weight,
        right_weight=decoding.right_weight,
        routes=decoding.routes,
        alternatives=count,
    )
