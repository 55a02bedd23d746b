"""Token picking: cells of VAT's map become nodes (eq. 4), with their imaginary tokens."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError
from ..formula.vocabulary import Vocabulary
from . import reference
from .heap import heapify, take
from .jit import kernel, part, plain_array
from .options import DecodingOptions

SOS, EOS = 0, 1
"""Indices of `<sos>` and `<eos>` in every list of nodes."""


@dataclass(frozen=True)
class Nodes:
    """The N inputs of PGD: `<sos>`, `<eos>`, then visual nodes, each followed by its endings."""

    cells: NDArray[np.int64]
    """[N, 2] (row, column) on the H/8 grid; `<sos>`, `<eos>`: (0, 0); endings: the parent's."""
    classes: NDArray[np.int64]
    """[N] class that VAT sees; endings carry the class of "}"."""
    endings: NDArray[np.int64]
    """[N] 0 for a visual node, else which ending of its parent this is: 1 or 2."""
    parents: NDArray[np.int64]
    """[N] index of the relation that this ending closes, -1 for all others."""
    scores: NDArray[np.float32]
    """[N] VAT's probability of the class; 1 for `<sos>` and `<eos>`; endings: the parent's."""
    truncated: bool = False
    """More than `max_nodes` nodes were there; the weakest visual ones were left out."""

    def __len__(self) -> int:
        return len(self.classes)


@dataclass(frozen=True)
class NodeBatch:
    """The nodes of B formulas as padded arrays, from picking through PGD to path selection."""

    cells: NDArray[np.int64]
    """[B, N, 2], this and the next four as in `Nodes`. Padding is 0, but "}" in `classes` and -1 in
    `parents`."""
    classes: NDArray[np.int64]
    endings: NDArray[np.int64]
    parents: NDArray[np.int64]
    scores: NDArray[np.float32]
    counts: NDArray[np.int64]
    """[B] number of nodes of each formula; the rest of the N is padding."""
    truncated: NDArray[np.bool_]
    """[B]."""

    @classmethod
    def of(cls, nodes: Nodes) -> "NodeBatch":
        """A batch of one formula."""
        return cls(
            nodes.cells[None],
            nodes.classes[None],
            nodes.endings[None],
            nodes.parents[None],
            nodes.scores[None],
            np.array([len(nodes)]),
            np.array([nodes.truncated]),
        )

    @property
    def mask(self) -> NDArray[np.float32]:
        """[B, N] 1 for nodes, 0 for padding."""
        return (np.arange(self.classes.shape[1]) < self.counts[:, None]).astype(np.float32)

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, row: int) -> Nodes:
        """The nodes of one formula, without padding; views of the arrays."""
        own = row, slice(self.counts[row])
        return Nodes(
            self.cells[own],
            self.classes[own],
            self.endings[own],
            self.parents[own],
            self.scores[own],
            bool(self.truncated[row]),
        )

    def __iter__(self) -> Iterator[Nodes]:
        return map(self.__getitem__, range(len(self)))


def pick_nodes(
    scores: NDArray[np.float32],
    classes: NDArray[np.integer],
    none: NDArray[np.float32],
    vocabulary: Vocabulary,
    options: DecodingOptions,
) -> NodeBatch:
    """Nodes from the VAT maps of B pictures: `pick_all` with a model's vocabulary and options."""
    return pick_all(
        scores,
        classes,
        none,
        vocabulary.endings,
        vocabulary.end,
        vocabulary.sos,
        vocabulary.eos,
        threshold=options.threshold,
        max_nodes=options.max_nodes,
    )


def pick(
    scores: NDArray[np.float32],
    classes: NDArray[np.integer],
    none: NDArray[np.float32],
    endings: NDArray[np.integer],
    end_class: int,
    sos: int,
    eos: int,
    **options: Any,
) -> Nodes:
    """Nodes from the VAT map of one picture: `pick_all` for scores and classes [C, h, w] and none
    [h, w]."""
    maps = scores[None], classes[None], none[None]
    return pick_all(*maps, endings, end_class, sos, eos, **options)[0]


def pick_all(
    scores: NDArray[np.float32],
    classes: NDArray[np.integer],
    none: NDArray[np.float32],
    endings: NDArray[np.integer],
    end_class: int,
    sos: int,
    eos: int,
    *,
    threshold: float = 2.0,
    max_nodes: int = 512,
) -> NodeBatch:
    """Nodes from the VAT maps of B pictures of one size, in one compiled call.

    The nodes of a picture stand in row-major order of their cells. A cell gives its best visual
    class where that beats "none" (eq. 4).

    Recall-first picking adds, for each number of endings, the best class that brings so many,
    where the summed probability of all listed classes with that number reaches `threshold` and
    survives 3 × 3 non-maximum suppression (of equal neighbors, the first in row-major order stays).
    PGD's self head deletes surplus nodes, but corrects a class only within one number of endings. A
    threshold above 1 switches this off, which is the paper's rule.

    Beyond `max_nodes` the visual nodes of the highest scores stay, ties by place, up to the first
    one that no longer fits with its endings.

    Args:
        scores: [B, C, h, w] probabilities of the C best visual classes of each cell, descending.
        classes: [B, C, h, w] the classes they belong to.
        none: [B, h, w] probability of "none".
        endings: [K] number of endings that a node of each visual class brings (0, 1 or 2).
        end_class, sos, eos: node classes of "}", `<sos>` and `<eos>`.
        max_nodes: the most nodes to return, `<sos>`, `<eos>` and endings counted.

    Raises:
        EngineError: shapes disagree, or a class is not one of the K visual classes.
    """
    batch, *cells_of = none.shape
    fits = scores.ndim == 4 and (len(scores), *scores.shape[2:]) == (batch, *cells_of)
    if not fits or scores.shape != classes.shape:
        raise EngineError(
            "the VAT outputs disagree in shape: scores and classes must be [C, h, w] and none "
            f"[h, w], but they are {scores.shape[1:]}, {classes.shape[1:]} and {none.shape[1:]}"
        )
    *arrays, unknown = _pick(
        plain_array(scores, np.float32),
        plain_array(classes, np.int32),
        plain_array(none, np.float32),
        plain_array(endings, np.int8),
        int(end_class),
        int(sos),
        int(eos),
        float(threshold),
        int(max_nodes),
    )
    if unknown >= 0:
        raise EngineError(
            f"the VAT output names class {unknown}, but the vocabulary has {len(endings)} visual "
            "classes: model and vocabulary do not belong together"
        )
    return NodeBatch(*arrays)


