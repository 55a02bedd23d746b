"""ExpRate: percentage of formulas read exactly, and with at most one or two token errors.

The rate is that of the paper's tables 1 and 2. Every labeled file counts: one that cannot be read
or has no result is wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from statistics import NormalDist

import numpy as np

LENGTHS = ((1, 5), (6, 10), (11, 15), (16, 20), (21, 30), (31, 50), (51, 512))
"""Buckets of label length in tokens, both ends included; the last one has all longer labels."""

STRUCTURES = ("fraction", "script", "root", "limits", "other", "plain")
"""Groups of labels, which may overlap; "plain" labels have no relation token."""

BEFORE_BRACE = ("\\frac", "\\sqrt", "^", "_", "}", "]")
"""Tokens before a `{` of relations that have a group of their own."""


@dataclass(frozen=True)
class Prediction:
    """A labeled file and what was read of it."""

    name: str
    label: tuple[str, ...]
    """Canonical tokens of the reference."""
    read: tuple[str, ...] | None
    """Canonical tokens of the answer (empty for a blank page), None without an answer."""
    reason: str = ""
    """Why there is no answer."""

    @cached_property
    def errors(self) -> int | None:
        """Token edit distance between answer and label; None without an answer."""
        return None if self.read is None else distance(self.label, self.read)


@dataclass(frozen=True)
class Rate:
    """Counts over some formulas, and rates in percent."""

    total: int
    exact: int
    within_1: int
    within_2: int

    @property
    def exprate(self) -> float:
        return _percent(self.exact, self.total)

    @property
    def exprate_le1(self) -> float:
        return _percent(self.within_1, self.total)

    @property
    def exprate_le2(self) -> float:
        return _percent(self.within_2, self.total)


def _percent(part: int, total: int) -> float:
    return 100.0 * part / total if total else 0.0


def distance(label: Sequence[str], read: Sequence[str]) -> int:
    """Levenshtein distance over tokens: substitutions, deletions and insertions cost one each."""
    row = list(range(len(read) + 1))
    for i, expected in enumerate(label, 1):
        previous, row[0] = row[0], i
        for j, got in enumerate(read, 1):
            cheapest = min(row[j] + 1, row[j - 1] + 1, previous + (expected != got))
            previous, row[j] = row[j], cheapest
    return row[-1]


def rate(readings: Sequence[Prediction]) -> Rate:
    """Rates over all readings; those without an answer are wrong at every tolerance."""
    errors = [reading.errors for reading in readings]
    return Rate(
        total=len(errors),
        exact=sum(e == 0 for e in errors),
        within_1=sum(e is not None and e <= 1 for e in errors),
        within_2=sum(e is not None and e <= 2 for e in errors),
    )


def wilson_interval(measured: Rate, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of ExpRate over the files, in percent.

    The interval covers the choice of files, not the variance of training runs. Source: Wilson,
    Journal of the American Statistical Association 22 (1927), pp. 209-212.
    """
    if measured.total == 0:
        return (0.0, 0.0)
    share = measured.exact / measured.total
    spread = NormalDist().inv_cdf((1 + confidence) / 2) ** 2 / measured.total
    center = share + spread / 2
    half = sqrt(spread * (share * (1 - share) + spread / 4))
    low, high = (center - half) / (1 + spread), (center + half) / (1 + spread)
    return (100 * max(0.0, low), 100 * min(1.0, high))  # rounding may leave 0 to 100


def paired_interval(
    lost: int, won: int, total: int, resamples: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """95 % percentile bootstrap interval of ExpRate's drop between two readings, in points, over
    the choice of `total` formulas; `lost` and `won` are those that only one reads right.

    Paired: each draw takes a formula with both its readings, so that only flips spread it.
    """
    shares = [lost / total, won / total, 1 - (lost + won) / total]
    counts = np.random.default_rng(seed).multinomial(total, shares, resamples)
    low, high = np.percentile(100 * (counts[:, 0] - counts[:, 1]) / total, (2.5, 97.5))
    return float(low), float(high)


def by_length(readings: Sequence[Prediction]) -> dict[str, Rate]:
    """Rates by length of the label in tokens (braces included); empty buckets are left out."""

    def bucket(reading: Prediction) -> set[str]:
        length = max(len(reading.label), LENGTHS[0][0])
        inside = [(a, b) for a, b in LENGTHS if a <= length <= b] or [LENGTHS[-1]]
        return {_length_name(*inside[0])}

    return _grouped(readings, [_length_name(a, b) for a, b in LENGTHS], bucket)


def _length_name(first: int, last: int) -> str:
    return f"{first}+" if (first, last) == LENGTHS[-1] else f"{first}-{last}"


def by_structure(readings: Sequence[Prediction]) -> dict[str, Rate]:
    """Rates by structure (`STRUCTURES`); a label counts in each group that it belongs to."""
    return _grouped(readings, STRUCTURES, lambda reading: structures(reading.label))


def structures(label: Sequence[str]) -> set[str]:
    """The `STRUCTURES` that a canonical label belongs to.

    The `_` of `\\limits _ {` is part of that relation ("directly below") and no script of its own.
    "other" are relations beyond CROHME's: accents, boxes, `\\xrightarrow`.
    """
    found: set[str] = set()
    for before, token in zip(("", *label), label, strict=False):
        if token == "\\frac":
            found.add("fraction")
        elif token == "\\sqrt":
            found.add("root")
        elif token == "\\limits":
            found.add("limits")
        elif token == "^" or (token == "_" and before != "\\limits"):
            found.add("script")
        elif token == "\\xrightarrow" or (token == "{" and before not in BEFORE_BRACE):
            found.add("other")
    return found or {"plain"}


def _grouped(
    readings: Sequence[Prediction],
    names: Sequence[str],
    groups_of: Callable[[Prediction], set[str]],
) -> dict[str, Rate]:
    members: dict[str, list[Prediction]] = {name: [] for name in names}
    for reading in readings:
        for name in groups_of(reading):
            members[name].append(reading)
    return {name: rate(group) for name, group in members.items() if group}
