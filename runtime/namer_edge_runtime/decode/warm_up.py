"""Waits until all kernels are compiled or loaded from the disk cache, before speed matters."""

import time
from dataclasses import dataclass

import numpy as np

from .decode import decode
from .jit import builder, kernels
from .pick import pick


@dataclass(frozen=True)
class WarmUp:
    """Cost of making the kernels ready."""

    seconds: float
    kernels: int
    """Count of all kernels."""
    cached: int
    """Count of kernels loaded from the disk cache in this process."""
    compiled: bool
    """False where Numba is missing and the plain twins run instead."""


def warm_up() -> WarmUp:
    """Picks and decodes a tiny formula, and waits for every kernel that this has ordered.

    Without it the first formulas are decoded by the plain twins, at once but more slowly.
    """
    start = time.perf_counter()
    endings = np.zeros(1, np.int8)
    fires = np.ones((1, 1, 1), np.float32)
    nodes = pick(fires, np.zeros((1, 1, 1), np.int32), 0 * fires[0], endings, 1, 2, 3)
    even = np.full((len(nodes), len(nodes)), 1 / len(nodes), np.float32)
    decode(even, even, even, nodes, endings)
    builder.wait()
    return WarmUp(
        seconds=time.perf_counter() - start,
        kernels=len(kernels()),
        cached=sum(kernel.cache_hits for kernel in kernels()),
        compiled=all(kernel.compiled for kernel in kernels()),
    )
