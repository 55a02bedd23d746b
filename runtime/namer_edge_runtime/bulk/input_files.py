"""The inputs behind names: files, folders, zips, pipes and standard input."""

import io
import os
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any

from ..errors import DataError, NamerEdgeError
from ..inputs import LARGEST_FILE, address_hint
from ..picture.foreign import SUFFIXES

STANDARD_INPUT = "-"
INSIDE = "::"
"""Separator between the name of a zip and that of a file in it."""
INK = ".inkml"
KNOWN = frozenset(
    {INK, ".png", ".jpg", ".jpeg", ".jpe", ".bmp", ".dib", ".tif", ".tiff", ".webp", ".gif"}
    | {".jfif", ".jfi", ".jif", ".pjpeg", ".pjp", ".pnm", ".pbm", ".pgm", ".ppm"}
)
"""Suffixes of the files that are read from folders and zips."""
LISTED = KNOWN | SUFFIXES
"""`KNOWN`, and suffixes that users may expect to be read: these inputs fail with an error."""
_OFFICE = "[Content_Types].xml"
"""A member of every Office document, which is a zip."""
_OFFICE_INK = re.compile(r"(word|ppt|xl)/ink/[^/]+\.xml")
"""Pattern of the members of an Office document that are InkML."""
_ZIP = b"PK\x03\x04"


class NamedBytes(bytes):
    """Content of a file that has no path of its own, with the name that messages give it."""

    name: str

    def __new__(cls, data: bytes = b"", name: str = "") -> "NamedBytes":
        named = super().__new__(cls, data)
        named.name = name
        return named


@dataclass(frozen=True)
class Source:
    """One input of a run."""

    name: str
    """The path as given or found, `archive.zip::NAME.inkml` in a zip, `-` for standard input."""
    value: Any = None
    """What the recognizer reads: a path or bytes."""
    error: NamerEdgeError | None = None
    """Error that kept the input from being opened."""


def sources(paths: Iterable[str | Path]) -> Iterator[Source]:
    """The inputs behind each path: a picture, InkML, a folder (searched through), a zip, or `-`.

    Folders and zips give their pictures and InkML in the order of their names; a member of a zip
    that cannot be unpacked comes with its error. Raises `DataError` for a path that is not there,
    is a broken zip, or holds no input at all.
    """
    for path in paths:
        yield from _behind(str(path))


def count(paths: Iterable[str | Path]) -> int:
    """Counts the inputs of `sources` without reading them; a file that cannot be opened is one."""
    total = 0
    for path in map(str, paths):
        try:
            if path == STANDARD_INPUT:
                total += 1
            elif Path(path).is_dir():
                total += len(_inside(path))
            elif Path(path).is_file() and _is_zip(path):
                with zipfile.ZipFile(path) as archive:
                    total += len(_wanted(archive, path))
            else:
                total += 1
        except (DataError, zipfile.BadZipFile, OSError):
            total += 1
    return total


def _behind(path: str) -> Iterator[Source]:
    if path == STANDARD_INPUT:
        yield from _streamed(sys.stdin.buffer, path)
        return
    if not path:
        raise DataError("an empty name: give a picture, an InkML file, a folder or a zip")
    try:
        is_folder, is_there = Path(path).is_dir(), Path(path).exists()
    except (OSError, ValueError) as error:
        raise DataError(_unopened(path, error)) from error
    if is_folder:
        yield from _inside(path)
    elif not is_there:
        raise DataError(
            address_hint(path)
            or f"{path}: not there; give a picture, an InkML file, a folder or a zip"
        )
    elif not Path(path).is_file():  # a pipe, which can be read once
        try:
            with open(path, "rb") as stream:
                yield from _streamed(stream, printable(path))
        except OSError as error:
            raise DataError(_unopened(path, error)) from error
    elif _is_zip(path):
        yield from _members(path, path)
    else:
        yield Source(printable(path), Path(path))


def _streamed(stream: IO[bytes], name: str) -> Iterator[Source]:
    """Yields the content of a stream: one input, or those of a zip."""
    data = stream.read(LARGEST_FILE + 1)
    if data.startswith(_ZIP):
        yield from _members(io.BytesIO(data), name)
    else:
        yield Source(name, NamedBytes(data, name))


def printable(name: str) -> str:
    """The name with bytes that are no text as escapes, so that two names stay two."""
    return name.encode("utf-8", "backslashreplace").decode()


def _unopened(path: str, error: OSError | ValueError) -> str:
    reason = getattr(error, "strerror", None) or error
    return f"{printable(path)}: cannot be opened ({reason})"


def _inside(folder: str) -> list[Source]:
    """Files of a known kind by name, none of the hidden ones that some systems leave behind, and
    the folders that may not be looked into."""
    closed: list[OSError] = []
    found: list[tuple[Path, NamerEdgeError | None]] = []
    for place, _, names in os.walk(folder, onerror=closed.append):
        files = (Path(place, name) for name in names)
        found += [
            (file, None)
            for file in files
            if _is_wanted(file.relative_to(folder))
            and (file.is_file() or not file.exists())  # a link to nothing is told of
        ]
    for error in closed:
        path = Path(str(error.filename or folder))
        found.append((path, DataError(_unopened(str(path), error))))
    if not found:
        raise DataError(f"{folder}: no picture and no InkML in this folder")
    found.sort(key=lambda pair: pair[0].parts)  # paths themselves ignore case on Windows
    return [Source(printable(str(path)), None if error else path, error) for path, error in found]


def _wanted(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    office = _OFFICE in archive.namelist()
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir()
        and (
            _is_wanted(PurePosixPath(member.filename))
            or (office and _OFFICE_INK.fullmatch(member.filename))
        )
    ]
    if not members and office:
        raise DataError(f"{name}: an Office document without a picture or InkML in it")
    if not members:
        raise DataError(f"{name}: no picture and no InkML in this zip")
    return sorted(members, key=lambda member: member.filename)


def _is_wanted(path: PurePath) -> bool:
    return path.suffix.lower() in LISTED and not any(
        part.startswith(".") or part == "__MACOSX" for part in path.parts
    )


def _is_zip(path: str) -> bool:
    if path.lower().endswith(".zip"):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(4) == _ZIP
    except OSError:
        return False  # whoever reads it says why it cannot be read


def _members(file: str | IO[bytes], name: str) -> Iterator[Source]:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(f"{name}: not a readable zip ({error})") from error
    with archive:
        for member in _wanted(archive, name):
            yield _member(archive, member, printable(f"{name}{INSIDE}{member.filename}"))


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Source:
    try:
        with archive.open(member) as stream:
            data = stream.read(LARGEST_FILE + 1)
    except Exception as error:  # zipfile raises many kinds for a damaged or encrypted member
        return Source(name, error=DataError(f"{name}: cannot be unpacked ({error})"))
    return Source(name, NamedBytes(data, name))
