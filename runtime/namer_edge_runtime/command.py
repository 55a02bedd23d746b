"""The `namer-edge` command: finds the verb asked for, runs it, turns errors into one clear line.

Verbs are those of `plugins.py` and entry points of other packages in its group: modules with
`SUMMARY`, `configure(parser)` and `run(arguments) -> exit code`, whose heavy imports are inside
`run`. `SUB_VERBS` of a verb names further such modules, asked for by its first argument.

Exit codes: 0 done, 1 some inputs failed, 2 wrong usage or a model that cannot be read, 3 an extra
or a device is missing, 130 interrupted (Ctrl-C).
"""

import argparse
import difflib
import errno
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import EntryPoint
from typing import Any, NoReturn

from .errors import MissingExtraError, NamerEdgeError
from .plugins import VERBS as GROUP
from .plugins import plugins

PROGRAM = "namer-edge"
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code."""
    if getattr(sys, "frozen", False):  # what the demo starts to read with is this program once more
        from multiprocessing import freeze_support

        freeze_support()
    _ready_streams()
    # Decoders speak of damaged pictures on standard error; what is wrong is said by our own line.
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
    return exit_code(PROGRAM, _run, argv)


def exit_code(
    program: str, run: Callable[[list[str]], int | None], argv: Sequence[str] | None = None
) -> int:
    """Has `run` do what the arguments ask (default: the process's) and returns what to exit with,
    every error told in one line; with `--debug` among the arguments errors are raised."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    try:
        try:
            code = run([argument for argument in arguments if argument != "--debug"]) or 0
        except SystemExit as leaving:  # argparse: help shown, or wrong usage
            code = leaving.code if isinstance(leaving.code, int) else 0
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if _is_broken_pipe(error):  # whoever read our output has enough
            _give_up_output()
            return 0
        if debug:
            raise
        message, code = _message_and_exit_code(error)
        if _is_output_full(error):
            message = f"standard output: {message}"
            _give_up_output()
        print(f"{program}: error: {' '.join(message.split())}", file=sys.stderr)
        return code


def _is_broken_pipe(error: Exception) -> bool:
    """Windows calls a pipe that nobody reads an invalid argument."""
    invalid = isinstance(error, OSError) and error.errno == errno.EINVAL and not error.filename
    return isinstance(error, BrokenPipeError) or (sys.platform == "win32" and invalid)


def _is_output_full(error: Exception) -> bool:
    """Whether standard output's disk is full: errors of other files name them."""
    full = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
    return isinstance(error, OSError) and error.errno in full and not error.filename


def _give_up_output() -> None:
    """Redirects standard output to the null device, so that the interpreter's last flush does not
    fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _message_and_exit_code(error: Exception) -> tuple[str, int]:
    """Returns the message for standard error and the exit code."""
    if isinstance(error, ModuleNotFoundError):
        error = MissingExtraError.of(error)
    if isinstance(error, NamerEdgeError):
        # Messages name the argument of the API; a command line has an option for it.
        return str(error).replace("fallback=True", "--fallback"), error.exit_code
    if isinstance(error, OSError):  # a full disk, a folder that may not be read: no fault of ours
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}", 1
    # How the loader of shared libraries says that there is no memory for one.
    unmapped = isinstance(error, ImportError) and "failed to map segment" in str(error)
    if unmapped or isinstance(error, MemoryError):
        return (
            "there is not enough memory: close other programs, or read smaller pictures and fewer "
            "at a time (--batch-size 1)",
            1,
        )
    kind = type(error).__name__
    return f"unexpected {kind}: {error} (--debug shows where; please report it)", 1


def _ready_streams() -> None:
    """Names and JSON come out whole in any locale; bytes that are no text come out escaped. What
    was closed by the caller is there, and leads nowhere."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _run(arguments: list[str]) -> int:
    verbs = plugins(GROUP)
    asked = next((a for a in arguments if not a.startswith("-")), None)
    parser = _parser()
    if asked is None or "--version" in arguments[: arguments.index(asked)]:
        if not {"--version"} & set(arguments):
            parser.epilog = _overview(verbs)
        parser.parse_args(arguments)
        parser.print_help(sys.stderr)
        return 2
    if asked not in verbs:
        hint = _did_you_mean(asked, verbs) or f": there are {', '.join(verbs)}"
        parser.error(f"no verb {asked!r}{hint}")
    place = arguments.index(asked)
    if place:
        parser.error(f"{' '.join(arguments[:place])}: options follow the verb")
    verb, rest = _load(verbs[asked]), arguments[place + 1 :]
    if rest and (module := getattr(verb, "SUB_VERBS", {}).get(rest[0])):
        asked, verb = f"{asked} {rest.pop(0)}", _load(EntryPoint(asked, module, GROUP))
    verb_parser = Parser(f"{PROGRAM} {asked}", description=verb.SUMMARY)
    verb_parser.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    verb.configure(verb_parser)
    return int(verb.run(_parse(verb_parser, rest)))


class Parser(argparse.ArgumentParser):
    """A parser of arguments that asks "did you mean …?" of a misspelled option or choice."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search("^unrecognized arguments: .*?(--[^ =]+)", message)
        known: Iterable[str] = self._options()
        if not wrong:
            wrong = re.search("invalid choice: '(.*?)' ", message)
            known = self._choices()
        super().error(message + (_did_you_mean(wrong[1], known) if wrong else ""))

    def _options(self) -> set[str]:
        """Options of this parser and of those of its verbs."""
        return set(self._option_string_actions).union(*(p._options() for p in self._inner()))

    def _choices(self) -> set[str]:
        lists = [list(map(str, action.choices)) for action in self._actions if action.choices]
        return set().union(*lists, *(parser._choices() for parser in self._inner()))

    def _inner(self) -> list["Parser"]:
        tables = (a.choices for a in self._actions if isinstance(a, argparse._SubParsersAction))
        return [parser for table in tables for parser in table.values()]


def _did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Ends a message with the spelling that comes closest; empty where none is close."""
    close = difflib.get_close_matches(wrong.lower(), list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""


def _parse(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """Options may stand between the arguments of a list, save in a verb with verbs of its own."""
    if "--" in arguments:  # what follows are names, however they begin; argparse mixes these up
        return parser.parse_args(arguments)
    try:
        return parser.parse_intermixed_args(arguments)
    except TypeError:  # argparse's way to say that it cannot with sub-parsers
        return parser.parse_args(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        PROGRAM,
        usage=f"{PROGRAM} VERB …   ({PROGRAM} VERB --help says more)",
        description="Handwritten mathematics to LaTeX.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version)
    parser.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    return parser


class _Version(argparse.Action):
    """Looks the version up only when asked, which `version=` cannot."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from . import __version__

        print(f"{PROGRAM} {__version__}")
        parser.exit()


def _overview(verbs: dict[str, EntryPoint]) -> str:
    width = max(map(len, verbs), default=0)
    lines = [f"  {name:<{width}}  {_summary(point)}" for name, point in verbs.items()]
    return "verbs:\n" + "\n".join(lines)


def _summary(point: EntryPoint) -> str:
    try:
        return str(point.load().SUMMARY)
    except ModuleNotFoundError as error:
        return f"(not installed: {error.name})"


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except ModuleNotFoundError as error:
        raise MissingExtraError.of(error) from error


if __name__ == "__main__":
    sys.exit(main())