@part
def _is_peak(mass: NDArray[np.float64], row: int, column: int) -> bool:
    """Whether a cell survives 3 × 3 non-maximum suppression; of equals, the first one does."""
    height, width = mass.shape
    here = mass[row, column]
    for other_row in range(max(0, row - 1), min(height, row + 2)):
        for other_column in range(max(0, column - 1), min(width, column + 2)):
            other = mass[other_row, other_column]
            earlier = other_row < row or (other_row == row and other_column < column)
            if other > here or (earlier and other == here):
                return False
    return True


@kernel(plain=reference.pick_all)
def _pick(
    scores: NDArray[np.float32],
    classes: NDArray[np.int32],
    none: NDArray[np.float32],
    endings: NDArray[np.int8],
    end_class: int,
    sos: int,
    eos: int,
    threshold: float,
    max_nodes: int,
) -> reference.Arrays:
    batch, depth, height, width = scores.shape
    most = max(2, max_nodes)
    cells = np.zeros((batch, most, 2), np.int64)
    picked = np.empty((batch, most), np.int64)
    ending = np.zeros((batch, most), np.int64)
    parents = np.full((batch, most), -1, np.int64)
    strength = np.zeros((batch, most), np.float32)
    counts = np.empty(batch, np.int64)
    truncated = np.zeros(batch, np.bool_)
    unknown = -1
    longest = 2
    # A cell gives at most one visual node for each number of endings.
    groups = 3
    room = height * width * min(depth, groups)
    mass = np.empty((groups, height, width), np.float64)  # P of classes with so many endings
    row_of = np.empty(room, np.int64)
    column_of = np.empty(room, np.int64)
    class_of = np.empty(room, np.int64)
    score_of = np.empty(room, np.float64)
    keep = np.empty(room, np.bool_)
    heap = np.empty(room, np.int64)
    for b in range(batch):
        count = 0
        total = 2
        mass[:] = 0
        for rank in range(depth):
            for row in range(height):
                for column in range(width):
                    label = int(classes[b, rank, row, column])
                    if label < 0 or label >= len(endings):
                        unknown = max(unknown, label)
                    else:
                        mass[endings[label], row, column] += scores[b, rank, row, column]
        for row in range(height):
            for column in range(width):
                taken = 0  # one bit for each number of endings
                for rank in range(depth):
                    label = int(classes[b, rank, row, column])
                    if label < 0 or label >= len(endings):
                        continue
                    group = int(endings[label])
                    if taken & (1 << group):
                        continue
                    taken |= 1 << group
                    score = scores[b, rank, row, column]
                    wins = rank == 0 and score > none[b, row, column]
                    recalled = mass[group, row, column] >= threshold
                    if not wins and not (recalled and _is_peak(mass[group], row, column)):
                        continue
                    row_of[count] = row
                    column_of[count] = column
                    class_of[count] = label
                    score_of[count] = score
                    count += 1
                    total += 1 + group

        truncated[b] = total > max_nodes
        keep[:count] = not truncated[b]
        if truncated[b]:
            total = 2
            for index in range(count):
                heap[index] = index
            heapify(heap, count, score_of)
            for left in range(count, 0, -1):
                index = take(heap, left, score_of)
                size = 1 + int(endings[class_of[index]])
                if total + size > max_nodes:
                    break
                keep[index] = True
                total += size

        counts[b] = total
        picked[b, 0] = sos
        picked[b, 1] = eos
        strength[b, :2] = 1
        place = 2
        for index in range(count):
            if not keep[index]:
                continue
            parent = place
            for which in range(1 + int(endings[class_of[index]])):
                cells[b, place, 0] = row_of[index]
                cells[b, place, 1] = column_of[index]
                picked[b, place] = class_of[index] if which == 0 else end_class
                ending[b, place] = which
                parents[b, place] = -1 if which == 0 else parent
                strength[b, place] = score_of[index]
                place += 1
        picked[b, place:] = end_class
        longest = max(longest, total)
    return (
        cells[:, :longest].copy(),
        picked[:, :longest].copy(),
        ending[:, :longest].copy(),
        parents[:, :longest].copy(),
        strength[:, :longest].copy(),
        counts,
        truncated,
        unknown,
    )
