"""Files that appear whole or not at all: written beside their place, then renamed into it."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import UsageError


@contextmanager
def atomic_file(path: Path, mode: str = "wb") -> Iterator[IO]:
    """An open file that takes the place of `path` when the block ends without an error; where
    that is a link, of what it leads to.

    `mode` is "wb" or "w" (UTF-8). Raises `UsageError` where nothing can be written at `path`, or
    where something else than a file is there.
    """
    path = replaceable(path)
    part = _beside(path, "part")
    try:
        with _writing(path):
            opened = part.open(mode.replace("w", "x"), encoding=None if "b" in mode else "utf-8")
        with opened as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _writing(path):
            part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def replaceable(path: Path) -> Path:
    """Where a file of this name lies, links followed; raises `UsageError` for a folder, a device
    and what else is no file, which a rename would take away, and for what the process has open
    under a name of the system (/dev/stdout), which would lose what others write there."""
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
    """A new empty folder that takes the place of `path` when the block ends without an error.

    What was at `path` is gone then: whether it may go is for the caller to ask. Raises
    `UsageError` where no folder can be made at `path`.
    """
    part = _beside(path, "part")
    with _writing(path):
        part.mkdir()
    try:
        yield part
        with _writing(path):
            if path.exists():
                # A folder cannot be renamed onto one that has files, so the old one steps aside.
                old = path.rename(_beside(path, "old"))
                try:
                    part.rename(path)
                except OSError:
                    old.rename(path)
                    raise
                shutil.rmtree(old, ignore_errors=True)
            else:
                part.rename(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """The caller's own name in the error, not that of the file beside it."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror or error}; give a place that may be written to"
        ) from error


def _beside(path: Path, kind: str) -> Path:
    """A name of its own on the same file system, so that the rename is one step."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.{kind}")
