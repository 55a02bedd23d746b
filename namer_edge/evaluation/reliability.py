"""`namer-edge evaluate reliability`: reliability diagrams from reports of `evaluate --json`."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.errors import DataError
from namer_edge_runtime.picture.save import save_picture

from ..data.plots import BAR, INK, write
from .calibration import Bin

SUMMARY = "draw reliability diagrams (share of right answers by score) from reports"
SIDE, EDGE = 340, 44
"""Pixels of the unit square, and of the margin round it."""
PALE = (200, 200, 200)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reports", nargs="+", type=Path, metavar="REPORT.json")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="PLOT.png")


def run(arguments: argparse.Namespace) -> int:
    """Raises `DataError` for a file that is no report with scores."""
    reports = {path.stem: read_report(path) for path in arguments.reports}
    save_picture(arguments.output, plot(reports))
    return 0


def diagram(title: str, bins: Sequence[Bin]) -> NDArray[np.uint8]:
    """[H, W, 3] (blue, green, red): a disc for each bin at mean score (x) and share of right
    answers (y), its area proportional to their number; on the diagonal scores are calibrated."""
    panel = np.full((SIDE + 2 * EDGE, SIDE + 2 * EDGE, 3), 255, np.uint8)
    write(panel, title, (EDGE, EDGE - 16))
    for tenth in range(0, 11, 2):
        x, y = _at(tenth / 10, 0), _at(0, tenth / 10)
        cv2.line(panel, x, _at(tenth / 10, 1), PALE)
        cv2.line(panel, y, _at(1, tenth / 10), PALE)
        write(panel, f"{tenth / 10:.1f}", (x[0] - 10, x[1] + 16), 0.8)
        write(panel, f"{tenth / 10:.1f}", (y[0] - 32, y[1] + 4), 0.8)
    write(panel, "score; up: share that was right", (EDGE, SIDE + EDGE + 34), 0.9)
    cv2.line(panel, _at(0, 0), _at(1, 1), INK, 1, cv2.LINE_AA)
    most = max((b.count for b in bins), default=1)
    for b in bins:
        radius = max(3, round(14 * float(np.sqrt(b.count / most))))
        cv2.circle(panel, _at(b.score, b.right), radius, BAR, -1, cv2.LINE_AA)
    return panel


def _at(score: float, right: float) -> tuple[int, int]:
    return EDGE + round(SIDE * score), EDGE + round(SIDE * (1 - right))


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


def plot(reports: Mapping[str, Sequence[Bin]]) -> NDArray[np.uint8]:
    """The diagrams of several reports side by side."""
    return np.hstack([diagram(title, bins) for title, bins in reports.items()])


if __name__ == "__main__":
    from namer_edge_runtime.command import main

    sys.exit(main(["evaluate", "reliability", *sys.argv[1:]]))
