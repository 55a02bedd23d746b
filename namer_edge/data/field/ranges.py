"""Values drawn from ranges, of which one half is for tuning and the other for reporting.

A range of numbers is cut into eighths that belong to the halves in turn, so that both reach from
one end to the other and share no value. Whole numbers, and choices where there are four or more,
alternate in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, TypeVar, get_type_hints

import numpy as np

from namer_edge_runtime.errors import ConfigError

T = TypeVar("T")
Half = Literal["tune", "report"]
HALVES: tuple[Half, ...] = ("tune", "report")
EIGHTHS = 8
FEW = 4
"""Fewer choices than this are in both halves."""


def drawn(kind: type[T], ranges: Mapping[str, Any], half: Half, rng: np.random.Generator) -> T:
    """A `kind`, a dataclass, whose fields are drawn from `ranges`; those without one keep their
    default."""
    hints = get_type_hints(kind)
    values = {name: value(ranges[name], hints[name], half, rng) for name in sorted(ranges)}
    return kind(**values)


def value(range_: Any, kind: type, half: Half, rng: np.random.Generator) -> Any:
    """One value: of two numbers, a number between them; of a list of text, one of it; else
    `range_` itself."""
    if not isinstance(range_, list):
        return kind(range_)
    own = HALVES.index(half)
    if isinstance(range_[0], str):
        choices = range_[own::2] if len(range_) >= FEW else range_
        return choices[int(rng.integers(len(choices)))]
    low, high = range_
    if kind is int:
        whole = range(low, high + 1)
        one = whole[own::2] or whole
        return one[int(rng.integers(len(one)))]
    eighth = 2 * int(rng.integers(EIGHTHS // 2)) + own
    return low + (high - low) * (eighth + float(rng.random())) / EIGHTHS


def check_ranges(kind: type, ranges: Mapping[str, Any], place: str) -> None:
    """Raises `ConfigError` for a range that is none, or of a field that `kind` lacks."""
    hints = get_type_hints(kind)
    known = {field.name for field in fields(kind)}
    for name, range_ in ranges.items():
        if name not in known:
            raise ConfigError(f"{place} has no {name!r}: choose from {', '.join(sorted(known))}")
        if not _is_range(range_, hints[name]):
            raise ConfigError(
                f"{place}.{name} = {range_!r}: give a value, [least, most] or a list of choices"
            )


def _is_range(range_: Any, kind: type) -> bool:
    allowed = (int, float) if kind is float else (kind,)
    if not isinstance(range_, Sequence) or isinstance(range_, str):
        return type(range_) in allowed
    if not range_ or any(type(one) not in allowed for one in range_):
        return False
    return kind is str or (len(range_) == 2 and range_[0] <= range_[1])
