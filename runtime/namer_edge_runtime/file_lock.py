"""Locks on files, which the system releases when their process ends, however it ends."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .errors import UsageError

LOCKED_BYTE = 1 << 40
"""Where Windows, which locks bytes instead of files, locks one far behind all content."""


def lock(file: IO[bytes], path: Path) -> bool:
    """Locks a file that was opened at `path` until it is closed.

    False where somebody else has locked it, or has just removed it.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            place = file.tell()
            file.seek(LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            file.seek(place)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Keeps `folder` for this process; raises `UsageError` where another one writes into it."""
    path = folder / ".lock"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("ab") as file:
            if not lock(file, path):
                raise UsageError(
                    f"another run writes into {folder}: wait for it, or give another folder"
                )
            try:
                yield
            finally:
                with suppress(OSError):  # Windows removes no open file; an empty one does no harm
                    path.unlink()
    finally:
        with suppress(OSError):  # a folder that nothing was written into
            folder.rmdir()
