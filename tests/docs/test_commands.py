"""Every command and every Python block of the documentation does what the page says.

All commands go through the real parser; those that are quick are run, on the examples under the
names that the page uses (`scene.py`).
"""

import re
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from namer_edge.training.config import load_config
from namer_edge_export.formats import check_options, find_target
from namer_edge_runtime import command
from namer_edge_runtime.plugins import plugins
from namer_edge_runtime.server.openapi import description
from namer_edge_runtime.server.settings import Settings

from .blocks import ALL, COMMANDS, MENTIONED, Block, Command
from .scene import build

VERBS = plugins(command.GROUP)
OURS = [asked for asked in COMMANDS if asked.verb_line]
OTHERS = [asked for asked in COMMANDS if not asked.verb_line]
PAGE_NAMES = sorted({asked.page for asked in OURS})

ELSEWHERE = {
    ("train",): "takes hours; tests/training",
    ("benchmark",): "measures for minutes; tests/benchmarks",
    ("ablate",): "needs trained rows; tests/ablation",
    ("export",): "takes minutes; tests/export",
    ("teacher-report",): "needs a teacher; tests/explanation",
    ("demo",): "serves until it is stopped; tests/demo",
    ("page",): "fetches the runtime; tests/browser",
    ("check",): "starts each engine anew; tests/runtime",
    ("data", "symbols"): "needs tables of symbols; tests/data",
}
"""First words of what is parsed here and run by other tests, and why."""
PROGRAMS = {
    *("git", "cd", "twine", "docker", "bash", "ray", "activate"),
    *("pre-commit", "pyinstaller", "frozen_app"),
}
"""Others that the pages call; `frozen_app` is the frozen program."""
EASY = ("--dry-run", "--help", "--version")
"""With one of these any verb is quick."""


def is_run(asked: Command) -> bool:
    words = asked.verb_line or []
    if not asked.runs or "--ray" in words:
        return False
    elsewhere = any(tuple(words[: len(first)]) == first for first in ELSEWHERE)
    return not elsewhere or any(word in EASY for word in words)


@pytest.mark.parametrize("asked", OURS, ids=str)
def test_the_parser_takes_every_command(
    asked: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = asked.verb_line
    assert line
    parsed: list[Any] = []
    if line[0] in VERBS:
        verb = VERBS[line[0]].load()
        inner = getattr(verb, "SUB_VERBS", {})
        for word in line[1:2]:
            verb = import_module(inner[word]) if word in inner else verb
        monkeypatch.setattr(verb, "run", lambda arguments: parsed.append(arguments) or 0)
    assert command.main(line) == 0, capsys.readouterr().err
    if any(word in EASY for word in line[:2]):
        return
    if line[0] == "train" and hasattr(parsed[0], "config"):
        load_config(parsed[0].config, parsed[0].settings)
    if line[0] == "export":
        names = ("calibration", "eval", "max_drop", "verify", "profile", "explain")
        target = find_target(parsed[0].format, parsed[0].precision)
        check_options(target, **{name: getattr(parsed[0], name) for name in names})


@pytest.mark.parametrize("page", PAGE_NAMES)
def test_what_is_quick_is_run_on_the_examples(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    build(tmp_path)
    monkeypatch.chdir(tmp_path)
    for asked in OURS:
        if asked.page == page and is_run(asked):
            assert asked.verb_line
            code = command.main(asked.verb_line)
            assert code == 0, f"{asked}: {capsys.readouterr().err}"


def test_some_commands_are_run() -> None:
    assert sum(map(is_run, OURS)) >= 12


@pytest.mark.parametrize(("page", "mention"), MENTIONED, ids=str)
def test_commands_in_running_text_name_verbs_and_options_that_there_are(
    page: str, mention: str, capsys: pytest.CaptureFixture[str]
) -> None:
    verb, *rest = mention.split()[1:]
    if verb.startswith("-") or not verb.islower():
        return
    assert verb in VERBS, page
    inner = getattr(VERBS[verb].load(), "SUB_VERBS", ())
    action = [word for word in rest[:1] if verb == "data" or word in inner]
    assert command.main([verb, *action, "--help"]) == 0
    told = capsys.readouterr().out
    for option in re.findall(r"--[a-z][a-z-]*", mention):
        assert re.search(rf"{option}\b", told), f"{page}: {mention}"


@pytest.mark.parametrize("asked", OTHERS, ids=str)
def test_other_programs_are_given_what_there_is(asked: Command) -> None:
    """Extras for pip, modules for Python, paths of the server for curl."""
    words = [word for word in asked.words if word != "."]  # which runs a script in this shell
    program = Path(words[0]).name
    if program == "pip" or words[1:3] == ["-m", "pip"]:
        known = set(tomllib.loads(_pyproject())["project"]["optional-dependencies"])
        for extras in re.findall(r"\[([\w,]+)\]", " ".join(words)):
            assert set(extras.split(",")) <= known, asked
    elif program in ("python", "torchrun"):
        module = words[words.index("-m") + 1]
        assert find_spec(module) is not None, asked
        if "pytest" in words:
            assert all((_root() / w).exists() for w in words if w.startswith("tests/"))
    elif program == "curl":
        paths = {re.sub(r"\?.*", "", p) for p in re.findall(r"127\.0\.0\.1:\d+(/\S*)", str(asked))}
        assert {path.rstrip("'") for path in paths} <= set(_server_paths()), asked
    else:
        assert program in PROGRAMS, asked


@pytest.mark.parametrize(
    "block", [b for b in ALL if b.language == "python"], ids=lambda b: f"{b.page}:{b.line}"
)
def test_python_blocks_run(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = compile("\n" * (block.line - 1) + block.text, block.page, "exec")
    if block.runs:
        build(tmp_path)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", ["page"])
        exec(code, {"__name__": "page"})


def _server_paths() -> dict[str, Any]:
    return dict(description(Settings(recognizer={}))["paths"])


def _root() -> Path:
    return Path(__file__).parents[2]


def _pyproject() -> str:
    return (_root() / "pyproject.toml").read_text("utf-8")
