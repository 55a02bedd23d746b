"""Token picking and path selection as a model wants them: with its vocabulary and its constants."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .decode.decode import decode_all
from .decode.hypothesis import Hypothesis
from .decode.options import DecodingOptions
from .decode.pick import Nodes, pick_all
from .engine.base import PgdOutput
from .formula.vocabulary import INDEX, Vocabulary

STRETCHED = frozenset({"\\xrightarrow", "\\xlongequal"})
"""Relations that are signs of their own, with or without anything written on them."""


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
    """Up to `count` readings of each formula, best first (`decode_all`), without relations around
    nothing (`filled`)."""
    found = decode_all(
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
    return [
        [filled(best, vocabulary) or best]
        + [other for path in others if (other := filled(path, vocabulary))]
        for best, *others in found
    ]


@dataclass
class _Open:
    """A relation on the path whose arguments are not all closed."""

    places: list[int]
    """Of the relation and of its endings so far."""
    takes: tuple[str, ...]
    content: list[bool] = field(default_factory=lambda: [False])
    """Whether each argument, up to the one being read, holds anything."""

    @property
    def hollow(self) -> bool:
        pairs = zip(self.takes, self.content, strict=True)
        return not all(content for takes, content in pairs if takes != INDEX)


def filled(path: Hypothesis, vocabulary: Vocabulary) -> Hypothesis | None:
    """The reading without relations that lack an argument, as `x_{}` or `\\frac{j}{}`; what their
    other arguments hold stays, and so does its score. None for a reading of nothing else."""
    kept = np.ones(len(path.nodes), bool)
    outer = _Open([], ("",))
    opened = [outer]
    for place, label in enumerate(path.classes.tolist()):
        if label != vocabulary.end:
            takes = vocabulary.relations.get(vocabulary.token(label))
            if takes:
                opened.append(_Open([place], takes))
            else:
                opened[-1].content[-1] = True
            continue
        relation = opened[-1]
        relation.places.append(place)
        if len(relation.places) <= len(relation.takes):
            relation.content.append(False)
            continue
        opened.pop()
        alone = vocabulary.token(int(path.classes[relation.places[0]])) in STRETCHED
        dropped = relation.hollow and not alone
        kept[relation.places] = not dropped
        opened[-1].content[-1] |= any(relation.content) or not dropped
    if kept.all():
        return path
    if not outer.content[0]:
        return None
    return replace(
        path,
        nodes=path.nodes[kept],
        classes=path.classes[kept],
        node_scores=path.node_scores[kept],
        repaired=True,
    )
