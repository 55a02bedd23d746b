"""The tables of docs/benchmarks.md, from the runs of record in `benchmarks/results/`.

    namer-edge benchmark tables [docs/benchmarks.md]

writes them anew between two comments; a test holds the page to the JSON.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from namer_edge_runtime.errors import DataError
from namer_edge_runtime.outputs import write_text

from .report import table

SUMMARY = "write the tables of docs/benchmarks.md from the results of record"
BEGIN = "<!-- benchmarks: written by `namer-edge benchmark tables` -->"
END = "<!-- /benchmarks -->"
PAGE, RESULTS = Path("docs/benchmarks.md"), Path("../benchmarks/results")
"""The page, and the runs seen from its folder."""
HEAD = ("", "engine", "looks", "ms", "formulas a second", "memory, MB", "file, MB", "exact, %")


def quoted(readme: str, results: Path) -> str:
    """The text with its block written anew; raises `DataError` where it has none."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise DataError(f"no block from {BEGIN} to {END}: put these two lines where figures belong")
    return f"{before}{BEGIN}\n{render(results)}{END}{after}"


def render(results: Path) -> str:
    """Markdown of what is quoted; nothing where nothing was recorded."""
    parts = []
    for name, section in (("own", _own), ("paper", _paper), ("peers", _peers), ("covered", _peers)):
        path = results / f"{name}.json"
        if path.exists():
            link = f"[{name}]({(RESULTS / name).as_posix()}.md)"
            parts.append(section(json.loads(path.read_text("utf-8")), link))
    return "\n\n".join(["## How quick it is", *parts]) + "\n" if parts else ""


def _own(run: Mapping[str, Any], link: str) -> str:
    measured = [row for row in run["rows"] if row["measured"]]
    first = measured[0]
    about = (
        f"One formula at a time, {first['measured']['formulas']} of CROHME 2014 as ink, "
        f"{first['trial']['threads']} thread of an {run['machine']['processor']} "
        f"({run['machine']['usable_cpus']} CPUs, load {run['machine']['load']}), from ink to LaTeX "
        f"({link}):"
    )
    return f"{about}\n\n{table(HEAD, [_row(row) for row in measured])}"


def _row(row: Mapping[str, Any]) -> list[object]:
    m = row["measured"]
    accuracy = m["accuracy"]["exprate"] if m["accuracy"] else None
    return [
        f"{m['name']} {m['precision']}", m["engine"], "one" if row["trial"]["one_look"] else "all",
        f"{m['whole']['mean']:.1f}", f"{m['fps']:.1f}", f"{m['peak_memory']:.0f}",
        f"{m['file_bytes'] / 1e6:.1f}", accuracy,
    ]  # fmt: skip


def _paper(run: Mapping[str, Any], link: str) -> str:
    theirs = run["lines"][0]["paper"]
    rows = [
        [
            line["name"], line["way"], float(line["slower_decoding"]),
            line["paper"]["decoder"] / theirs["decoder"], float(line["slower"]),
            theirs["fps"] / line["paper"]["fps"],
        ]
        for line in run["lines"][1:]
    ]  # fmt: skip
    head = ("", "search", "decoding", "paper", "encoder and decoder", "paper")
    aims = [
        f"- {aim['name']}: {aim['measured']:.1f} x (aim {aim['limit']:g}, "
        f"{'met' if aim['met'] else 'missed'})"
        for aim in run["targets"]
    ]
    about = (
        f"How many times as long as NAMER others take, all on the paper's DenseNet in fp32, "
        f"{len(run['encoder'])} pictures, {run['threads']} thread ({link}):"
    )
    return "\n".join([f"{about}\n\n{table(head, rows)}\n", *aims])


def _peers(run: Mapping[str, Any], link: str) -> str:
    rows: list[list[object]] = [
        [
            f"{m['name']} {m['precision']}{', one pass' if row['trial']['one_look'] else ''}",
            f"{m['whole']['mean']:.1f}", m["accuracy"]["exprate"], m["accuracy"]["exprate_le2"],
        ]
        for row in run["rows"]
        if (m := row["measured"]) and m["accuracy"]
    ]  # fmt: skip
    rows += [
        [
            peer["peer"]["name"], f"{peer['whole']['mean']:.1f}",
            peer["accuracy"]["exprate"], peer["accuracy"]["exprate_le2"],
        ]
        for peer in run["peers"]
        if peer["whole"] and peer["accuracy"]
    ]  # fmt: skip
    only = run["rows"][0]["trial"]["only"]
    which = f" written with {' '.join(f'`{token}`' for token in only)} alone" if only else ""
    total = next(p["accuracy"]["total"] for p in run["peers"] if p["accuracy"])
    about = f"Beside others, {total} formulas of CROHME 2014{which}, LaTeX normalized ({link}):"
    return f"{about}\n\n{table(('', 'ms', 'exact, %', '<= 2 errors, %'), rows)}"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("page", type=Path, nargs="?", default=PAGE, help="docs/benchmarks.md")


def run(arguments: argparse.Namespace) -> int:
    """Raises `DataError` for a page without the two comments."""
    page: Path = arguments.page
    write_text(str(page), quoted(page.read_text("utf-8"), page.parent / RESULTS))
    return 0


if __name__ == "__main__":  # the former name
    from namer_edge_runtime.command import main

    sys.exit(main(["benchmark", "tables", *sys.argv[1:]]))
