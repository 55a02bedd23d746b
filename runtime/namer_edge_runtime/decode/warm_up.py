"""Compiles all kernels, or loads them from the disk cache, before the first formula comes."""

import time
from dataclasses import dataclass

import numpy as np

from .decode import decode
from .jit import kernels
from .pick import pick


@dataclass(frozen=True)
class WarmUp:
    """What it took to make the kernels ready."""

    seconds: float
    kernels: int
    """How many there are."""
    cached: int
    """How many have been loaded from the disk cache in this process."""
    compiled: bool
    """False where Numba is missing and the plain twins run instead."""


def warm_up() -> WarmUp:
    """Picks and decodes a tiny formula, which makes every kernel ready for all later calls."""
    start = time.perf_counter()
    endings = np.zeros(1, np.int8)
    fires = np.ones((1, 1, 1), np.float32)
    nodes = pick(fires, np.zeros((1, 1, 1), np.int32), 0 * fires[0], endings, 1, 2, 3)
    even = np.full((len(nodes), len(nodes)), 1 / len(nodes), np.float32)
    decode(even, even, even, nodes, endings)
    seconds = time.perf_counter() - start
    return WarmUp(
        seconds=seconds,
        kernels=len(kernels()),
        cached=sum(kernel.cache_hits for kernel in kernels()),
        compiled=all(kernel.compiles for kernel in kernels()),
    )
