"""What verbs that read formulas have in common: the options of the recognizer, and the output."""

import argparse
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..recognizer import Recognizer

STANDARD_OUTPUT = "-"


def add_recognizer_options(parser: argparse.ArgumentParser) -> None:
    """All that says how a list of inputs is read."""
    add_model_options(parser)
    parser.add_argument("--batch-size", type=positive, default=8, metavar="N", help="%(default)s")


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """`--model`, `--engine`, `--device` and all else that says how one input is read."""
    parser.add_argument("--model", metavar="M", help="name of a packaged model, or the path of one")
    parser.add_argument("--engine", metavar="E", help="default: the one of the model's format")
    parser.add_argument("--device", metavar="D", help="cpu, cuda … (default: the engine's own)")
    parser.add_argument(
        "--fallback",
        action="store_true",
        help="run on the CPU where the device is not there, instead of ending with an error",
    )
    parser.add_argument(
        "--no-tta",
        "--one-look",
        dest="one_look",
        action="store_true",
        help="no test-time augmentation: quicker, and less often right",
    )
    parser.add_argument(
        "--as-picture",
        action="store_true",
        help="draw ink and hide its strokes from the model: it is read as a picture of it would be",
    )
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="default: the CPUs this process may use"
    )
    parser.add_argument("--cache-dir", metavar="DIR", help="OpenVINO: keep compiled graphs there")


def recognizer_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What `Recognizer.from_pretrained` is to be called with."""
    names = ("engine", "device", "threads", "fallback", "cache_dir", "one_look", "as_picture")
    return {"name_or_path": arguments.model, **{n: getattr(arguments, n) for n in names}}


def open_recognizer(arguments: argparse.Namespace) -> "Recognizer":
    """The recognizer that these options ask for; raises as `Recognizer.from_pretrained` does."""
    from ..recognizer import Recognizer

    return Recognizer.from_pretrained(**recognizer_options(arguments))


def as_written(names: Iterable[str]) -> str:
    """Options as a command line has them, by the names that argparse gives their values."""
    return ", ".join(f"--{name.replace('_', '-')}" for name in names)


def positive(text: str) -> int:
    """A whole number from 1 on."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return number


def whole(text: str) -> int:
    """A whole number from 0 on."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


def check_writable(target: str | None) -> None:
    """Raises `UsageError` for an output file that cannot be made, before the work begins."""
    from ..atomic import replaceable
    from ..errors import UsageError

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
    from ..bulk.run import KNOWN
    from ..errors import UsageError

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
    from ..errors import UsageError

    files = [Path(target) for target in targets if target not in (None, STANDARD_OUTPUT)]
    read = [Path(path) for path in inputs if path is not None]
    for file in files:
        check_writable(str(file))
        check_other(file, read)
    if len({os.path.normcase(os.path.realpath(file)) for file in files}) < len(files):
        raise UsageError("two outputs have one name, and one would be lost: give each its own")


def write_text(target: str, text: str) -> None:
    """To standard output, or to a file that appears whole or not at all."""
    if target == STANDARD_OUTPUT:
        print(text, end="")
        return
    from ..atomic import atomic_file

    with atomic_file(Path(target), "w") as file:
        file.write(text)
