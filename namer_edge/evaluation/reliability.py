"""Reliability diagrams: of readings with a score, the share that was right.

    python -m namer_edge.evaluation.reliability REPORT.json … -o PLOT.png

REPORT.json is what `namer-edge evaluate --json` writes.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.command import exit_code
from namer_edge_runtime.errors import DataError
from namer_edge_runtime.picture.save import save_picture

from ..data.plots import BAR, INK, write
from .calibration import Bin

PROGRAM = "python -m namer_edge.evaluation.reliability"
SIDE, EDGE = 340, 44
"""Pixels of the square from 0 to 1, and of what is round it."""
PALE = (200, 200, 200)


def diagram(title: str, bins: Sequence[Bin]) -> NDArray[np.uint8]:
    """[H, W, 3] (blue, green, red): mean score across, share of right ones up, a disc for each bin,
    its area as the number of its readings; on the diagonal a score is the probability it says."""
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
    """The bins of a report; raises `DataError` for a file that is none."""
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


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code(PROGRAM, _run, arguments)


def _run(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(PROGRAM, description=__doc__.splitlines()[0])
    parser.add_argument("reports", nargs="+", type=Path, metavar="REPORT.json")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="PLOT.png")
    options = parser.parse_args(arguments)
    save_picture(options.output, plot({p.stem: read_report(p) for p in options.reports}))


if __name__ == "__main__":
    sys.exit(main())
