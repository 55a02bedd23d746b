"""Training targets of VAT and PGD, from the matching and VAT's present output."""

from dataclasses import dataclass, fields
from math import inf
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from namer_edge_runtime.bounded import bounded
from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.decode.pick import EOS, SOS, pick_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..data.batches import UNKNOWN, LabelPath
from .cell_probabilities import Best, CellProbabilities

IGNORE = -100
"""Target that losses leave out."""


@dataclass(frozen=True)
class Candidates:
    """Which nodes PGD is trained on besides the label's (design: nodes in training)."""

    threshold: float = bounded(2.0, 0, inf)
    """`DecodingOptions.threshold`: least probability of a node's cell; above 1: arg max only."""
    corrupt: float = bounded(0.0, 0, 1)
    """Share of label nodes whose class is drawn from VAT's flattened probabilities, P^½."""
    jitter: float = bounded(0.0, 0, inf)
    """Share of label nodes that move to a neighboring cell."""
    surplus: float = bounded(0.0, 0, inf)
    """Mean number of added nodes near label cells that are to be deleted."""


class VisualNode(NamedTuple):
    """A visual node that PGD is trained on."""

    row: int
    column: int
    token: int
    """Class that PGD is given."""
    score: float
    """VAT's probability."""
    place: int = -1
    """Place of its token in the label path; -1: to be deleted."""


@dataclass(frozen=True)
class NodeTargets:
    """N nodes of one picture (<sos>, <eos> first) and the targets of the three heads."""

    cells: NDArray[np.int64]
    """[N, 2] (row, column)."""
    classes: NDArray[np.int64]
    endings: NDArray[np.int64]
    scores: NDArray[np.float32]
    self_correction: NDArray[np.int64]
    """[N] class, `}` or delete; `UNKNOWN` if out of vocabulary, `IGNORE` for <sos> and <eos>."""
    left: NDArray[np.int64]
    """[N] index of the node to the left; `IGNORE` for <sos> and nodes to delete."""
    right: NDArray[np.int64]


def visual_map(
    label: LabelPath, matched: NDArray[np.int64], shape: tuple[int, int], vocabulary: Vocabulary
) -> NDArray[np.int64]:
    """P* [h, w]: the class or `UNKNOWN` at matched cells [V, 2], "none" elsewhere (eq. 3)."""
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
    """`completed_nodes` of a picture whose probabilities [K + 1, h, w] (eq. 2) are on the host.

    matched: [V, 2] cells of the label's visual tokens.
    """
    seen = CellProbabilities.of(probabilities)
    best = seen.best().of(0, *probabilities.shape[1:])
    (columns,) = seen.of_cells([matched])
    return completed_nodes(label, matched, columns, best, vocabulary, candidates, rng)


def completed_nodes(
    label: LabelPath,
    matched: NDArray[np.int64],
    columns: NDArray[np.float32],
    best: Best,
    vocabulary: Vocabulary,
    candidates: Candidates,
    rng: np.random.Generator,
) -> NodeTargets:
    """Nodes as the runtime picks them, completed by the label's, with targets (eq. 6 to 8).

    matched: [V, 2] cells of the label's visual tokens, no two the same; columns: [V, K + 1], the
    probabilities in these cells; best: the best classes of all cells.
    A label token owns the node that VAT picked at its cell with the same number of endings,
    whatever its class; if there is none, a node is added. All other picked nodes are to be
    deleted, with their endings.
    """
    at = {(row, column): p for (row, column), p in zip(matched.tolist(), columns, strict=True)}
    nodes = _labeled(label, matched, at, best, vocabulary, candidates, rng)
    height, width = best.none.shape
    nodes = [_disturbed(node, at, (height, width), vocabulary, candidates, rng) for node in nodes]
    for _ in range(rng.poisson(candidates.surplus) if len(matched) else 0):
        row, column = matched[rng.integers(len(matched))] + rng.integers(-2, 3, 2)
        row, column = int(np.clip(row, 0, height - 1)), int(np.clip(column, 0, width - 1))
        token, score = int(best.classes[0, row, column]), float(best.scores[0, row, column])
        nodes.append(VisualNode(row, column, token, score))
    return _connect(nodes, label, vocabulary)


Columns = dict[tuple[int, int], NDArray[np.float32]]
"""Cell (row, column) → [K + 1] probabilities there."""


def _labeled(
    label: LabelPath,
    matched: NDArray[np.int64],
    at: Columns,
    best: Best,
    vocabulary: Vocabulary,
    candidates: Candidates,
    rng: np.random.Generator,
) -> list[VisualNode]:
    """Picked nodes with their places in the label, and a node for each label token without one."""
    endings = vocabulary.endings.tolist()
    missing: dict[tuple[int, int, int], int] = {}  # (row, column, endings) → place
    places = label.visual.tolist()
    tokens = label.classes[label.visual].tolist()
    for place, token, (row, column) in zip(places, tokens, matched.tolist(), strict=True):
        missing[row, column, 0 if token == UNKNOWN else endings[token]] = place
    nodes = [
        node._replace(place=missing.pop((node.row, node.column, endings[node.token]), -1))
        for node in _picked(best, vocabulary, candidates)
    ]
    for (row, column, count), place in missing.items():
        token = int(label.classes[place])
        # Half of the time VAT's best class, else the label's, unless that is out of vocabulary.
        if rng.random() < 0.5 or token == UNKNOWN:
            token = _best(at[row, column][:-1], count, vocabulary)
        nodes.append(VisualNode(row, column, token, float(at[row, column][token]), place))
    return nodes


