"""Points of one InkML `trace`, as plain numbers or in the compact form of differences."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from .strokes import FURTHEST

# A value of InkML's compact form: a mark (! value, ' first, " second difference), then a number,
# a hexadecimal number, a boolean, or * (as before) and ? (unknown).
_VALUE = re.compile(r"([!'\"]?) ?(#[0-9A-Fa-f]+|[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?|[TF*?])")


CHUNK = 4096
"""Points parsed at a time, since Python's numbers take ten times the memory of NumPy's."""


@dataclass(frozen=True)
class Channels:
    """Indices of x and y among the numbers of a point, and the direction of y."""

    x: int = 0
    y: int = 1
    y_up: bool = False

    @classmethod
    def of(cls, root: ElementTree.Element) -> "Channels":
        """From the first `traceFormat`; x and y come first where a file has none.

        Tags must be free of namespaces. InkML's own direction of y is down; a channel with
        orientation "-ve" turns it round.
        """
        format_ = next(root.iter("traceFormat"), None)
        channels = [] if format_ is None else list(format_.iter("channel"))
        names = [channel.get("name", "").strip().upper() for channel in channels]
        if "X" not in names or "Y" not in names:
            return cls()
        y = names.index("Y")
        return cls(names.index("X"), y, channels[y].get("orientation") == "-ve")


def read_points(text: str, channels: Channels) -> np.ndarray:
    """Points of one trace as float32 [n, 2], (x, y) with y down; n is 0 where there are none.

    Points that lack x or y, or lie beyond `FURTHEST`, are left out.
    """
    rows = text.split(",")
    need = max(channels.x, channels.y) + 1
    x, y = channels.x, channels.y
    # Some files declare channels that their points do not have: then x and y are the first two.
    if 0 < len(rows[0].split(None, need)) < need:
        x, y = 0, 1
    try:
        parts = [_plain(rows[i : i + CHUNK], x, y) for i in range(0, len(rows), CHUNK)]
    except (ValueError, IndexError):
        parts = [np.array(_compact_points(text, x, y), np.float64).reshape(-1, 2)]
    exact = np.concatenate(parts)
    near = (np.abs(exact) <= FURTHEST).all(axis=1)
    array = (exact if near.all() else exact[near]).astype(np.float32)
    if channels.y_up:
        array[:, 1] *= -1
    return array


def _plain(rows: list[str], x: int, y: int) -> np.ndarray:
    """Points [n, 2] of rows of plain numbers; raises `ValueError` or `IndexError` for others."""
    fields = (row.split() for row in rows)
    points = [(float(row[x]), float(row[y])) for row in fields if row]
    return np.array(points, np.float64).reshape(-1, 2)


def _compact_points(text: str, x: int, y: int) -> list[tuple[float, float]]:
    """InkML's compact form: a mark holds for its channel until another mark is met."""
    marks: dict[int, str] = {}
    value: dict[int, float] = {}
    speed: dict[int, float] = {}
    points = []
    for row in text.split(","):
        fields = [(m[1], m[2]) for m in _VALUE.finditer(" ".join(row.split()))]
        for channel, (mark, number) in enumerate(fields):
            if mark:
                marks[channel] = mark
            before = value.get(channel, 0.0)
            if number in ("*", "?", "T", "F"):
                value[channel] = before
                continue
            amount = _hexadecimal(number[1:]) if number[0] == "#" else float(number)
            if marks.get(channel) == '"':
                speed[channel] = speed.get(channel, 0.0) + amount
                value[channel] = before + speed[channel]
            elif marks.get(channel) == "'":
                speed[channel] = amount
                value[channel] = before + amount
            else:
                speed[channel] = amount - before
                value[channel] = amount
        if len(fields) > max(x, y):
            points.append((value[x], value[y]))
    return points


def _hexadecimal(digits: str) -> float:
    """The value of hexadecimal digits, limited to beyond `FURTHEST` so that a float holds it."""
    return float(min(int(digits, 16), int(2 * FURTHEST)))
