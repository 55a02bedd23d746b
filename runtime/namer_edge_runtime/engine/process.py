"""Objects that every process must open for itself."""

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """Opens something once in each process, also after a fork, which copies it without the threads
    that work for it."""

    def __init__(self, open_: Callable[[], T]) -> None:
        self._open = open_
        self._opened: dict[int, T] = {}
        self._locks: dict[int, threading.Lock] = {}

    def __call__(self) -> T:
        """Returns the object of this process. Each process has its own lock, since a fork may copy
        one that another thread holds."""
        process = os.getpid()
        with self._locks.setdefault(process, threading.Lock()):
            if process not in self._opened:
                self._opened[process] = self._open()
        return self._opened[process]
