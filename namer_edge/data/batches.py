"""Training batches of pictures of like size, planned per epoch and drawn anew each time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import NamedTuple, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset

from namer_edge_runtime.formula.nodes import to_nodes, to_tokens
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.planes import stroke_planes
from namer_edge_runtime.ink.render import draw
from namer_edge_runtime.preprocessing import CELL, STRIDE, Preprocessing, planes

from .augment import Augmentation, Placed, ScaledInk, place
from .field_augmentation import FieldSample, field_sample
from .formula import Formula
from .picture_augmentation import PlacedPicture, place_picture
from .scan_augmentation import scanned
from .symbols import OOV
from .synthesis import Synthesis, SynthesisOptions
from .writing import rewritten

UNKNOWN = -1
"""Class of an out-of-vocabulary sign."""


@dataclass(frozen=True)
class LabelPath:
    """The path of a formula through its nodes, L of them, without <sos> and <eos>."""

    classes: NDArray[np.int64]
    """[L] node classes; `}` is `Vocabulary.end`, an out-of-vocabulary sign `UNKNOWN`."""
    parents: NDArray[np.int64]
    """[L] place of the relation that a `}` ends, -1 for visual nodes."""
    endings: NDArray[np.int64]
    """[L] which of its relation's endings a `}` is, from 1; 0 for visual nodes."""

    @classmethod
    def of(cls, tokens: Sequence[str], vocabulary: Vocabulary) -> "LabelPath":
        nodes = to_nodes(tokens, vocabulary)
        return cls(
            np.array(
                [UNKNOWN if n.token == OOV else vocabulary.id(n.token) for n in nodes],
                np.int64,
            ),
            np.array([node.parent for node in nodes], np.int64),
            np.array([node.ending for node in nodes], np.int64),
        )

    @property
    def visual(self) -> NDArray[np.intp]:
        """[V] places of the visual nodes in the path."""
        return np.flatnonzero(self.endings == 0)

    def names(self, vocabulary: Vocabulary) -> list[str]:
        """The token of each node."""
        classes = self.classes.tolist()
        return [OOV if c == UNKNOWN else vocabulary.token(c) for c in classes]

    def tokens(self, vocabulary: Vocabulary) -> list[str]:
        """The canonical label."""
        return to_tokens(self.names(vocabulary), vocabulary)


