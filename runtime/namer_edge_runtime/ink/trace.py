"""Points of one InkML `trace`, as plain numbers or in the compact form of differences."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from .strokes import FURTHEST

# A value of InkML's compact form: a mark (! value, ' first, " second difference), then a number,
# a hexadecimal number, a boolean, or * (goes on) and ? (not reported).
_VALUE = re.compile(
    r"([!'\"]?) ?([+-]? ?#[0-9A-Fa-f]+|[+-]? ?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?|[TF*?])"
)
TIP, FORCE = "S", "F"
"""Channels that tell whether the tip touches: its switch, and the force on it."""

CHUNK = 4096
"""Points parsed at a time, since Python's numbers take ten times the memory of NumPy's."""


@dataclass(frozen=True)
class Channels:
    """Indices of x, y and the tip's state among the numbers of a point; directions of the axes."""

    x: int = 0
    y: int = 1
    y_up: bool = False
    x_left: bool = False
    tip: int | None = None
    """Channel that is 0 where the tip does not touch; None where no channel tells."""

    @property
    def signs(self) -> tuple[float, float]:
        """Factors of x and y that turn them to the right and down."""
        return (-1.0 if self.x_left else 1.0, -1.0 if self.y_up else 1.0)

    @classmethod
    def of(cls, root: ElementTree.Element) -> "Channels":
        """Reads the first `traceFormat`; without one, x and y come first.

        Tags must be free of namespaces. InkML's own directions are right and down; a channel with
        orientation "-ve" turns its own round.
        """
        return cls.of_format(next(root.iter("traceFormat"), None))

    @classmethod
    def of_format(cls, format_: ElementTree.Element | None) -> "Channels":
        """Reads a `traceFormat`."""
        channels = [] if format_ is None else list(format_.iter("channel"))
        names = [channel.get("name", "").strip().upper() for channel in channels]
        if "X" not in names or "Y" not in names:
            return cls()
        x, y = names.index("X"), names.index("Y")
        y_up, x_left = (channels[axis].get("orientation") == "-ve" for axis in (y, x))
        tip = next((names.index(name) for name in (TIP, FORCE) if name in names), None)
        return cls(x, y, y_up, x_left, tip)


def read_points(text: str, channels: Channels) -> np.ndarray:
    """Points of one trace as float32 [n, 2], (x, y) with y down; n is 0 where there are none.

    Points that lack x or y, or lie beyond `FURTHEST`, are left out.
    """
    points = np.concatenate([np.empty((0, 2)), *read_runs(text, channels)])
    return (points * channels.signs).astype(np.float32)


def read_runs(text: str, channels: Channels) -> list[NDArray[np.float64]]:
    """The runs of points [n, 2] of one trace, n ≥ 1, along which the tip touches, each axis in its
    own direction; see `read_points`."""
    rows = text.split(",")
    columns = (channels.x, channels.y)
    # Some files declare channels that their points do not have: then x and y are the first two.
    if 0 < len(rows[0].split(None, max(columns) + 1)) < max(columns) + 1:
        columns = (0, 1)
    tip = channels.tip
    try:
        parts = [_plain(rows[i : i + CHUNK], *columns, tip) for i in range(0, len(rows), CHUNK)]
    except (ValueError, IndexError):
        parts = [np.array(_compact_points(text, *columns, tip), np.float64).reshape(-1, 3)]
    points = np.concatenate(parts)
    near = (np.abs(points[:, :2]) <= FURTHEST).all(axis=1)
    points = points if near.all() else points[near]
    return [run[:, :2] for run in _touching(points)]


def _touching(points: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The runs of rows whose third number is not 0; a force that may be negative tells nothing."""
    up = points[:, 2] == 0
    if len(points) and (not up.any() or (points[:, 2] < 0).any()):
        return [points]
    runs = np.split(points, np.flatnonzero(np.diff(up)) + 1)
    return [run for run in runs if len(run) and run[0, 2] != 0]


def _plain(rows: list[str], x: int, y: int, tip: int | None) -> NDArray[np.float64]:
    """Points [n, 3] (x, y, tip) of rows of plain numbers; raises `ValueError` or `IndexError` for
    others."""
    fields = [row.split() for row in rows]
    points = np.ones((len(rows) - fields.count([]), 3))
    points[:, :2] = [(float(row[x]), float(row[y])) for row in fields if row]
    if tip is not None:
        points[:, 2] = [float(row[tip]) if tip < len(row) else 1.0 for row in fields if row]
    return points


def _compact_points(text: str, x: int, y: int, tip: int | None) -> list[tuple[float, float, float]]:
    """InkML's compact form: a mark holds for its channel until another mark is met.

    The wildcard `*` goes on as the mark has it: at the value, the velocity or the acceleration of
    the point before. What is not reported (`?`) stays at its value.
    """
    marks: dict[int, str] = {}
    value: dict[int, float] = {}
    speed: dict[int, float] = {}
    gain: dict[int, float] = {}  # acceleration
    points = []
    for row in text.split(","):
        fields = [(m[1], m[2]) for m in _VALUE.finditer(" ".join(row.split()))]
        for channel, (mark, number) in enumerate(fields):
            mark = marks[channel] = mark or marks.get(channel, "!")
            before = value.setdefault(channel, 0.0)
            if number == "?":
                continue
            amount = None if number == "*" else _amount(number)
            if mark == "!" or number in ("T", "F"):  # booleans have no differences
                value[channel] = before if amount is None else amount
                speed[channel] = value[channel] - before
                continue
            if mark == '"':
                gain[channel] = gain.get(channel, 0.0) if amount is None else amount
                speed[channel] = speed.get(channel, 0.0) + gain[channel]
            elif amount is not None:
                speed[channel] = amount
            value[channel] = before + speed.get(channel, 0.0)
        if len(fields) > max(x, y):
            points.append((value[x], value[y], 1.0 if tip is None else value.get(tip, 1.0)))
    return points


def _amount(number: str) -> float:
    """The value of a decimal or hexadecimal number, limited to beyond `FURTHEST` so that a float
    holds it, or of a boolean."""
    if number in ("T", "F"):
        return float(number == "T")
    sign, digits = (-1 if number[0] == "-" else 1), number.lstrip("+- ")
    if digits[0] == "#":
        return sign * float(min(int(digits[1:], 16), int(2 * FURTHEST)))
    return sign * float(digits)
