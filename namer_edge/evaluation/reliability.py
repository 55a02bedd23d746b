"""`namer-edge evaluate reliability`: reliability diagrams from reports of `evaluate --json`."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from namer_edge_runtime.errors import DataError

from .calibration import Bin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUMMARY = "draw reliability diagrams (share of right answers by score) from reports"
AREA, SMALLEST = 400.0, 20.0
"""Square points of the largest disc and of the smallest."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reports", nargs="+", type=Path, metavar="REPORT.json")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="PLOT.png")


def run(arguments: argparse.Namespace) -> int:
    """Raises `DataError` for a file that is no report with scores."""
    reports = {path.stem: read_report(path) for path in arguments.reports}
    from ..figures import save

    save(arguments.output, plot(reports))
    return 0


def read_report(path: Path) -> tuple[Bin, ...]:
    """The bins of a report; raises `DataError` for another file."""
    try:
        report = json.loads(path.read_text("utf-8"))
        return tuple(Bin(**fields) for fields in report["confidence"]["bins"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} is no report with scores ({error!r}): make one by "
            f"namer-edge evaluate DATA --json {path}"
        ) from None


def plot(reports: Mapping[str, Sequence[Bin]]) -> "Figure":
    """Diagrams side by side: a disc for each bin at mean score (x) and share of right answers (y),
    its area proportional to their number; on the diagonal scores are calibrated."""
    from ..figures import panels

    figure, diagrams = panels(len(reports), 4.4, 4.4, side_by_side=True)
    for axes, (title, bins) in zip(diagrams, reports.items(), strict=True):
        most = max((b.count for b in bins), default=1)
        axes.plot((0, 1), (0, 1), color="gray", linewidth=1)
        areas = [max(AREA * b.count / most, SMALLEST) for b in bins]
        axes.scatter([b.score for b in bins], [b.right for b in bins], areas)
        axes.set(title=title, xlabel="score", ylabel="share that was right", aspect="equal")
        axes.grid(alpha=0.4)
    return figure


if __name__ == "__main__":
    from namer_edge_runtime.command import main

    sys.exit(main(["evaluate", "reliability", *sys.argv[1:]]))
