"""A batch in parts whose gradients add up to its own, each small enough for the device."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..data.batches import Batch


class MicroBatch(NamedTuple):
    """A part of the batch of an update."""

    batch: Batch
    share: float
    """Weight of its loss."""
    place: tuple[int, ...]
    """Which part it is; seeds its random numbers."""
    last: bool


def micro_batches(
    batches: Sequence[Batch], pixels: int, rank: int = 0, ranks: int = 1
) -> Iterator[MicroBatch]:
    """The batches that a process accumulates, those of more than `pixels` (0: any number) in parts.

    Losses are means over the tokens of a part; parts count by their pictures. Parts of one batch
    are normalized by their own statistics where the network has batch normalization, as the batches
    of several processes are.
    """
    for number, batch in enumerate(batches):
        place = (number * ranks + rank,)
        parts = batch.parts(pixels)
        for part, some in enumerate(parts):
            share = len(some.labels) / len(batch.labels) / len(batches)
            last = number + 1 == len(batches) and part + 1 == len(parts)
            yield MicroBatch(some, share, place if len(parts) == 1 else (*place, part), last)
