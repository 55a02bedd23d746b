"""VAT's probabilities of a batch, which stay on their device: targets need few of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.batches import UNKNOWN

BEST = 4
"""Most probable classes of a cell that become candidates, as in the model file's VAT graph."""


class Best(NamedTuple):
    """The most probable visual classes of each cell, best first, as the runtime picks nodes by."""

    scores: NDArray[np.float32]
    """[…, BEST, h, w]"""
    classes: NDArray[np.int64]
    none: NDArray[np.float32]
    """[…, h, w] probability of "none"."""

    def of(self, picture: int, height: int, width: int) -> "Best":
        """Those of one picture, without what pads it."""
        shown = (picture, ..., slice(height), slice(width))
        return Best(self.scores[shown], self.classes[shown], self.none[shown])


class CellProbabilities:
    """P [B, K + 1, h, w] of eq. 2 on the device of VAT's logits; methods bring parts to the host.

    A whole map is a megabyte for a large picture, and finding its best classes takes the host
    longer than all else that targets need.
    """

    def __init__(self, logits: Tensor) -> None:
        self._map = torch.softmax(logits.detach(), 1)

    @classmethod
    def of(cls, probabilities: NDArray[np.float32]) -> "CellProbabilities":
        """Of one picture's P [K + 1, h, w]."""
        made = cls.__new__(cls)
        made._map = torch.from_numpy(np.ascontiguousarray(probabilities))[None]
        return made

    def best(self) -> Best:
        """Of all pictures."""
        scores, classes = self._map[:, :-1].topk(BEST, 1)
        return Best(scores.cpu().numpy(), classes.cpu().numpy(), self._map[:, -1].cpu().numpy())

    def of_classes(self, classes: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        """For each picture [V, h, w], the probability of its V classes in every cell; of `UNKNOWN`,
        that it is any class."""
        pictures, numbers = _flat(classes)
        unknown = numbers == UNKNOWN
        rows = self._map[pictures, np.where(unknown, -1, numbers)]
        if unknown.any():
            there = torch.from_numpy(unknown).to(rows.device)
            rows = torch.where(there[:, None, None], 1 - rows, rows)
        return _parted(rows, classes)

    def of_cells(self, cells: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        """For each picture [V, K + 1], the probabilities of all classes in its V cells (row,
        column)."""
        pictures, places = _flat(cells)
        return _parted(self._map[pictures, :, places[:, 0], places[:, 1]], cells)


def _flat(parts: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which picture each item belongs to, and all items."""
    pictures = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return pictures, np.concatenate(parts)


def _parted(values: Tensor, parts: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float32]]:
    """Values on the host, those of each picture."""
    return np.split(values.cpu().numpy(), np.cumsum([len(part) for part in parts])[:-1])
