"""Grouping of inputs into batches, and how far ahead inputs are opened."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ..preprocessing import Prepared

T = TypeVar("T")

WINDOW = 8
"""Batches looked ahead, so that pictures of one padded size find each other."""
MAX_OPEN_PIXELS = 1 << 25
"""Pixels of open pictures beyond which no further picture is opened."""


def by_padded_size(
    items: Iterable[T], batch_size: int, prepared: Callable[[T], Prepared]
) -> Iterator[list[T]]:
    """Batches of at most `batch_size` items whose prepared pictures have one padded size.

    Each item is in exactly one batch; a full batch is yielded at once, the others at the end.
    """
    waiting: dict[tuple[int, ...], list[T]] = {}
    for item in items:
        size = prepared(item).image.shape
        batch = waiting.setdefault(size, [])
        batch.append(item)
        if len(batch) == batch_size:
            yield waiting.pop(size)
    yield from waiting.values()
