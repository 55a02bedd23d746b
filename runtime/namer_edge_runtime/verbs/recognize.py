"""`namer-edge recognize`: pictures and ink to LaTeX."""

import argparse
from typing import TYPE_CHECKING

from .options import STANDARD_OUTPUT, add_recognizer_options, check_writable, open_recognizer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import IO

    from ..bulk import Outcome, Source

SUMMARY = "read formulas from pictures or pen strokes and print their LaTeX"

EPILOG = """\
Prints `name TAB latex`, a line for each input. Inputs that cannot be read are passed over and named
at the end, on standard error. Exit code: 0 all read (a blank page is read as nothing), 1 some
inputs failed, 2 wrong usage, 3 an extra or a device is missing.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="a picture, an InkML file, a folder or zip of either, or - for standard input",
    )
    add_recognizer_options(parser)
    parser.add_argument(
        "--jsonl",
        metavar="OUT",
        help="one JSON object a line, in input order, into this file, or - for standard output",
    )


def run(arguments: argparse.Namespace) -> int:
    """Raises the typed errors of model and engine; those of inputs are named at the end."""
    import json
    import sys

    from ..bulk import recognize_all
    from ..result import Result

    target = arguments.jsonl
    failures: list[str] = []
    total = 0
    with _opened(target) as output:
        recognizer = open_recognizer(arguments)
        inputs = _sources(arguments.paths)
        # Lines that appear on the terminal show the progress themselves.
        to_terminal = target in (None, STANDARD_OUTPUT) and sys.stdout.isatty()
        outcomes = recognize_all(recognizer, inputs, arguments.batch_size)
        for outcome in outcomes if to_terminal else _with_bar(outcomes, arguments.paths):
            total += 1
            if outcome.message:
                failures.append(outcome.message)
            if target:
                print(json.dumps(outcome.to_json(), ensure_ascii=False), file=output)
            elif isinstance(outcome.answer, Result):
                print(f"{_one_field(outcome.source)}\t{outcome.answer.latex}", file=output)
        output.flush()
    if failures:
        if total > 1:
            print(f"namer-edge: {len(failures)} of {total} inputs failed:", file=sys.stderr)
        for message in failures:
            print(f"namer-edge: error: {message}", file=sys.stderr)
    return 1 if failures else 0


def _one_field(name: str) -> str:
    """A name that keeps to its column: tabs and line breaks as they would be typed."""
    return name.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _sources(paths: list[str]) -> "Iterator[Source]":
    """Inputs behind all paths; a path that cannot be opened is an input that failed."""
    from ..bulk import Source, sources
    from ..errors import DataError

    for path in paths:
        try:
            yield from sources([path])
        except DataError as error:
            yield Source(path, error=error)


def _with_bar(outcomes: "Iterator[Outcome]", paths: list[str]) -> "Iterator[Outcome]":
    """A progress bar on standard error, where that is a terminal and there is much to do."""
    import sys

    if not sys.stderr.isatty():
        return outcomes
    from tqdm import tqdm

    from ..bulk import count

    total = count(paths)
    return iter(tqdm(outcomes, total=total, unit="input", disable=total < 2))


def _opened(target: str | None) -> "AbstractContextManager[IO[str]]":
    """Standard output, or a file that appears whole when all is read."""
    import sys
    from contextlib import nullcontext
    from pathlib import Path

    from ..atomic import atomic_file

    check_writable(target)
    if target is None or target == STANDARD_OUTPUT:
        return nullcontext(sys.stdout)
    return atomic_file(Path(target), "w")
