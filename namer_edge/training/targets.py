"""What VAT and PGD are trained towards, from the matching and from what VAT reads at the moment."""

from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray

from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.decode.pick import EOS, SOS, pick_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..data.batches import UNKNOWN, LabelPath

IGNORE = -100
"""A target that no loss counts."""
BEST = 4
"""Classes of a cell that are looked at, as in the model file's VAT graph."""


@dataclass(frozen=True)
class Candidates:
    """Which nodes PGD is trained on beside the label's own (design: nodes in training)."""

    threshold: float = 0.25
    """`DecodingOptions.threshold`: cells are nodes from this probability on; above 1: arg max."""
    corrupt: float = 0.0
    """Share of label nodes whose class is drawn from VAT's own doubts (P^½) at the cell."""
    jitter: float = 0.0
    """Share of label nodes that move to a neighboring cell."""
    surplus: float = 0.0
    """Mean number of random nodes to delete, drawn next to label cells."""


@dataclass(frozen=True)
class NodeTargets:
    """N nodes of one picture (<sos>, <eos> first) and what the three heads should say of them."""

    cells: NDArray[np.int64]
    """[N, 2] (row, column)."""
    classes: NDArray[np.int64]
    endings: NDArray[np.int64]
    scores: NDArray[np.float32]
    own: NDArray[np.int64]
    """[N] class, `}` or delete; `UNKNOWN` for a sign without one, `IGNORE` for <sos> and <eos>."""
    left: NDArray[np.int64]
    """[N] index of the node to the left; `IGNORE` for <sos> and nodes to delete."""
    right: NDArray[np.int64]


def visual_map(
    label: LabelPath, matched: NDArray[np.int64], shape: tuple[int, int], vocabulary: Vocabulary
) -> NDArray[np.int64]:
    """P* [h, w]: the class or `UNKNOWN` of matched cells [V, 2], else "none" (before eq. 3)."""
    target = np.full(shape, vocabulary.none, np.int64)
    target[matched[:, 0], matched[:, 1]] = label.classes[label.visual]
    return target


def node_targets(
    label: LabelPath,
    matched: NDArray[np.int64],
    probabilities: NDArray[np.float32],
    vocabulary: Vocabulary,
    candidates: Candidates,
    rng: np.random.Generator,
) -> NodeTargets:
    """Nodes as the runtime would pick them, completed by the label's, with targets (eq. 6 to 8).

    matched: [V, 2] cells of the label's visual tokens; probabilities: [K + 1, h, w], eq. 2.
    A label token is the node that its cell gives, with the class that VAT sees there; where VAT
    sees nothing with the same number of endings, a node is added. All other nodes of VAT are to
    be deleted, and their endings with them.
    """
    visual = label.visual
    count = {c: int(n) for c, n in enumerate(vocabulary.endings)} | {UNKNOWN: 0}
    # One entry a visual node: [row, column, class, score, place in the label or -1].
    found = _picked(probabilities, vocabulary, candidates)
    owner: dict[tuple[int, int, int], int] = {}
    for place, (row, column) in zip(visual, matched, strict=True):
        owner[int(row), int(column), count[int(label.classes[place])]] = int(place)

    entries: list[tuple[int, int, int, float, int]] = []
    for row, column, token, score in found:
        place = owner.pop((row, column, count[token]), -1)
        entries.append((row, column, token, score, place))
    for (row, column, endings), place in owner.items():
        token = int(label.classes[place])
        # Half of the time as recall would read it, else as it is, if it is anything.
        if rng.random() < 0.5 or token == UNKNOWN:
            token = _best(probabilities[:-1, row, column], endings, vocabulary)
        entries.append((row, column, token, float(probabilities[token, row, column]), place))

    height, width = probabilities.shape[1:]
    disturbed = []
    for row, column, token, score, place in entries:
        if place >= 0 and rng.random() < candidates.corrupt:
            token = _drawn(probabilities[:-1, row, column], count[token], vocabulary, rng)
        if place >= 0 and rng.random() < candidates.jitter:
            row = int(np.clip(row + rng.integers(-1, 2), 0, height - 1))
            column = int(np.clip(column + rng.integers(-1, 2), 0, width - 1))
        disturbed.append((row, column, token, score, place))
    for _ in range(rng.poisson(candidates.surplus) if len(matched) else 0):
        row, column = matched[rng.integers(len(matched))] + rng.integers(-2, 3, 2)
        row, column = int(np.clip(row, 0, height - 1)), int(np.clip(column, 0, width - 1))
        token = int(probabilities[:-1, row, column].argmax())
        disturbed.append((row, column, token, float(probabilities[token, row, column]), -1))
    return _connect(disturbed, label, vocabulary)


