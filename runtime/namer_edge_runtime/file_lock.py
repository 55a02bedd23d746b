"""Locks on files, which the system releases when their process ends, however it ends."""

import io
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .atomic import naming, writing
from .errors import UsageError

LOCKED_BYTE = 1 << 40
"""Offset of the byte that is locked on Windows, which locks bytes instead of files: far behind all
content."""


def lock(file: "IO[bytes] | io.FileIO", path: Path) -> bool:
    """Locks a file that was opened for writing at `path` until it is closed.

    False where another process has locked it, or has just removed it. The lock belongs to this
    process alone: children that it has forked do not prolong it. A file system that knows no locks
    refuses nobody.
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

            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        pass  # such as ENOLCK and EOPNOTSUPP of network file systems
    try:  # Windows removes no open file
        return sys.platform == "win32" or os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


@contextmanager
def exclusive(target: Path, is_folder: bool = True) -> Iterator[None]:
    """Reserves a folder, or a file, for this process.

    Raises `UsageError` where another process has it, or where nothing can be written; `OSError`
    that names the lock file where the disk is full.
    """
    path = target / ".lock" if is_folder else target.with_name(f".{target.name}.lock")
    with writing(target):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b", buffering=0)  # closing has nothing left to write that may fail
    with file:
        if not lock(file, path):
            file.seek(0)
            owner = file.readline(200).decode("utf-8", "replace").strip()
            raise UsageError(
                f"another run ({owner or 'of unknown process'}) writes {target}: wait for it, or "
                "give another output"
            )
        try:
            with naming(path):
                file.truncate(0)
                file.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())
            yield
        finally:
            with suppress(OSError):  # Windows removes no open file; a small one does no harm
                path.unlink()
            if is_folder:
                with suppress(OSError):  # a folder that nothing was written into
                    target.rmdir()
