"""Output files of the command line: what may not be overwritten, and how text is written."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from .atomic import atomic_file, replaceable
from .errors import UsageError

STANDARD_OUTPUT = "-"


def check_writable(target: str | None) -> None:
    """Raises `UsageError` for an output file that cannot be made, before the work begins."""
    if target is None or target == STANDARD_OUTPUT:
        return
    place, folder = replaceable(Path(target)).parent, Path(target).parent
    if not place.is_dir():
        raise UsageError(f"cannot write {target}: there is no folder {folder}; make it first")
    if not os.access(place, os.W_OK):
        raise UsageError(f"cannot write {target}: nothing may be written in {folder}")


def check_other(target: Path | None, inputs: Iterable[Path | None]) -> None:
    """Raises `UsageError` for an output that would take the place of an input, or of a picture or
    ink in a folder that is one."""
    from .bulk.input_files import KNOWN

    if target is None:
        return
    place = Path(os.path.realpath(target))
    read = {Path(os.path.realpath(path)) for path in inputs if path}
    # Names that differ in case alone are one file on macOS and Windows.
    same = place.exists() and any(path.exists() and place.samefile(path) for path in read)
    inside = read & set(place.parents) and place.suffix.lower() in KNOWN and place.exists()
    if same or place in read or inside:
        raise UsageError(f"{target} is read, and would be lost: give another name for the output")


def check_outputs(targets: Sequence[str | None], inputs: Iterable[str | Path | None]) -> None:
    """Raises `UsageError` for output files that cannot be made, that would take the place of an
    input or of one another, before the work begins; `-` is standard output, or standard input."""
    files = [Path(target) for target in targets if target not in (None, STANDARD_OUTPUT)]
    read = [Path(path) for path in inputs if path is not None]
    for file in files:
        check_writable(str(file))
        check_other(file, read)
    if len({os.path.normcase(os.path.realpath(file)) for file in files}) < len(files):
        raise UsageError("two outputs have one name, and one would be lost: give each its own")


def write_text(target: str, text: str) -> None:
    """Writes to standard output, or to a file that appears whole or not at all."""
    if target == STANDARD_OUTPUT:
        print(text, end="")
        return
    with atomic_file(Path(target), "w") as file:
        file.write(text)
