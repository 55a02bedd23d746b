"""Confused tokens, counted from minimal edit scripts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from .exprate import Prediction

Kind = Literal["substitution", "deletion", "insertion"]
BRACES = frozenset("{}")
"""Tokens that are not counted: braces belong to relations, which are."""


@dataclass(frozen=True)
class Edit:
    """One edit from the label to the prediction."""

    kind: Kind
    label: str
    """The token of the label; empty for an insertion."""
    read: str
    """The token that was read; empty for a deletion."""
    place: int
    """Index of the token in the label, or of the token after an insertion."""


@dataclass(frozen=True)
class Confusion:
    """An edit and how often it occurs."""

    kind: Kind
    label: str
    read: str
    count: int
    files: int
    """Number of different files it occurs in."""


def edit_script(label: Sequence[str], read: Sequence[str]) -> list[Edit]:
    """A minimal edit script from `label` to `read`, in reading order, of `distance` edits.

    Ties are broken from the end: keep or substitute, then delete, then insert, so that a pair
    always has the same script.
    """
    cost = [[0] * (len(read) + 1) for _ in range(len(label) + 1)]
    for i in range(len(label) + 1):
        for j in range(len(read) + 1):
            if i == 0 or j == 0:
                cost[i][j] = i + j
                continue
            substituted = cost[i - 1][j - 1] + (label[i - 1] != read[j - 1])
            cost[i][j] = min(substituted, cost[i - 1][j] + 1, cost[i][j - 1] + 1)
    edits: list[Edit] = []
    i, j = len(label), len(read)
    while i or j:
        differs = bool(i and j and label[i - 1] != read[j - 1])
        if i and j and cost[i][j] == cost[i - 1][j - 1] + differs:
            i, j = i - 1, j - 1
            if differs:
                edits.append(Edit("substitution", label[i], read[j], i))
        elif i and cost[i][j] == cost[i - 1][j] + 1:
            i -= 1
            edits.append(Edit("deletion", label[i], "", i))
        else:
            j -= 1
            edits.append(Edit("insertion", "", read[j], i))
    return edits[::-1]


def confusions(readings: Iterable[Prediction], top: int | None = 30) -> list[Confusion]:
    """The most frequent edits over all files with an answer, in descending order.

    `top` None gives all of them. Edits of equal count are ordered by their tokens.
    """
    counts: Counter[tuple[Kind, str, str]] = Counter()
    files: Counter[tuple[Kind, str, str]] = Counter()
    for reading in readings:
        if reading.read is None or reading.read == reading.label:
            continue
        found = [
            (edit.kind, edit.label, edit.read)
            for edit in edit_script(reading.label, reading.read)
            if not (edit.label in BRACES or edit.read in BRACES)
        ]
        counts.update(found)
        files.update(set(found))
    ordered = sorted(counts, key=lambda key: (-counts[key], key))
    return [Confusion(*key, count=counts[key], files=files[key]) for key in ordered[:top]]