@dataclass(frozen=True)
class Batch:
    """B pictures of one size with labels and positions."""

    images: torch.Tensor
    """uint8 [B, input planes, H, W], ink 255 on 0."""
    sizes: list[tuple[int, int]]
    """Height and width of each picture (pixels, multiples of 16), without the padding to its right
    and below."""
    cells: list[NDArray[np.int64]]
    """For each picture [V, 2] (row, column) on the H/8 grid: the position estimates T."""
    labels: list[LabelPath]

    def pin_memory(self) -> "Batch":
        """This batch in memory that a GPU copies from while it computes; torch calls it."""
        return replace(self, images=self.images.pin_memory())

    def parts(self, pixels: int) -> list["Batch"]:
        """The batch in parts of so many pixels at most, padding included, or of one picture; whole
        for 0."""
        height, width = self.images.shape[-2:]
        count = max(1, pixels // (height * width)) if pixels else len(self.labels)
        if count >= len(self.labels):
            return [self]
        return [
            Batch(*(getattr(self, field.name)[i : i + count] for field in fields(self)))
            for i in range(0, len(self.labels), count)
        ]

    @property
    def mask(self) -> torch.Tensor | None:
        """[B, 1, H/16, W/16], 1 on the pictures and 0 on padding; None without padding."""
        _, _, height, width = self.images.shape
        if all(size == (height, width) for size in self.sizes):
            return None
        mask = torch.zeros(len(self.sizes), 1, height // STRIDE, width // STRIDE)
        for row, (h, w) in zip(mask, self.sizes, strict=True):
            row[:, : h // STRIDE, : w // STRIDE] = 1
        return mask


class TrainingSample(NamedTuple):
    """One picture, not yet part of a batch."""

    image: NDArray[np.uint8]
    """[H, W] of the batch, or [H, W, 3] for a picture in color."""
    size: tuple[int, int]
    """The picture's own height and width."""
    cells: NDArray[np.int64]
    """[V, 2] (row, column)."""
    label: LabelPath
    strokes: NDArray[np.uint8] | None = None
    """[STROKE_PLANES, H, W] of the batch; None if hidden."""


class SampleSpec(NamedTuple):
    """One sample of a plan: which formula, by which random numbers, padded to which size."""

    formula: int
    seed: tuple[int, int, int]
    height: int
    width: int


class Unplanned(NamedTuple):
    """A sample whose size is not known yet: which formula, in which run and epoch."""

    formula: int
    seed: int
    epoch: int


class TrainingSet(Dataset[TrainingSample | SampleSpec]):
    """Formulas, of ink or pictures, by `SampleSpec` → `TrainingSample`; by `Unplanned` → its
    `SampleSpec`.

    With augmentation, a picture has its batch's size and the ink a random place in it. Without, it
    has the size that a device gives it, and padding.
    """

    def __init__(
        self,
        formulas: Sequence[Formula],
        vocabulary: Vocabulary,
        preprocessing: Preprocessing,
        augmentation: Augmentation,
        synthesis: SynthesisOptions | None = None,
        symbol_bank: Sequence[Formula] = (),
        labels: Sequence[Sequence[str]] = (),
        strokes_hidden: float = 0.0,
    ) -> None:
        """`strokes_hidden`: share of the ink, except scans, whose stroke planes are 0."""
        self.strokes_hidden = strokes_hidden
        self.formulas, self.vocabulary = formulas, vocabulary
        self.preprocessing, self.augmentation = preprocessing, augmentation
        self.synthesis = Synthesis(
            formulas, vocabulary, synthesis or SynthesisOptions(), symbol_bank, labels
        )
        self._written = [self._prepared(formula) for formula in formulas]

    def __len__(self) -> int:
        return len(self.formulas)

    def _prepared(self, formula: Formula) -> tuple[ScaledInk | None, LabelPath]:
        ink = ScaledInk.of(formula, self.preprocessing) if formula.strokes else None
        return ink, LabelPath.of(formula.tokens, self.vocabulary)

    def _placed(
        self, index: int, rng: np.random.Generator
    ) -> tuple[LabelPath, Placed | PlacedPicture]:
        """Formula `index`, or one synthesized from it, augmented."""
        made = self.synthesis(self.formulas[index], rng)
        written = made is self.formulas[index]
        ink, label = self._written[index] if written else self._prepared(made)
        if ink is None:
            return label, place_picture(made, self.preprocessing, self.augmentation, rng)
        return label, place(ink, self.preprocessing, self.augmentation, rng)

    @overload
    def __getitem__(self, draw_: SampleSpec) -> TrainingSample: ...

    @overload
    def __getitem__(self, draw_: Unplanned) -> SampleSpec: ...

    def __getitem__(self, draw_: SampleSpec | Unplanned) -> TrainingSample | SampleSpec:
        if isinstance(draw_, Unplanned):
            return self.sample_spec(*draw_)
        rng = np.random.default_rng(draw_.seed)
        label, placed = self._placed(draw_.formula, rng)
        batch = (draw_.height, draw_.width)
        size, share = batch, rng.uniform(0, 1, 2)
        if self.augmentation.off:
            size, share = placed.size(self.preprocessing), np.array([0.5, 0.5])
        positions: NDArray[np.floating]
        written: NDArray[np.uint8] | None = None
        if isinstance(placed, PlacedPicture):
            shown = placed.shown(self.preprocessing, batch, size, share)
            image, size, positions = shown.image, shown.size, shown.positions
        else:
            room = np.array([size[1], size[0]]) - 2 * self.preprocessing.margin - placed.extent
            offset = (self.preprocessing.margin + room * share).astype(np.float32)
            strokes = placed.strokes(offset)
            positions = placed.positions + offset
            sample: FieldSample | None = None
            if self.augmentation.field and rng.random() < self.augmentation.field:
                sample = field_sample(strokes, positions, batch, self.preprocessing, rng)
            if sample is not None:
                image, positions = sample.image, sample.positions
            elif self.augmentation.scanned and rng.random() < self.augmentation.scanned:
                image = scanned(strokes, batch, placed.pen_width, self.preprocessing, rng)
            else:
                image = draw(strokes, batch, placed.pen_width)
                if self.preprocessing.stroke_planes and rng.random() >= self.strokes_hidden:
                    if not self.augmentation.off:
                        strokes = rewritten(strokes, rng)
                    written = stroke_planes(strokes, image)
        cells = np.floor(positions[:, ::-1] / CELL).astype(np.int64)
        limits = (size[0] // CELL - 1, size[1] // CELL - 1)
        return TrainingSample(image, size, np.clip(cells, 0, limits), label, written)

    def sample_spec(self, index: int, seed: int, epoch: int) -> SampleSpec:
        """The sample of formula `index` in an epoch, at its own size."""
        key = (seed, epoch, index)
        _, placed = self._placed(index, np.random.default_rng(key))
        return SampleSpec(index, key, *placed.size(self.preprocessing))

    def plan(
        self, epoch: int, batch_size: int, seed: int, ranks: int = 1
    ) -> list[list[SampleSpec]]:
        """Batches of one epoch: every formula once, pictures of like size together, random order.

        The number of batches is a multiple of `ranks`, and each run of `ranks` batches has like
        sizes, so that the steps of all processes take equally long. `seed` and `epoch` determine
        everything, so that a resumed run sees the same batches.
        """
        draws = [self.sample_spec(int(i), seed, epoch) for i in self.order(epoch, seed)]
        return self.arranged(draws, epoch, batch_size, seed, ranks)

    def order(self, epoch: int, seed: int) -> NDArray[np.int64]:
        """All formulas in the order in which an epoch plans them."""
        return np.random.default_rng((seed, epoch)).permutation(len(self.formulas))

    def arranged(
        self, draws: Sequence[SampleSpec], epoch: int, batch_size: int, seed: int, ranks: int = 1
    ) -> list[list[SampleSpec]]:
        """`plan` of an epoch whose samples are planned, in its `order`."""
        rng = np.random.default_rng((seed, epoch))
        rng.permutation(len(draws))  # that of `order`
        draws = sorted(draws, key=lambda d: (d.height, d.width))
        group = batch_size * ranks
        runs = [draws[i : i + group] for i in range(0, len(draws), group)]
        if len(runs) > 1 and len(runs[-1]) < group:
            runs[-1] = draws[-group:]  # repeats formulas so that no batch is small
        batches: list[list[SampleSpec]] = []
        for i in rng.permutation(len(runs)):
            # Fewer formulas than ranks: some come twice.
            run = [runs[i][n % len(runs[i])] for n in range(max(len(runs[i]), ranks))]
            size = (max(d.height for d in run), max(d.width for d in run))
            run = [SampleSpec(d.formula, d.seed, *size) for d in run]
            batches += [run[rank::ranks] for rank in range(ranks)]
        return batches


def loader(training_set: TrainingSet, batches: Sequence[list[SampleSpec]]) -> Iterator[Batch]:
    """Draws planned batches in this process."""
    collate = partial(collated, inputs=training_set.preprocessing.inputs)
    yield from DataLoader(training_set, batch_sampler=batches, collate_fn=collate)


def collated(
    items: list[TrainingSample] | list[SampleSpec], inputs: int
) -> Batch | list[SampleSpec]:
    """Samples as a batch of so many input planes; planned ones as they are."""
    drawn = [item for item in items if isinstance(item, TrainingSample)]
    if not drawn:
        return [item for item in items if isinstance(item, SampleSpec)]
    return Batch(
        torch.from_numpy(np.stack([planes(item.image, inputs, item.strokes) for item in drawn])),
        [item.size for item in drawn],
        [item.cells for item in drawn],
        [item.label for item in drawn],
    )
