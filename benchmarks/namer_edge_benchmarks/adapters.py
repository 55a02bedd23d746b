"""How another recognizer is called: a function, a command for each file, or one that stays."""

import importlib
import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from namer_edge_runtime.errors import UsageError

PLACE = "{}"
"""Stands for the path in a command that is started for each file."""
STAYS = "-"
"""Last word of a command that stays: it reads paths from standard input, and answers in lines."""
FORMS = f"module:function, a command with {PLACE}, or one that ends in {STAYS}"

Adapter = Callable[[Path], str]


@contextmanager
def adapter(text: str) -> Iterator[Adapter]:
    """What reads a file as LaTeX, for as long as the context lasts.

    Raises `UsageError` for a text that is no adapter, or names what is not there.
    """
    words = shlex.split(text)
    if PLACE in text:
        yield lambda path: _printed([word.replace(PLACE, str(path)) for word in words])
    elif len(words) > 1 and words[-1] == STAYS:
        with _kept_alive(words) as process:
            yield lambda path: _line(process, path)
    else:
        yield _function(text)


def _function(text: str) -> Adapter:
    module, separator, name = text.partition(":")
    if not separator:
        raise UsageError(f"{text!r}: give {FORMS}")
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{text!r}: {error}") from None
    return lambda path: str(found(path))


def _printed(command: Sequence[str]) -> str:
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=True
    )
    return done.stdout.strip()


@contextmanager
def _kept_alive(words: Sequence[str]) -> Iterator["subprocess.Popen[str]"]:
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
    except OSError as error:
        raise UsageError(f"{words[0]}: cannot be started ({error.strerror})") from None
    try:
        yield process
    finally:
        process.kill()
        process.communicate()  # closes both ends and waits


def _line(process: "subprocess.Popen[str]", path: Path) -> str:
    """Raises `ChildProcessError` where the command has ended, `ValueError` for an empty line."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        print(path, file=process.stdin, flush=True)
        line = process.stdout.readline()
    except BrokenPipeError:
        line = ""
    if not line:
        raise ChildProcessError("the command has ended")
    if not line.strip():
        raise ValueError("it gave no answer")
    return line.strip()
