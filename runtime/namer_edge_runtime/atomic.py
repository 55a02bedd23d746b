"""Files that appear whole or not at all: written beside their place, then renamed into it."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def atomic_file(path: Path, mode: str = "wb") -> Iterator[IO]:
    """An open file that takes the place of `path` when the block ends without an error.

    `mode` is "wb" or "w" (UTF-8). Raises `OSError` as `open` does.
    """
    part = _beside(path, "part")
    try:
        with part.open(mode.replace("w", "x"), encoding=None if "b" in mode else "utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A new empty folder that takes the place of `path` when the block ends without an error."""
    part = _beside(path, "part")
    part.mkdir()
    try:
        yield part
        if path.exists():
            # A folder cannot be renamed onto one that has files, so the old one steps aside.
            old = path.rename(_beside(path, "old"))
            part.rename(path)
            shutil.rmtree(old)
        else:
            part.rename(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _beside(path: Path, kind: str) -> Path:
    """A name of its own on the same file system, so that the rename is one step."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.{kind}")
