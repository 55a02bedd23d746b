"""Options, input and output that the sub-verbs of `evaluate` share."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from namer_edge_runtime.atomic import atomic_file

from ..data.formula import Formula

T = TypeVar("T")


class Findings(Protocol):
    """Findings as text for people and as JSON."""

    def text(self) -> str: ...

    def to_json(self) -> dict[str, Any]: ...


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that all of them have."""
    parser.add_argument("pack", type=Path, help="made by `namer-edge data pack`")
    parser.add_argument("--model", help="name of a packaged model, or the path of one")
    parser.add_argument("--formulas", type=int, default=200, help="%(default)s, spread evenly")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", type=Path, metavar="OUT")


def load_formulas(arguments: argparse.Namespace) -> list[Formula]:
    """The formulas of the pack that are evaluated; raises what `load_pack` raises."""
    from ..data.pack import load_pack

    return spread(load_pack(arguments.pack).formulas, arguments.formulas)


def report_findings(found: Findings, arguments: argparse.Namespace) -> None:
    """Prints findings, and writes them to the file of `--json`."""
    print(found.text())
    if arguments.json:
        with atomic_file(arguments.json, "w") as file:
            json.dump(found.to_json(), file, indent=1)


def spread(items: Sequence[T], count: int) -> list[T]:
    """`count` items evenly spread from the first to the last, or all if there are fewer."""
    places = np.linspace(0, len(items) - 1, min(count, len(items))).round().astype(int)
    return [items[place] for place in places]
