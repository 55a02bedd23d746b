"""Formulas → training batches of equal size, planned for a whole epoch, drawn afresh each time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset

from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.render import draw
from namer_edge_runtime.picture.look import Look, padded_size

from .augment import Augmentation, ScaledInk, place
from .crohme import Formula


@dataclass(frozen=True)
class LabelPath:
    """The path of a formula through its nodes, L of them, without <sos> and <eos>."""

    classes: NDArray[np.int64]
    """[L] node classes; `}` is `Vocabulary.end`."""
    parents: NDArray[np.int64]
    """[L] place of the relation that a `}` ends, -1 for visual nodes."""
    endings: NDArray[np.int64]
    """[L] which of its relation's endings a `}` is, from 1; 0 for visual nodes."""

    @classmethod
    def of(cls, tokens: Sequence[str], vocabulary: Vocabulary) -> "LabelPath":
        nodes = to_nodes(tokens, vocabulary)
        return cls(
            np.array([vocabulary.id(node.token) for node in nodes], np.int64),
            np.array([node.parent for node in nodes], np.int64),
            np.array([node.ending for node in nodes], np.int64),
        )

    @property
    def visual(self) -> NDArray[np.intp]:
        """[V] places of the visual nodes in the path."""
        return np.flatnonzero(self.endings == 0)


@dataclass(frozen=True)
class Batch:
    """B pictures of one size with what they say."""

    images: torch.Tensor
    """uint8 [B, channels, H, W], ink 255 on 0."""
    cells: list[NDArray[np.int64]]
    """For each picture [V, 2] (row, column) on the H/8 grid: the position estimates T."""
    labels: list[LabelPath]


class Draw(NamedTuple):
    """One sample of a plan: which formula, by which random numbers, padded to which size."""

    formula: int
    seed: tuple[int, int, int]
    height: int
    width: int


class Ink(Dataset[tuple[NDArray[np.uint8], NDArray[np.int64], int]]):
    """Formulas by `Draw` → (picture [H, W], cells [V, 2], index)."""

    def __init__(self, formulas: Sequence[Formula], look: Look, augmentation: Augmentation) -> None:
        self.scaled = [ScaledInk.of(formula, look) for formula in formulas]
        self.look, self.augmentation = look, augmentation

    def __len__(self) -> int:
        return len(self.scaled)

    def __getitem__(self, draw_: Draw) -> tuple[NDArray[np.uint8], NDArray[np.int64], int]:
        rng = np.random.default_rng(draw_.seed)
        ink = self.scaled[draw_.formula]
        placed = place(ink, self.look, self.augmentation, rng)
        room = np.array([draw_.width - placed.width, draw_.height - placed.height])
        # Where the ink lies in its padding must not matter: anywhere in training.
        share = rng.uniform(0, 1, 2) if self.augmentation.scale else np.array([0.5, 0.5])
        offset = (self.look.margin + room * share).astype(np.float32)
        strokes = np.split(placed.points + offset, ink.ends)
        image = draw(strokes, (draw_.height, draw_.width), placed.pen_width)
        cells = np.floor((placed.positions + offset)[:, ::-1] / 8).astype(np.int64)
        limits = (draw_.height // 8 - 1, draw_.width // 8 - 1)
        return image, np.clip(cells, 0, limits), draw_.formula

    def plan(self, epoch: int, batch_size: int, seed: int, ranks: int = 1) -> list[list[Draw]]:
        """Batches of one epoch: every formula once, batches of like size, in random order.

        The number of batches divides by `ranks`, and each run of `ranks` batches is of like size,
        so that processes that train together take turns of equal length. All follows from `seed`
        and `epoch`: a resumed run sees what it would have seen.
        """
        rng = np.random.default_rng((seed, epoch))
        draws = []
        for index in rng.permutation(len(self.scaled)):
            key = (seed, epoch, int(index))
            placed = place(
                self.scaled[index], self.look, self.augmentation, np.random.default_rng(key)
            )
            draws.append(Draw(int(index), key, *padded_size(placed.height, placed.width)))
        draws.sort(key=lambda d: (d.height, d.width))
        group = batch_size * ranks
        runs = [draws[i : i + group] for i in range(0, len(draws), group)]
        if len(runs) > 1 and len(runs[-1]) < group:
            runs[-1] = draws[-group:]  # as many again as are missing, so that no batch is small
        batches: list[list[Draw]] = []
        for i in rng.permutation(len(runs)):
            run = runs[i]
            size = (max(d.height for d in run), max(d.width for d in run))
            run = [Draw(d.formula, d.seed, *size) for d in run]
            batches += [run[rank::ranks] for rank in range(ranks)]
        return batches


def loader(
    ink: Ink, labels: Sequence[LabelPath], batches: Sequence[list[Draw]], workers: int = 0
) -> Iterator[Batch]:
    """Draw the planned batches, in `workers` processes where more than none."""

    def collate(items: list[tuple[NDArray[np.uint8], NDArray[np.int64], int]]) -> Batch:
        images = torch.from_numpy(np.stack([image for image, _, _ in items])[:, None])
        return Batch(images, [cells for _, cells, _ in items], [labels[i] for *_, i in items])

    yield from DataLoader(
        ink,
        batch_sampler=batches,
        collate_fn=collate,
        num_workers=workers,
    )
