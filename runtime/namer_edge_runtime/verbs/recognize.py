"""`namer-edge recognize`: pictures and ink to LaTeX."""

import argparse
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from .options import (
    STANDARD_OUTPUT,
    add_recognizer_options,
    check_writable,
    open_recognizer,
    recognizer_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..bulk import Outcome, Source
    from ..recognizer import Recognizer
    from .output import Output

SUMMARY = "read formulas from pictures or pen strokes and print their LaTeX"

EPILOG = """\
Prints `name TAB latex`, a line for each input. Inputs that cannot be read are passed over and named
at the end, on standard error. Exit code: 0 all read (a blank page is read as nothing), 1 some
inputs failed, 2 wrong usage, 3 an extra or a device is missing.

A file of --jsonl appears whole, when all is read; until then OUT.journal beside it holds what is
done, and the same command with --resume goes on from there. With --ray nothing else changes: the
order is that of the inputs, and what a worker that died had in hand is read again by another.
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
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with what a stopped run left beside the file of --jsonl",
    )
    parser.add_argument(
        "--ray",
        action="store_true",
        help="spread the work over a Ray cluster (RAY_ADDRESS), or over the CPUs of this machine",
    )
    parser.add_argument(
        "--show-steps",
        metavar="PNG",
        help="of a single input, what preparation does to it, step by step, as a picture",
    )


def run(arguments: argparse.Namespace) -> int:
    """Raises the typed errors of model and engine; those of inputs are named at the end."""
    import sys

    from ..bulk import recognize_all
    from ..errors import UsageError

    target = arguments.jsonl
    if arguments.resume and target in (None, STANDARD_OUTPUT):
        raise UsageError("--resume goes on with a file: name it with --jsonl")
    if arguments.ray and arguments.show_steps:
        raise UsageError("--show-steps shows one input, which needs no --ray")
    check_writable(target)
    # Lines that appear on the terminal show the progress themselves.
    to_terminal = target in (None, STANDARD_OUTPUT) and sys.stdout.isatty()
    failures: list[str] = []
    inputs = _sources(arguments.paths)
    if arguments.ray:
        from ..ray_bulk import recognize_on_ray

        reader = partial(recognize_on_ray, recognizer_options(arguments))
    else:
        recognizer = open_recognizer(arguments)
        reader = partial(recognize_all, recognizer)
        if arguments.show_steps:
            inputs = _shown(inputs, recognizer, arguments.show_steps)
    with _output(arguments) as output:
        outcomes = reader(output.fresh(inputs), arguments.batch_size)
        for outcome in outcomes if to_terminal else _with_bar(outcomes, arguments.paths):
            if outcome.message:
                failures.append(outcome.message)
            output.add(outcome)
        output.finish()
        total = output.total
    if failures:
        if total > 1:
            print(f"namer-edge: {len(failures)} of {total} inputs failed:", file=sys.stderr)
        for message in failures:
            print(f"namer-edge: error: {message}", file=sys.stderr)
    return 1 if failures else 0


def _sources(paths: list[str]) -> "Iterator[Source]":
    """Inputs behind all paths; a path that cannot be opened is an input that failed."""
    from ..bulk import Source, sources
    from ..errors import DataError

    for path in paths:
        try:
            yield from sources([path])
        except DataError as error:
            yield Source(path, error=error)


def _shown(inputs: "Iterator[Source]", recognizer: "Recognizer", target: str) -> "Iterator[Source]":
    """The single input again, its preparation in a file; raises `UsageError` for more inputs."""
    from pathlib import Path

    from ..errors import NamerEdgeError, UsageError
    from ..inputs import open_input
    from ..picture.steps import Steps

    check_writable(target)
    found = list(islice(inputs, 2))
    if len(found) > 1:
        raise UsageError("--show-steps shows one input: give a single picture or InkML file")
    steps = Steps()
    for source in found:
        if source.error is None:
            with suppress(NamerEdgeError):  # recognition says what is wrong with the input
                open_input(source.value).prepare(recognizer.look, steps)
    if steps.taken:
        steps.save(Path(target))
    return iter(found)


def _with_bar(outcomes: "Iterator[Outcome]", paths: list[str]) -> "Iterator[Outcome]":
    """A progress bar on standard error, where that is a terminal and there is much to do."""
    import sys

    if not sys.stderr.isatty():
        return outcomes
    from tqdm import tqdm

    from ..bulk import count

    total = count(paths)
    return iter(tqdm(outcomes, total=total, unit="input", disable=total < 2))


def _output(arguments: argparse.Namespace) -> "Output":
    """Where outcomes go: lines on standard output, or a journal that becomes the file."""
    from pathlib import Path

    from ..journal import Journal
    from ..model_file import ModelFile
    from .output import JournalOutput, Output

    if arguments.jsonl in (None, STANDARD_OUTPUT):
        return Output(as_json=arguments.jsonl is not None)
    model = ModelFile.open(arguments.model)
    made_by = {
        "journal": 1,
        "model": [part.sha256 for part in model.parts.values()],
        "one_look": arguments.one_look,
    }
    return JournalOutput(Journal(Path(arguments.jsonl), made_by, arguments.resume))