def _picked(
    probabilities: NDArray[np.float32], vocabulary: Vocabulary, candidates: Candidates
) -> list[tuple[int, int, int, float]]:
    """(row, column, class, score) of each visual node that the runtime would take."""
    visual = probabilities[:-1]
    best = np.argpartition(visual, -BEST, axis=0)[-BEST:]
    order = np.argsort(-np.take_along_axis(visual, best, 0), axis=0, kind="stable")
    best = np.take_along_axis(best, order, 0)
    scores = np.take_along_axis(visual, best, 0)
    decoding = DecodingOptions(threshold=candidates.threshold, max_nodes=256)
    (nodes,) = pick_nodes(scores[None], best[None], probabilities[-1:], vocabulary, decoding)
    return [
        (
            int(nodes.cells[i, 0]),
            int(nodes.cells[i, 1]),
            int(nodes.classes[i]),
            float(nodes.scores[i]),
        )
        for i in range(2, len(nodes))
        if nodes.endings[i] == 0
    ]


def _best(scores: NDArray[np.float32], endings: int, vocabulary: Vocabulary) -> int:
    """The likeliest visual class with this number of endings."""
    return int(np.where(vocabulary.endings == endings, scores, -1.0).argmax())


def _drawn(
    scores: NDArray[np.float32], endings: int, vocabulary: Vocabulary, rng: np.random.Generator
) -> int:
    """A visual class with this number of endings, drawn from VAT's flattened probabilities."""
    weights = np.where(vocabulary.endings == endings, np.sqrt(scores.astype(np.float64)), 0.0)
    return int(rng.choice(len(weights), p=weights / weights.sum()))


def _connect(
    entries: list[tuple[int, int, int, float, int]], label: LabelPath, vocabulary: Vocabulary
) -> NodeTargets:
    """Lay out <sos>, <eos> and the entries with their endings, and join them by the label."""
    cells, classes, endings, scores, places = (
        [(0, 0)] * 2,
        [vocabulary.sos, vocabulary.eos],
        [0] * 2,
        [1.0] * 2,
        [-1] * 2,
    )
    ends = {
        (int(parent), int(ending)): place
        for place, (parent, ending) in enumerate(zip(label.parents, label.endings, strict=True))
        if ending
    }
    for row, column, token, score, place in entries:
        for ending in range(int(vocabulary.endings[token]) + 1):
            cells.append((row, column))
            classes.append(vocabulary.end if ending else token)
            endings.append(ending)
            scores.append(score)
            places.append((ends[place, ending] if ending else place) if place >= 0 else -1)

    length = len(label.classes)
    node_at = np.full(length + 2, IGNORE, np.int64)  # label places shifted by one, <sos> … <eos>
    node_at[0], node_at[-1] = SOS, EOS
    place_of = np.array(places)
    on_path = np.flatnonzero(place_of >= 0)
    node_at[place_of[on_path] + 1] = on_path

    own = np.full(len(places), vocabulary.delete, np.int64)
    own[[SOS, EOS]] = IGNORE
    own[on_path] = label.classes[place_of[on_path]]
    left = np.full(len(places), IGNORE, np.int64)
    right = left.copy()
    left[on_path] = node_at[place_of[on_path]]
    right[on_path] = node_at[place_of[on_path] + 2]
    left[EOS], right[SOS] = node_at[-2], node_at[1]
    return NodeTargets(
        np.array(cells, np.int64),
        np.array(classes, np.int64),
        np.array(endings, np.int64),
        np.array(scores, np.float32),
        own,
        left,
        right,
    )


def stack(targets: list[NodeTargets], step: int = 16) -> dict[str, torch.Tensor]:
    """Pad B pictures to one number of nodes, a multiple of `step`, and add `mask` [B, N]."""
    longest = max(len(t.classes) for t in targets)
    length = -(-longest // step) * step
    stacked = {}
    for field in fields(NodeTargets):
        values = [getattr(t, field.name) for t in targets]
        padding = IGNORE if field.name in ("own", "left", "right") else 0
        out = np.full((len(values), length, *values[0].shape[1:]), padding, values[0].dtype)
        for row, value in zip(out, values, strict=True):
            row[: len(value)] = value
        stacked[field.name] = torch.from_numpy(out)
    mask = np.zeros((len(targets), length), np.float32)
    for row, target in zip(mask, targets, strict=True):
        row[: len(target.classes)] = 1.0
    return {**stacked, "mask": torch.from_numpy(mask)}
