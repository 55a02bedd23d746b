"""Hypotheses without relations that lack an argument."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..formula.vocabulary import INDEX, Vocabulary
from .hypothesis import Hypothesis

STRETCHED = frozenset({"\\xrightarrow", "\\xlongequal"})
"""Relations that are signs of their own, with or without anything written on them."""


def without_hollow(found: list[list[Hypothesis]], vocabulary: Vocabulary) -> list[list[Hypothesis]]:
    """Hypotheses of each formula, best first, as `filled` has them; those of nothing else go, but
    for the best."""
    return [
        [filled(best, vocabulary) or best]
        + [other for path in others if (other := filled(path, vocabulary))]
        for best, *others in found
    ]


@dataclass
class _Open:
    """A relation on the path whose arguments are not all closed."""

    places: list[int]
    """Places of the relation and of its endings so far."""
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
