"""Is it still as quick as it was? Ratios of one run beside those of a kept one.

Times of another day, or another machine, say nothing about a change of code; how many times as
long one configuration takes as another, in the same run, does.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from namer_edge_runtime.errors import DataError, UsageError

from .report import table

OUTSIDE = ("prepare", "path", "latex")
"""Stages outside the networks."""


@dataclass(frozen=True)
class Ratio:
    """One that a run found."""

    value: float
    more_is_better: bool = False


@dataclass(frozen=True)
class Change:
    """A ratio of the kept run, and what became of it."""

    name: str
    before: float
    now: float | None
    """The ratio in this run; None where it was not measured."""
    worse: bool
    """True where the ratio grew by more than the tolerance, or was not measured."""


def load_baseline(path: Path) -> dict[str, Any]:
    """Reads a kept `--json` report; raises `DataError` for another file."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: no baseline ({error}); keep one with --json") from None
    if not isinstance(value, dict) or not {"rows", "lines"} & set(value):
        raise DataError(f"{path}: not what `namer-edge benchmark --json` writes")
    return value


def changes(
    kept: Mapping[str, Any], found: Mapping[str, Any], tolerance: float = 0.15
) -> list[Change]:
    """All ratios of the kept run; `tolerance` is the part by which one may be worse.

    Raises `UsageError` where the runs are of different kinds, or have no ratio in common.
    """
    if ("lines" in kept) != ("lines" in found):
        raise UsageError("one run is of --paper and the other is not: compare like with like")
    before, now = ratios(kept), ratios(found)
    if not set(before) & set(now):
        raise UsageError("the runs have no configuration in common: run what the baseline did")
    return [_change(name, ratio, now.get(name), tolerance) for name, ratio in before.items()]


def _change(name: str, before: Ratio, now: Ratio | None, tolerance: float) -> Change:
    if now is None:
        return Change(name, before.value, None, True)
    if before.more_is_better:
        worse = now.value < before.value * (1 - tolerance)
    else:
        worse = now.value > before.value * (1 + tolerance)
    return Change(name, before.value, now.value, worse)


def ratios(run: Mapping[str, Any]) -> dict[str, Ratio]:
    """Ratios by name, from a `--json` report."""
    return dict(_of_lines(run) if "lines" in run else _of_rows(run))


def _of_lines(run: Mapping[str, Any]) -> Iterator[tuple[str, Ratio]]:
    """Slowdown of the baselines against NAMER, and against a model file from end to end."""
    for number, line in enumerate(run["lines"]):
        name = f"{line['name']}, {line['way']}"
        if number:
            yield f"{name}: slower in decoding", Ratio(line["slower_decoding"], True)
            yield f"{name}: slower", Ratio(line["slower"], True)
        for whole, times in line["times_as_long"].items():
            yield f"{name}: times as long as {whole}", Ratio(times, True)


def _of_rows(run: Mapping[str, Any]) -> Iterator[tuple[str, Ratio]]:
    """Processor time against the first row's, and the share of all but the networks."""
    rows = [row for row in run["rows"] if row["measured"] is not None]
    for row in rows:
        own, first = row["measured"], rows[0]["measured"]
        if row is not rows[0]:
            name = f"{_name(row)}: processor time, of {_name(rows[0])}"
            yield name, Ratio(own["processor_time"] / first["processor_time"])
        outside = sum(own["stages"][stage]["mean"] for stage in OUTSIDE)
        yield f"{_name(row)}: share outside networks", Ratio(outside / own["whole"]["mean"])


def _name(row: Mapping[str, Any]) -> str:
    trial, own = row["trial"], row["measured"]
    looks = ", one pass" if trial["one_look"] else ""
    where = f"{own['engine']} on {own['device']}"
    return (
        f"{own['name']} {own['precision']}{looks}, {where}, {trial['threads']} x {trial['batch']}"
    )


def change_page(found: list[Change]) -> str:
    """Markdown; what is worse stands out."""
    rows = [[c.name, c.before, c.now, "worse" if c.worse else "holds"] for c in found]
    return table(["ratio", "baseline", "now", ""], rows)
