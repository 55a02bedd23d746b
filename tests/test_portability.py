"""What would run on Linux alone, or in one locale alone, as far as the source tells."""

import ast
from collections.abc import Iterator
from pathlib import Path

from .test_architecture import MODULES

ONE_SYSTEM = {"fcntl", "resource", "pwd", "grp", "termios", "msvcrt", "winreg"}
"""Modules that not every system has."""
RUN = ("run", "Popen", "check_output")


def without_encoding(call: ast.Call) -> bool:
    """Whether text is read or written in the encoding of the locale, another one on Windows."""
    method = isinstance(call.func, ast.Attribute)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = {keyword.arg for keyword in call.keywords}
    if name in RUN:
        return "text" in given and "encoding" not in given
    if name in ("read_text", "write_text"):
        return "encoding" not in given and len(call.args) <= (name == "write_text")
    if name != "open" or "encoding" in given:
        return False
    modes = [*call.args[0 if method else 1 :], *(k.value for k in call.keywords if k.arg == "mode")]
    if not modes:  # a path's own; `Something.open()` of other classes has arguments or a capital
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        return not method or (isinstance(owner, ast.Name) and owner.id.islower())
    first = modes[0]
    return isinstance(first, ast.Constant) and str(first.value) in ("r", "w", "a", "x", "rt", "wt")


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in MODULES.values():
        yield path, ast.parse(path.read_text("utf-8"))


def test_text_has_an_encoding() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and without_encoding(node)
    ]
    assert found == []


def test_what_one_system_has_is_imported_where_it_is_needed() -> None:
    for path, tree in trees():
        for node in tree.body:
            if isinstance(node, ast.Import):
                assert not ONE_SYSTEM & {alias.name for alias in node.names}, path
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in ONE_SYSTEM, path
