"""Options that verbs have in common."""

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..recognizer import Recognizer


def add_recognizer_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say how a list of inputs is read."""
    add_model_options(parser)
    parser.add_argument("--batch-size", type=positive, default=8, metavar="N", help="%(default)s")


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Adds `--model`, `--engine`, `--device` and the other options that say how one input is
    read."""
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
    """Arguments for `Recognizer.from_pretrained`."""
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