def _disturbed(
    node: VisualNode,
    at: Columns,
    shape: tuple[int, int],
    vocabulary: Vocabulary,
    candidates: Candidates,
    rng: np.random.Generator,
) -> VisualNode:
    """A label node with its class corrupted and its cell jittered by chance; others unchanged."""
    if node.place < 0:
        return node
    row, column, token = node.row, node.column, node.token
    if rng.random() < candidates.corrupt:
        endings = int(vocabulary.endings[token])
        token = _drawn(at[row, column][:-1], endings, vocabulary, rng)
    if rng.random() < candidates.jitter:
        height, width = shape
        row = int(np.clip(row + rng.integers(-1, 2), 0, height - 1))
        column = int(np.clip(column + rng.integers(-1, 2), 0, width - 1))
    return node._replace(row=row, column=column, token=token)


def _picked(best: Best, vocabulary: Vocabulary, candidates: Candidates) -> list[VisualNode]:
    """The visual nodes that the runtime would pick."""
    decoding = DecodingOptions(threshold=candidates.threshold, max_nodes=256)
    (nodes,) = pick_nodes(
        best.scores[None], best.classes[None], best.none[None], vocabulary, decoding
    )
    visual = np.flatnonzero(nodes.endings == 0)[EOS + 1 :]
    cells, classes = nodes.cells[visual].tolist(), nodes.classes[visual].tolist()
    scores = nodes.scores[visual].tolist()
    return [VisualNode(*cell, *rest) for cell, *rest in zip(cells, classes, scores, strict=True)]


def _best(scores: NDArray[np.float32], endings: int, vocabulary: Vocabulary) -> int:
    """The most probable visual class with this number of endings."""
    return int(np.where(vocabulary.endings == endings, scores, -1.0).argmax())


def _drawn(
    scores: NDArray[np.float32], endings: int, vocabulary: Vocabulary, rng: np.random.Generator
) -> int:
    """A visual class with this number of endings, drawn from VAT's flattened probabilities."""
    weights = np.where(vocabulary.endings == endings, np.sqrt(scores.astype(np.float64)), 0.0)
    return int(rng.choice(len(weights), p=weights / weights.sum()))


def _connect(visual: list[VisualNode], label: LabelPath, vocabulary: Vocabulary) -> NodeTargets:
    """Lists <sos>, <eos> and the visual nodes with their endings, and links them by the label."""
    cells, classes, endings, scores, places = (
        [(0, 0)] * 2,
        [vocabulary.sos, vocabulary.eos],
        [0] * 2,
        [1.0] * 2,
        [-1] * 2,
    )
    ends = {
        (parent, ending): place
        for place, (parent, ending) in enumerate(
            zip(label.parents.tolist(), label.endings.tolist(), strict=True)
        )
        if ending
    }
    counts = vocabulary.endings.tolist()
    for node in visual:
        for ending in range(counts[node.token] + 1):
            cells.append((node.row, node.column))
            classes.append(vocabulary.end if ending else node.token)
            endings.append(ending)
            scores.append(node.score)
            on_label = ending and node.place >= 0
            places.append(ends[node.place, ending] if on_label else node.place)

    length = len(label.classes)
    node_at = np.full(length + 2, IGNORE, np.int64)  # label places shifted by one, <sos> … <eos>
    node_at[0], node_at[-1] = SOS, EOS
    place_of = np.array(places)
    on_path = np.flatnonzero(place_of >= 0)
    node_at[place_of[on_path] + 1] = on_path

    self_correction = np.full(len(places), vocabulary.delete, np.int64)
    self_correction[[SOS, EOS]] = IGNORE
    self_correction[on_path] = label.classes[place_of[on_path]]
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
        self_correction,
        left,
        right,
    )


def stack(targets: list[NodeTargets], step: int = 16) -> dict[str, torch.Tensor]:
    """Stacks B pictures by field, padded to a multiple of `step` nodes, and adds `mask` [B, N]."""
    longest = max(len(t.classes) for t in targets)
    length = -(-longest // step) * step
    stacked = {}
    for field in fields(NodeTargets):
        values = [getattr(t, field.name) for t in targets]
        padding = IGNORE if field.name in ("self_correction", "left", "right") else 0
        out = np.full((len(values), length, *values[0].shape[1:]), padding, values[0].dtype)
        for row, value in zip(out, values, strict=True):
            row[: len(value)] = value
        stacked[field.name] = torch.from_numpy(out)
    mask = np.zeros((len(targets), length), np.float32)
    for row, target in zip(mask, targets, strict=True):
        row[: len(target.classes)] = 1.0
    return {**stacked, "mask": torch.from_numpy(mask)}
