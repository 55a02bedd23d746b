"""A small wrapper round `numba.njit`: compiled at the first call, cached on disk where possible.

`@kernel(plain=twin)` makes the function that Python calls, `@part` a function that only kernels of
the *same file* call: Numba's disk cache notices a change of the kernel's own file and of no other,
so a part elsewhere would leave stale machine code behind.

- Nothing is compiled at import, only at the first call. Each kernel is called with one signature
  (see `plain_array`), so one compile, or one hit in the cache, is all there ever is.
- The cache lies beside the source, in the user's cache folder, or in `NUMBA_CACHE_DIR`. Where none
  of these can be written (read-only site-packages and HOME), or where the cache turns out unusable
  during a call (full disk, truncated file), the kernel is compiled for this process alone.
- Where Numba is missing or broken the plain twin stands in: the same answers, slower, and one
  warning for the whole process.

Kernels are pure: arrays and numbers in, fresh arrays out, no Python objects. That makes the second
try after a failed one safe, and lets threads run them at the same time (`nogil`).
"""

import warnings
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

P = ParamSpec("P")
R = TypeVar("R")

_numba: Any
try:
    import numba as _numba

    _missing = ""
except Exception as error:  # a broken llvmlite or an unknown NumPy raises more than ImportError
    _numba = None
    _missing = f"{type(error).__name__}: {error}"

_warned = False
_kernels: "list[Kernel[..., Any]]" = []


class Kernel(Generic[P, R]):
    """A compiled function and its plain twin behind one call."""

    def __init__(self, function: Callable[P, R], plain: Callable[P, R]) -> None:
        self.function = function
        self.plain = plain
        self._compiled: Callable[P, R] | None = None
        self._cached: Callable[P, R] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        compiled = self._compiled
        if compiled is None:
            compiled = self._first_call()
        try:
            return compiled(*args, **kwargs)
        except Exception:
            if compiled is not self._cached:
                raise
            # The cache could not be read or written after all; a real fault shows up again below.
            self._compiled = compiled = _numba.njit(self.function, nogil=True)
            return compiled(*args, **kwargs)

    @property
    def compiles(self) -> bool:
        """Whether calls run compiled code rather than the plain twin."""
        return _numba is not None

    @property
    def cache_hits(self) -> int:
        """How many signatures were loaded from disk instead of being compiled."""
        statistics = getattr(self._compiled, "stats", None)
        return sum(statistics.cache_hits.values()) if statistics is not None else 0

    def _first_call(self) -> Callable[P, R]:
        compiled = self.plain
        if _numba is None:
            _warn_once()
        else:
            try:
                compiled = self._cached = _numba.njit(self.function, nogil=True, cache=True)
            except RuntimeError:  # no folder that the cache could live in
                compiled = _numba.njit(self.function, nogil=True)
        self._compiled = compiled
        return compiled


def kernel(*, plain: Callable[P, R]) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Decorates a function that Python calls; `plain` gives the same answers without Numba."""

    def decorate(function: Callable[P, R]) -> Kernel[P, R]:
        made = Kernel(function, plain)
        _kernels.append(made)
        return made

    return decorate


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function that kernels of its own file call; it ends up inside their code."""
    return function if _numba is None else _numba.njit(function)


def plain_array(values: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """The values as an aligned, writable, C-ordered array: the one kind that kernels are built for.

    Numba compiles anew for every layout, and for read-only arrays; copies only where it must.
    """
    return np.require(values, dtype, ["C", "A", "W"])


def kernels() -> "tuple[Kernel[..., Any], ...]":
    """All kernels of the modules imported so far."""
    return tuple(_kernels)


def _warn_once() -> None:
    global _warned  # noqa: PLW0603 (one warning for the process, whatever the caller's filters)
    if not _warned:
        _warned = True
        warnings.warn(
            f"Numba cannot be used ({_missing}): token picking and path selection run in plain "
            "Python, with the same results but slower. Install numba to compile them.",
            RuntimeWarning,
            stacklevel=4,
        )
