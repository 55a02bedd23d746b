"""Accuracy against speed: what each configuration gives for its time, and which no other beats."""

from collections.abc import Sequence
from dataclasses import dataclass

from .configuration import Row
from .peers import PeerRow


@dataclass(frozen=True)
class Point:
    """A configuration."""

    name: str
    fps: float
    exact: float
    """Percent."""


def points(rows: Sequence[Row], peers: Sequence[PeerRow] = ()) -> list[Point]:
    """Points of all rows that were measured on labeled formulas."""
    found = []
    for row in rows:
        m = row.measured
        if m is not None and m.accuracy is not None:
            name = f"{row.called}, {m.engine}, {row.trial.threads} x {row.trial.batch}"
            found.append(Point(name, m.fps, m.accuracy.exprate))
    for peer in peers:
        if peer.fps is not None and peer.accuracy is not None:
            found.append(Point(peer.peer.name, peer.fps, peer.accuracy.exprate))
    return found


def front(found: Sequence[Point]) -> list[Point]:
    """The Pareto front, fastest first: points that none beats in speed without losing accuracy."""
    best: list[Point] = []
    for point in sorted(found, key=lambda p: (-p.fps, -p.exact)):
        if not best or point.exact > best[-1].exact:
            best.append(point)
    return best


def front_page(found: Sequence[Point]) -> str:
    """Pareto's front in a sentence, for Markdown."""
    names = [f"{p.name} ({p.fps:.1f} a second, {p.exact:.1f} %)" for p in front(found)]
    return "Not beaten in both speed and accuracy: " + "; ".join(names)
