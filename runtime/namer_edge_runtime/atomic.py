"""Files and folders that appear whole or not at all: written beside their place, then renamed.

What a killed process leaves behind is removed by the next write to the same place.
"""

import os
import re
import secrets
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from zlib import crc32

from .errors import UsageError

ABANDONED = 86400.0
"""Seconds without a change after which a leftover is removed whose process cannot be looked up:
that of another machine, or any on Windows."""
SWAP_TRIES = 20
"""Tries of a rename that Windows refuses while another process has the target open."""
_LEFTOVER = re.compile(r"\.(?P<host>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{8}\.(?P<kind>part|old)$")


@contextmanager
def atomic_file(path: Path, mode: str = "wb") -> Iterator[IO]:
    """An open file that replaces `path` when the block ends without an error; where that is a
    link, the file that it leads to.

    `mode` is "wb" or "w" (UTF-8). Raises `UsageError` where nothing can be written at `path`, or
    where it is not a file, `OSError` that names `path` where the disk is full.
    """
    path = replaceable(path)
    _remove_leftovers(path)
    part = _beside(path, "part")
    try:
        with writing(path):
            # The same bytes on all systems: Windows would end lines otherwise.
            binary = "b" in mode
            opened = part.open(
                mode.replace("w", "x"),
                encoding=None if binary else "utf-8",
                newline=None if binary else "\n",
            )
        with naming(path), opened as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with writing(path):
            _swap(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def replaceable(path: Path) -> Path:
    """Resolves symlinks and returns the regular file that may be replaced.

    Raises `UsageError` for folders, devices and pipes, which a rename would destroy, and for an
    open stream under a name of the system (/dev/stdout), which would lose what others write there.
    """
    target = Path(os.path.realpath(path))
    if path.is_symlink() and os.path.abspath(path).startswith(("/dev/", "/proc/")):
        raise UsageError(f"cannot write {path}: it is an open stream; - is standard output")
    if target.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder; give the name of a file")
    if target.exists() and not target.is_file():
        raise UsageError(f"cannot write {path}: it is no file that could be replaced; give another")
    return target


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A new empty folder that replaces `path` when the block ends without an error.

    The caller asks whether the old one may go. Where a process is killed between the two renames
    that replace a folder, the next call puts the old one back first. Raises `UsageError` where no
    folder can be made at `path`, `OSError` that names `path` where the disk is full.
    """
    with scratch_folder(path) as part:
        yield part
        with writing(path):
            if path.exists():
                # A folder cannot be renamed onto one that has files, so the old one steps aside.
                old = _beside(path, "old")
                _swap(path, old)
                try:
                    _swap(part, path)
                except OSError:
                    old.rename(path)
                    raise
                shutil.rmtree(old, ignore_errors=True)
            else:
                _swap(part, path)


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """A new empty folder beside `path` that is gone when the block ends.

    What a killed process leaves of it is removed by the next write to `path`. Raises as
    `atomic_folder`.
    """
    _remove_leftovers(path)
    part = _beside(path, "part")
    with writing(path):
        part.mkdir()
    try:
        with naming(path):
            yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Gives an `OSError` of a write, such as that of a full disk, the name of its file."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns an `OSError` of opening or renaming into a `UsageError` that names the caller's `path`,
    not the temporary file beside it."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror or error}; give a place that may be written to"
        ) from error


def _beside(path: Path, kind: str) -> Path:
    """A name of its own on the same file system, so that the rename is one step; it tells the
    process that writes."""
    return path.with_name(f".{path.name}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.{kind}")


def _swap(part: Path, path: Path) -> None:
    """Renames, patiently on Windows, where nothing that somebody reads can be moved or replaced."""
    for _ in range(SWAP_TRIES if sys.platform == "win32" else 0):
        try:
            part.replace(path)
        except PermissionError:
            time.sleep(0.05)
        else:
            return
    part.replace(path)


def _remove_leftovers(path: Path) -> None:
    """Removes what killed writers of `path` left beside it; puts an old folder back that has no
    successor. Leftovers of processes that live, and of other machines, stay."""
    try:
        beside = [p for p in path.parent.iterdir() if p.name.startswith(f".{path.name}.")]
    except OSError:
        return  # whoever writes there says why it cannot be done
    for leftover in beside:
        found = _LEFTOVER.fullmatch(leftover.name[len(path.name) + 1 :])
        if found is None or not _is_abandoned(leftover, found["host"], int(found["process"])):
            continue
        if found["kind"] == "old" and not path.exists():
            leftover.rename(path)
        elif leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def _is_abandoned(leftover: Path, host: str, process: int) -> bool:
    try:
        idle = time.time() - leftover.stat().st_mtime
    except OSError:
        return False
    if host != _host() or sys.platform == "win32":  # there, signal 0 would end the process
        return idle > ABANDONED
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def _host() -> str:
    """This machine, for names of files that several machines may write beside each other."""
    return f"{crc32(socket.gethostname().encode('utf-8', 'surrogatepass')):08x}"
