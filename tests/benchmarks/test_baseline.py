"""A run beside a kept one: `namer-edge benchmark --compare`."""

import json
from pathlib import Path
from typing import Any

import pytest

from namer_edge_benchmarks.baseline import changes, load_baseline
from namer_edge_runtime import command
from namer_edge_runtime.errors import DataError, UsageError
from namer_edge_runtime.model_file import ModelFile


def row(engine: str, processor: float, prepare: float = 1.0) -> dict[str, Any]:
    stages = {"prepare": prepare, "pgd": 8.0, "path": 0.5, "latex": 0.5}
    return {
        "trial": {"threads": 1, "batch": 1, "one_look": False},
        "measured": {
            "name": "m",
            "precision": "fp32",
            "engine": engine,
            "device": "CPU",
            "processor_time": processor,
            "stages": {name: {"mean": value} for name, value in stages.items()},
            "whole": {"mean": sum(stages.values())},
        },
    }


KEPT = {"rows": [row("a", 10.0), row("b", 30.0)]}
NAMER = {"name": "NAMER", "way": "one pass", "times_as_long": {"m int8": 9.0}}
DWAP = {
    "name": "DWAP",
    "way": "greedy",
    "slower_decoding": 2.4,
    "slower": 1.6,
    "times_as_long": {"m int8": 12.0},
}
PAPER = {"lines": [NAMER, DWAP]}


def test_a_machine_that_is_slower_at_everything_changes_nothing() -> None:
    slow = {"rows": [row("a", 70.0), row("b", 210.0)]}
    assert not any(change.worse for change in changes(KEPT, slow))


def test_a_configuration_that_lost_against_the_first_is_worse() -> None:
    found = changes(KEPT, {"rows": [row("a", 10.0), row("b", 40.0)]}, 0.15)
    assert [change.name for change in found if change.worse] == [
        "m fp32, b on CPU, 1 x 1: processor time, of m fp32, a on CPU, 1 x 1"
    ]
    assert not any(c.worse for c in changes(KEPT, {"rows": [row("a", 10.0), row("b", 33.0)]}))


def test_preparation_that_takes_a_larger_share_is_worse() -> None:
    found = changes(KEPT, {"rows": [row("a", 10.0, prepare=4.0), row("b", 30.0)]})
    assert [change.worse for change in found] == [True, False, False]


def test_what_was_not_measured_this_time_is_worse() -> None:
    failed = {"rows": [row("a", 10.0), {**row("b", 1.0), "measured": None}]}
    assert [change.now is None for change in changes(KEPT, failed) if change.worse] == [True] * 2


def test_rivals_that_come_closer_are_worse() -> None:
    closer = {"lines": [NAMER, {**DWAP, "slower_decoding": 1.9, "slower": 1.7}]}
    assert [change.worse for change in changes(PAPER, closer)] == [False, True, False, False]


def test_a_model_file_that_takes_longer_beside_the_others_is_worse() -> None:
    lines = [{**line, "times_as_long": {"m int8": 6.0}} for line in (NAMER, DWAP)]
    worse = [change.name for change in changes(PAPER, {"lines": lines}) if change.worse]
    assert worse == [f"{n}: times as long as m int8" for n in ("NAMER, one pass", "DWAP, greedy")]


def test_only_like_is_compared_with_like(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="like with like"):
        changes(KEPT, PAPER)
    with pytest.raises(UsageError, match="in common"):
        changes(KEPT, {"rows": [row("c", 1.0)]})
    other = tmp_path / "other.json"
    other.write_text("{}")
    with pytest.raises(DataError, match="not what"):
        load_baseline(other)
    with pytest.raises(DataError, match="keep one with --json"):
        load_baseline(tmp_path / "nowhere.json")


def test_a_run_that_lost_ends_with_1(
    tiny_pack: Path, tiny_model: ModelFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.json"
    words = ["benchmark", str(tiny_pack), "--model", str(tiny_model.path), "--limit", "2"]
    assert command.main([*words, "--json", str(kept)]) == 0
    value = json.loads(kept.read_text())
    value["rows"][0]["measured"]["whole"]["mean"] *= 1000  # all else was next to nothing once
    kept.write_text(json.dumps(value))
    assert command.main([*words, "--compare", str(kept)]) == 1
    assert "| worse |" in capsys.readouterr().out
