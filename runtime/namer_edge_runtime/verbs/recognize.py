"""`namer-edge recognize`: pictures and ink to LaTeX."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..outputs import STANDARD_OUTPUT, check_outputs
from .options import add_recognizer_options, open_recognizer, positive, recognizer_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..bulk.input_files import Source
    from ..bulk.run import Outcome
    from .output import Output

SUMMARY = "read formulas from pictures or pen strokes and print their LaTeX"

EPILOG = """\
Prints `name TAB latex`, a line for each input, with --alternatives a further TAB and formula for
each other reading, and with --scores a TAB and the score behind each formula: how likely it is to
be right, from 0 to 1. A reading under 0.5 is marked with `?` on a terminal; elsewhere standard
error says how many there are. Inputs that cannot be read are passed over and named at the end, on
standard error, among them HEIC, AVIF, PDF and SVG in a folder or zip. Exit code: 0 all read (a
blank page is read as nothing), 1 some inputs failed, 2 wrong usage, 3 an extra or a device is
missing.

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
        "--format",
        metavar="F",
        help="what is printed: latex (the default), spaced (token by token, as labels are), katex, "
        "mathml, mathml-word and omml (for Word), typst, sympy, svg, json (all there is), "
        "label-graph (of CROHME's evaluation tools)",
    )
    parser.add_argument(
        "--alternatives",
        type=positive,
        default=0,
        metavar="K",
        help="up to K other readings of each input, the most probable ones",
    )
    parser.add_argument(
        "--scores",
        action="store_true",
        help="a further column behind each formula: how likely it is to be right, from 0 to 1",
    )
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
    parser.add_argument(
        "--draw",
        metavar="PNG",
        help="of a single input, the tokens that were read and the path through them, over it",
    )


def run(arguments: argparse.Namespace) -> int:
    """Raises the typed errors of model and engine; those of inputs are named at the end."""
    import sys

    from ..result import Result

    format_ = _format(arguments)
    check_outputs((arguments.jsonl, arguments.show_steps, arguments.draw), arguments.paths)
    # Lines that appear on the terminal show the progress themselves.
    to_terminal = arguments.jsonl in (None, STANDARD_OUTPUT) and sys.stdout.isatty()
    failures: list[str] = []
    inputs = _sources(arguments.paths)
    if arguments.ray:
        from ..bulk.ray import recognize_on_ray

        reader = partial(recognize_on_ray, recognizer_options(arguments))
    else:
        from ..bulk.run import recognize_all

        recognizer = open_recognizer(arguments)
        reader = partial(recognize_all, recognizer)
        if arguments.show_steps or arguments.draw:
            from .visualize import draw, show_steps, single

            source = single(inputs)
            inputs = iter([source])
    with _output(arguments, format_) as output:
        outcomes = reader(output.fresh(inputs), arguments.batch_size, arguments.alternatives)
        if not to_terminal:
            outcomes = _with_bar(outcomes, arguments.paths, output.done)
        for outcome in outcomes:
            if outcome.message:
                failures.append(outcome.message)
            output.add(outcome)
            result = outcome.answer if isinstance(outcome.answer, Result) else None
            if arguments.show_steps:
                show_steps(source, result, recognizer.preprocessing, Path(arguments.show_steps))
            if arguments.draw and result is not None:
                draw(source, result, Path(arguments.draw))
        output.finish()
        total, doubtful = output.total, output.doubtful
    if doubtful and not sys.stdout.isatty():
        print(
            f"namer-edge: {doubtful} of {total} readings more likely wrong than right: --scores "
            "shows which",
            file=sys.stderr,
        )
    if failures:
        if total > 1:
            print(f"namer-edge: {len(failures)} of {total} inputs failed:", file=sys.stderr)
        for message in failures:
            print(f"namer-edge: error: {message}", file=sys.stderr)
    return 1 if failures else 0


def _sources(paths: list[str]) -> "Iterator[Source]":
    """Inputs behind all paths; a path that cannot be opened is an input that failed."""
    from ..bulk.input_files import Source, sources
    from ..errors import DataError

    for path in paths:
        try:
            yield from sources([path])
        except DataError as error:
            yield Source(path, error=error)


def _with_bar(outcomes: "Iterator[Outcome]", paths: list[str], done: int) -> "Iterator[Outcome]":
    """A progress bar on standard error, where that is a terminal and there is much to do.

    It starts from the inputs that an earlier run has `done`.
    """
    import sys

    if not sys.stderr.isatty():
        return outcomes
    from tqdm import tqdm

    from ..bulk.input_files import count

    total = count(paths)
    done = min(done, total)
    return iter(tqdm(outcomes, total=total, initial=done, unit="input", disable=total < 2))


def _format(arguments: argparse.Namespace) -> str:
    """Chooses the output; raises `UsageError` for options that do not go together."""
    from ..errors import UsageError
    from .output import COLUMNS, FORMATS, JSON, LABEL_GRAPH

    asked, target = arguments.format, arguments.jsonl
    if arguments.resume and target in (None, STANDARD_OUTPUT):
        raise UsageError("--resume goes on with a file: name it with --jsonl")
    if arguments.ray and (arguments.show_steps or arguments.draw):
        raise UsageError("--show-steps and --draw show one input, which needs no --ray")
    if STANDARD_OUTPUT in (arguments.show_steps, arguments.draw):
        raise UsageError("--show-steps and --draw write a PNG file: give its name")
    for option, name in (("--show-steps", arguments.show_steps), ("--draw", arguments.draw)):
        if name and Path(name).suffix.lower() not in ("", ".png"):
            raise UsageError(f"{option} {name}: a PNG file is written: end its name in .png")
    if asked not in (None, *FORMATS):
        raise UsageError(f"no format {asked!r}: there are {', '.join(FORMATS)}")
    if target is not None and asked not in (None, JSON):
        raise UsageError(f"--jsonl writes JSON, not {asked}: leave out one of the two")
    if arguments.scores and (target is not None or asked in (JSON, LABEL_GRAPH)):
        raise UsageError(f"--scores adds to {', '.join(COLUMNS)}; JSON and graphs have them anyway")
    if asked == LABEL_GRAPH and arguments.alternatives:
        raise UsageError(f"--alternatives come as {', '.join(COLUMNS)} or {JSON}, not as graphs")
    return asked or ("latex" if target is None else JSON)


def _output(arguments: argparse.Namespace, format_: str) -> "Output":
    """Opens the output: lines on standard output, or a journal that becomes the file."""
    from ..bulk.journal import Journal
    from ..model_file import ModelFile
    from .output import JournalOutput, Output

    if arguments.jsonl in (None, STANDARD_OUTPUT):
        return Output(format_, arguments.scores)
    model = ModelFile.open(arguments.model)
    made_by = {
        "journal": 1,
        "model": [part.sha256 for part in model.parts.values()],
        "one_look": arguments.one_look,
        "alternatives": arguments.alternatives,
        **({"as_picture": True} if arguments.as_picture else {}),
    }
    return JournalOutput(Journal(Path(arguments.jsonl), made_by, arguments.resume))
