"""Locks enter a pass as certainties: among its nodes before PGD, or in its heads after."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decode.hypothesis import Hypothesis
from ..decode.pick import EOS, SOS, NodeBatch, Nodes
from ..decode.reference import repair
from ..decode.thresholds import MIN_DELETE, MIN_PROBABILITY
from ..errors import UsageError
from ..formula.vocabulary import INKLESS, Vocabulary
from ..ink.stroke_assignment import ROOT
from ..preprocessing import Prepared
from ..result import Line
from .evidence import Evidence, Lock, Places, said_of

MOST_LOCKS = 128
"""Each may add a node and its endings to a pass, whose time and memory grow with their square."""


@dataclass(frozen=True)
class Certain:
    """Heads of a pass in which locks are certain."""

    correction: NDArray[np.float32]
    left: NDArray[np.float32]
    right: NDArray[np.float32]
    nodes: NDArray[np.int64]
    """The node of each lock that stands for a symbol."""


def certain(found: Evidence, places: Places) -> Certain | None:
    """The heads of a pass with one node for each lock's symbol, of its class and not deleted; all
    others of the same symbol are merged into it. None where a symbol has no node of its class's
    number of endings."""
    vocabulary = places.vocabulary
    end, delete = vocabulary.end, vocabulary.delete
    nodes = found.nodes
    heads = [np.nan_to_num(head) for head in (found.correction, found.left, found.right)]
    correction, left, right = (head.astype(np.float32) for head in heads)
    owners = _owners(found, places)
    kept: list[int] = []
    free = _free(places, found.prepared, found.scores, found.classes, owners, correction)
    for number, lock in enumerate(places.locks):
        members = np.flatnonzero(owners == number)
        if lock.text == "":
            for member in members.tolist():
                _bypass(_with_endings(member, nodes), left, right)
        else:
            brings = vocabulary.endings[nodes.classes[members]]
            row = np.zeros(end)
            if lock.text is None:
                row = free[number]
                row[~np.isin(vocabulary.endings, brings)] = 0
            else:
                row[vocabulary.id(lock.text)] = 1
            same = members[brings == vocabulary.endings[row.argmax()]]
            if not len(same) or not row.any():
                return None
            sure = correction[same, row.argmax()] - correction[same, delete]
            node = int(same[sure.argmax()])
            for member in members[members != node].tolist():
                _merge(_with_endings(member, nodes), _with_endings(node, nodes), left, right)
            correction[node] = 0
            correction[node, :end] = row / row.sum()
            kept.append(node)
        gone = np.setdiff1d(members, kept)
        correction[gone] = 0
        correction[gone, delete] = 1
    return Certain(correction, left, right, np.array(kept, np.int64))


def _owners(found: Evidence, places: Places) -> NDArray[np.int64]:
    """`Places.owners`; nodes that were made for locks are those of the same symbols now."""
    owners = places.owners(found.nodes, found.prepared)
    if found.made_for is None:
        return owners
    number = {(lock.strokes, lock.at): place for place, lock in enumerate(places.locks)}
    now = np.array([number.get((lock.strokes, lock.at), -1) for lock in found.locks] + [-1])
    return np.where(found.made_for >= 0, now[found.made_for], owners)


def locked_nodes(
    nodes: Nodes,
    prepared: Prepared,
    scores: NDArray[np.float32],
    classes: NDArray[np.integer],
    places: Places,
) -> tuple[Nodes, NDArray[np.int64]]:
    """The nodes of a pass, before PGD, with one for each lock's symbol and none beside it, and the
    lock [N] that each is of, -1 for none; `scores` and `classes` [C, h, w] are VAT's.

    A symbol without a node of its class's number of endings gets one where its ink is.
    """
    vocabulary = places.vocabulary
    owners = places.owners(nodes, prepared)
    kept = [
        (*nodes.cells[n].tolist(), int(nodes.classes[n]), float(nodes.scores[n]), -1)
        for n in range(2, len(nodes))
        if nodes.parents[n] < 0 and owners[n] < 0
    ]
    free = _free(places, prepared, scores, classes)
    cells = {kind: places.cells(prepared, kind) for kind in (False, True)}
    taken = {node[:2] for node in kept}
    for number, lock in enumerate(places.locks):
        if lock.text == "":
            continue
        label, score = int(free[number].argmax()), float(free[number].max())
        if lock.text is not None:
            label, score = vocabulary.id(lock.text), 1.0
        cell = cells[vocabulary.token(label) == ROOT][number]
        members = np.flatnonzero(owners == number)
        same = members[vocabulary.endings[nodes.classes[members]] == vocabulary.endings[label]]
        if len(same):
            cell = nodes.cells[same[np.linalg.norm(nodes.cells[same] - cell, axis=1).argmin()]]
        row, column = _nearest_free(cell, taken, scores.shape[1:])
        taken.add((row, column))
        kept.append((row, column, label, score, number))
    return _assembled(sorted(kept, key=lambda node: node[:2]), nodes.truncated, vocabulary)


def _nearest_free(
    cell: NDArray[np.floating] | NDArray[np.integer],
    taken: Collection[tuple[int, int]],
    shape: Sequence[int],
) -> tuple[int, int]:
    """The cell nearest to a point of the map that holds no other node: PGD tells two in one cell
    badly apart."""
    inside = np.clip(cell, 0, np.array(shape) - 1).round().astype(int)
    around = [
        (row, column)
        for row in range(max(0, inside[0] - 1), min(shape[0], inside[0] + 2))
        for column in range(max(0, inside[1] - 1), min(shape[1], inside[1] + 2))
    ]
    free = [one for one in around if one not in taken] or around
    return min(free, key=lambda one: float(np.linalg.norm(np.array(one) - cell)))


def _free(
    places: Places,
    prepared: Prepared,
    scores: NDArray[np.float32],
    classes: NDArray[np.integer],
    owners: NDArray[np.int64] | None = None,
    correction: NDArray[np.float32] | None = None,
) -> NDArray[np.float64]:
    """[L, K] P(class) of locks that leave it open, by VAT and by PGD where it has run."""
    count = len(places.locks)
    if all(lock.text is not None for lock in places.locks):
        return np.zeros((count, places.vocabulary.size))
    said = None
    if owners is not None and correction is not None:
        said = said_of(owners, correction, count)
    return places.distributions(prepared, scores, classes, said)


def _assembled(
    visual: Sequence[tuple[int, int, int, float, int]], truncated: bool, vocabulary: Vocabulary
) -> tuple[Nodes, NDArray[np.int64]]:
    """`Nodes` of visual nodes (row, column, class, score, lock), each followed by its endings; and
    the lock of each, -1 for endings."""
    listed = [(0, 0, end, 0, -1, 1.0, -1) for end in (vocabulary.sos, vocabulary.eos)]
    for row, column, label, score, lock in visual:
        parent = len(listed)
        listed.append((row, column, label, 0, -1, score, lock))
        for which in range(1, 1 + int(vocabulary.endings[label])):
            listed.append((row, column, vocabulary.end, which, parent, score, -1))
    table = np.array(listed, np.float64)
    whole = table.astype(np.int64)
    scores = table[:, 5].astype(np.float32)
    nodes = Nodes(whole[:, :2], whole[:, 2], whole[:, 3], whole[:, 4], scores, truncated)
    return nodes, whole[:, 6]


def padded(arrays: Sequence[NDArray[Any]], fill: int = 0) -> NDArray[Any]:
    """Arrays of one rank as a batch, each filled up at the ends of its axes."""
    shape = np.max([array.shape for array in arrays], axis=0)
    whole = np.full((len(arrays), *shape), fill, arrays[0].dtype)
    for row, array in zip(whole, arrays, strict=True):
        row[tuple(map(slice, array.shape))] = array
    return whole


def stacked(nodes: Sequence[Nodes], end: int) -> NodeBatch:
    """Nodes of several pictures as one padded batch."""
    return NodeBatch(
        padded([one.cells for one in nodes]),
        padded([one.classes for one in nodes], end),
        padded([one.endings for one in nodes]),
        padded([one.parents for one in nodes], -1),
        padded([one.scores for one in nodes]),
        np.array([len(one) for one in nodes]),
        np.array([one.truncated for one in nodes]),
    )


def with_all(path: Hypothesis, sure: Certain, nodes: Nodes) -> Hypothesis:
    """The path with every locked symbol on it: those that it leaves out are put where they fit
    best by their edges, and their endings as in every repair."""
    missing = np.setdiff1d(sure.nodes, path.nodes).tolist()
    if not missing:
        return path
    end = sure.correction.shape[1] - 2
    edges = (sure.left.T.astype(np.float64) + sure.right) / 2
    known = dict(zip(path.nodes.tolist(), path.classes.tolist(), strict=True))
    route = [SOS, *path.nodes.tolist(), EOS]
    score = path.score
    for node in missing:
        known[node] = int(sure.correction[node, :end].argmax())
        place = int((edges[route[:-1], node] + edges[node, route[1:]]).argmax())
        before, behind = route[place : place + 2]
        skipped = max(MIN_PROBABILITY, edges[before, behind]) * MIN_DELETE
        score *= edges[before, node] * edges[node, behind] / skipped
        route.insert(place + 1, node)
    inner = repair(np.array(route[1:-1], np.int64), nodes.parents, edges)
    labels = np.array([known.get(node, end) for node in inner.tolist()], np.int64)
    return Hypothesis(inner, labels, min(1.0, score), sure.correction[inner, labels], True)


def _with_endings(node: int, nodes: Nodes) -> list[int]:
    """A visual node and its endings, in order."""
    return [node, *np.flatnonzero(nodes.parents == node).tolist()]


def _merge(gone: list[int], kept: list[int], left: NDArray[Any], right: NDArray[Any]) -> None:
    """Gives a symbol the neighbors of another reading of its ink: those before it, and those
    behind it or its last ending. Relations of one kind share those between as well."""
    if len(gone) == len(kept):
        pairs = list(zip(gone, kept, strict=True))
        entered = left_behind = pairs
    else:
        entered, left_behind = [(gone[0], kept[0])], [(gone[-1], kept[-1])]
    for other, node in entered:
        left[node] = np.maximum(left[node], left[other])
        right[:, node] = np.minimum(1, right[:, node] + right[:, other])
    for other, node in left_behind:
        right[node] = np.maximum(right[node], right[other])
        left[:, node] = np.minimum(1, left[:, node] + left[:, other])


def _bypass(gone: list[int], left: NDArray[Any], right: NDArray[Any]) -> None:
    """Joins the neighbors of nodes that are taken out."""
    for node in gone:
        for head in (left, right):
            head += np.outer(head[:, node], head[node])
            np.minimum(head, 1, out=head)
            np.fill_diagonal(head, 0)


def check_locks(locks: Sequence[Lock], strokes: int, vocabulary: Vocabulary) -> None:
    """Raises `UsageError` for locks that cannot be of so many strokes, or not together."""
    if len(locks) > MOST_LOCKS:
        raise UsageError(f"{len(locks)} locks: at most {MOST_LOCKS} are taken")
    seen: set[int] = set()
    for lock in locks:
        if lock.text and lock.text not in vocabulary:
            close = get_close_matches(lock.text, vocabulary.tokens, 3)
            hint = f"; do you mean {' or '.join(close)}?" if close else ""
            raise UsageError(f"{lock.text!r} is no symbol that this model knows{hint}")
        if not lock.strokes and lock.at is None:
            raise UsageError("a lock needs the strokes of its symbol, or the place of one without")
        inkless = lock.text in INKLESS
        if lock.text and inkless == bool(lock.strokes):
            raise UsageError(
                f"{lock.text!r} is written with {'no' if inkless else 'at least one'} stroke"
            )
        wrong = [place for place in lock.strokes if not 0 <= place < strokes]
        if wrong or len({*lock.strokes}) < len(lock.strokes) or seen & {*lock.strokes}:
            raise UsageError(
                f"strokes {sorted(lock.strokes)} are not there, or of two symbols: there are "
                f"{strokes}, counted from 0"
            )
        seen |= {*lock.strokes}


def fits(evidence: Sequence[Evidence], locks: Sequence[Lock]) -> bool:
    """Whether passes can take these locks: no symbol that they were made with has been let go."""
    symbols = {(lock.strokes, lock.at) for lock in locks}
    return all({(lock.strokes, lock.at) for lock in one.locks} <= symbols for one in evidence)


def locks_of_lines(locks: Sequence[Lock], lines: Sequence[Line]) -> list[list[Lock]]:
    """The locks of each line, by the places of its own strokes; strokes that a lock joins across
    lines are left to the line of the first."""
    own: list[list[Lock]] = [[] for _ in lines]
    place = {
        stroke: (number, inner)
        for number, line in enumerate(lines)
        for inner, stroke in enumerate(line.strokes or ())
    }
    for lock in locks:
        if lock.at is not None:
            y = lock.at[1]
            away = [max(line.box[1] - y, y - line.box[3]) for line in lines]
            own[int(np.argmin(away))].append(lock)
            continue
        number = place[lock.strokes[0]][0]
        inside = [place[stroke] for stroke in lock.strokes]
        own[number].append(
            Lock(lock.text, tuple(sorted(inner for line, inner in inside if line == number)))
        )
    return own
