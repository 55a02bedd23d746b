"""Label files that a grammar and a seed determine, for `data everyday` and `data school`."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from namer_edge_runtime.atomic import atomic_file
from namer_edge_runtime.verbs.options import positive


def add_options(parser: argparse.ArgumentParser, output: str, count: int) -> None:
    parser.add_argument("-o", "--output", type=Path, required=True, metavar=output)
    parser.add_argument("--count", type=positive, default=count, metavar="N", help="%(default)s")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="%(default)s")


def write_labels(
    arguments: argparse.Namespace,
    name: str,
    labels: Callable[[np.random.Generator, int], Iterable[str]],
) -> int:
    """Writes lines of a numbered name, tab and tokens; returns the exit code."""
    drawn = labels(np.random.default_rng(arguments.seed), arguments.count)
    with atomic_file(arguments.output, "w") as file:
        file.writelines(f"{name}{number}\t{label}\n" for number, label in enumerate(drawn))
    return 0
