"""A heap of numbered things, best first: those with higher keys, of equals the lower number.

Compiled into the kernels that use it. Where only the best few of many are wanted, as edges that
come back until `<eos>` is reachable, it does less than sorting, and it needs no memory of its own.
"""

import numpy as np
from numpy.typing import NDArray

from .jit import part


@part
def heapify(heap: NDArray[np.int64], count: int, keys: NDArray[np.float64]) -> None:
    """Makes a heap of the first `count` numbers; `keys[n]` is the key of number n."""
    for start in range(count // 2 - 1, -1, -1):
        sink(heap, count, start, keys)


@part
def take(heap: NDArray[np.int64], count: int, keys: NDArray[np.float64]) -> int:
    """Takes the best of `count` numbers out; the first `count` - 1 are the heap afterwards."""
    best = heap[0]
    heap[0] = heap[count - 1]
    sink(heap, count - 1, 0, keys)
    return best


@part
def sink(heap: NDArray[np.int64], count: int, place: int, keys: NDArray[np.float64]) -> None:
    """Lets the number at `place` change with its best child until it is the better one."""
    number = heap[place]
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        if child + 1 < count and _before(heap[child + 1], heap[child], keys):
            child += 1
        if not _before(heap[child], number, keys):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = number


@part
def _before(one: int, other: int, keys: NDArray[np.float64]) -> bool:
    return keys[one] > keys[other] or (keys[one] == keys[other] and one < other)
