"""Kernels: functions that Numba compiles, each with a plain Python twin that gives the same answer.

`@kernel(plain=twin)` makes a function that Python calls, `@part` one that kernels call.

- Nobody waits for a compiler. The first call hands the kernel to a thread (`Builder`), which loads
  it from the disk cache or compiles it, and until it is ready the twin serves. Numba itself, a
  fifth of a second to import, is imported by that thread too.
- Each kernel is called with one signature (see `plain_array`), so it is built once.
- The cache lies beside the source, in the user's cache folder, or in `NUMBA_CACHE_DIR`. Where none
  of these can be written (read-only site-packages and HOME), or where it turns out unusable (full
  disk, truncated file), the kernel is compiled for this process alone. Numba itself would notice a
  change only by size and date of the kernel's own file, and files out of a wheel all have the same
  date: so names in the cache carry a hash of the sources.
- Where Numba is missing or broken the twins go on serving, with one warning for the process.

Kernels are pure: arrays and numbers in, fresh arrays out, no Python objects. So twin and kernel can
change places between two calls, and threads run them at the same time (`nogil`).
"""

import hashlib
import importlib.util
import logging
import os
import threading
import warnings
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

P = ParamSpec("P")
R = TypeVar("R")

# Before a fork all hooks are called, the last registered first. That of `logging`, which Numba
# uses, must come after that of `Builder`: so `logging` is imported before it.
logger = logging.getLogger("namer_edge_runtime")
logger.addHandler(logging.NullHandler())


class Kernel(Generic[P, R]):
    """A compiled function and its plain twin behind one call; takes positional arguments only."""

    def __init__(
        self, function: Callable[P, R], plain: Callable[P, R], is_heavy: Callable[P, bool]
    ) -> None:
        self.function = function
        self.plain = plain
        self._is_heavy = is_heavy
        self._compiled: Callable[P, R] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._compiled is not None:
            return self._compiled(*args, **kwargs)
        builder.order(self, args)
        if self._is_heavy(*args, **kwargs):
            builder.wait()
            if self._compiled is not None:
                return self._compiled(*args, **kwargs)
        return self.plain(*args, **kwargs)

    @property
    def compiled(self) -> bool:
        """Whether calls run compiled code by now."""
        return self._compiled is not None

    @property
    def cache_folder(self) -> str | None:
        """Folder of the disk cache; None where there is none, or before compiling."""
        return getattr(getattr(self._compiled, "stats", None), "cache_path", None)

    @property
    def cache_hits(self) -> int:
        """Count of signatures loaded from disk instead of compiled."""
        statistics = getattr(self._compiled, "stats", None)
        return sum(statistics.cache_hits.values()) if statistics is not None else 0

    def build(self, numba: Any, args: tuple[Any, ...], stamp: str) -> None:
        """Compiles it for arguments of these types, or loads it; raises what Numba raises."""
        if numba.config.DISABLE_JIT:
            self._compiled = self.function
            return
        signature = tuple(map(numba.typeof, args))
        name = self.function.__name__
        self.function.__qualname__ = f"{name}-{stamp}"
        try:
            compiled = numba.njit(self.function, nogil=True, cache=True)
            compiled.compile(signature)
        except Exception:  # no folder for the cache, or one that cannot be read or written
            compiled = numba.njit(self.function, nogil=True)
            compiled.compile(signature)
        self._compiled = compiled


class Builder:
    """The thread that makes kernels ready, one after the other, and then ends.

    A fork waits until the kernel in hand is done, since a child would inherit Numba's locks without
    the thread that holds them; the end of the program waits no longer than that either.
    """

    def __init__(self) -> None:
        self.problem = ""
        """Why Numba cannot be used, if so."""
        self._warned = False
        self._numba: Any = None
        self._stamp = ""
        self._reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._pause,
                after_in_parent=self._go_on,
                after_in_child=self._reset,
            )

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._orders: deque[tuple[Kernel[..., Any], tuple[Any, ...]]] = deque()
        self._ordered: set[Kernel[..., Any]] = set()
        self._thread: threading.Thread | None = None

    def _pause(self) -> None:
        self._working.acquire()

    def _go_on(self) -> None:
        self._working.release()

    def order(self, kernel: "Kernel[..., Any]", args: tuple[Any, ...]) -> None:
        """Has the kernel built for arguments like these; does nothing where that is on its way."""
        with self._lock:
            if kernel not in self._ordered:
                self._ordered.add(kernel)
                if self._numba is None and importlib.util.find_spec("numba") is None:
                    self.problem = "it is not installed"
                if not self.problem:
                    self._orders.append((kernel, args))
                    self._start()
        if self.problem and not self._warned:
            self._warned = True
            warnings.warn(
                f"Numba cannot be used ({self.problem}): token picking and path selection run in "
                "plain Python, with the same results but slower. Install numba to compile them.",
                RuntimeWarning,
                stacklevel=4,
            )

    def wait(self) -> None:
        """Returns when all that was ordered is ready, or cannot be."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def _start(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="namer-edge kernels")
            try:
                thread.start()
            except RuntimeError:  # the program is ending: the twins will do
                return
            self._thread = thread

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._orders or not threading.main_thread().is_alive():
                    self._thread = None
                    return
                kernel, args = self._orders.popleft()
            with self._working:
                started = perf_counter()
                try:
                    kernel.build(self._imported(), args, self._stamp)
                    milliseconds = (perf_counter() - started) * 1000
                    logger.debug("kernel %s: %.0f ms", kernel.function.__name__, milliseconds)
                except Exception as error:  # a broken llvmlite raises more than ImportError
                    self.problem = f"{type(error).__name__}: {error}"

    def _imported(self) -> Any:
        if self._numba is None:
            import numba
            from numba.extending import register_jitable

            for function in _parts:
                register_jitable(function)
            self._stamp = _hash_of_sources()
            self._numba = numba
        return self._numba


_kernels: "list[Kernel[..., Any]]" = []
_parts: list[Callable[..., Any]] = []
builder = Builder()


def kernel(
    *, plain: Callable[P, R], is_heavy: Callable[P, bool] = lambda *args, **kwargs: False
) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Decorates a function that Python calls; `plain` gives the same answers without Numba.

    Calls for which `is_heavy` holds wait for the compiled code: the plain twin would take longer.
    """

    def decorate(function: Callable[P, R]) -> Kernel[P, R]:
        made = Kernel(function, plain, is_heavy)
        _kernels.append(made)
        return made

    return decorate


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function that kernels call; it ends up inside their code."""
    _parts.append(function)
    return function


def plain_array(values: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """The values as an aligned, writable, C-ordered array: the one kind that kernels are built for.

    Numba compiles anew for every layout, and for read-only arrays; copies only where it must.
    """
    if isinstance(values, np.ndarray) and values.dtype == dtype and values.flags.carray:
        return values  # as `require` would find, at a tenth of its time
    return np.require(values, dtype, ["C", "A", "W"])


def kernels() -> "tuple[Kernel[..., Any], ...]":
    """All kernels of the modules imported so far."""
    return tuple(_kernels)


def _hash_of_sources() -> str:
    """Hashes all files with kernels and parts; none where the code lies in an archive."""
    functions = [*_parts, *(kernel.function for kernel in _kernels)]
    whole = hashlib.sha256()
    for file in sorted({function.__code__.co_filename for function in functions}):
        if Path(file).is_file():
            whole.update(Path(file).read_bytes())
    return whole.hexdigest()[:12]
