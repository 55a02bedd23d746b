"""What the commands share that try a model on formulas of a pack: options, formulas, findings."""

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
    """What was found, for people and for programs."""

    def text(self) -> str: ...

    def to_json(self) -> dict[str, Any]: ...


def options(program: str, description: str) -> argparse.ArgumentParser:
    """A parser of the options that every trial has."""
    parser = argparse.ArgumentParser(program, description=description)
    parser.add_argument("pack", type=Path, help="made by `namer-edge data pack`")
    parser.add_argument("--model", help="name of a packaged model, or the path of one")
    parser.add_argument("--formulas", type=int, default=200, help="%(default)s, spread evenly")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", type=Path, metavar="OUT")
    return parser


def chosen(arguments: argparse.Namespace) -> list[Formula]:
    """The formulas to try it on; raises what `load_pack` raises."""
    from ..data.pack import load_pack

    return spread(load_pack(arguments.pack).formulas, arguments.formulas)


def tell(found: Findings, arguments: argparse.Namespace) -> None:
    """Prints what was found, and writes it where `--json` says."""
    print(found.text())
    if arguments.json:
        with atomic_file(arguments.json, "w") as file:
            json.dump(found.to_json(), file, indent=1)


def spread(items: Sequence[T], count: int) -> list[T]:
    """`count` items evenly from the first to the last, or all where there are fewer."""
    places = np.linspace(0, len(items) - 1, min(count, len(items))).round().astype(int)
    return [items[place] for place in places]
