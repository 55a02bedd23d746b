"""The field conditions of `conditions.toml`, and how a formula looks under them."""

import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from namer_edge_runtime.errors import ConfigError
from namer_edge_runtime.ink.strokes import Strokes

from . import ink, picture
from .picture import LARGEST, FieldPicture, field_picture
from .ranges import HALVES, Half, check_ranges

FILE = "conditions.toml"
Ranges = Mapping[str, Mapping[str, Any]]
"""Ranges by ingredient and field."""


@dataclass(frozen=True, eq=False)
class Condition:
    """One way in which a formula comes in, by the ranges of its ingredients."""

    name: str
    kind: str
    """picture or ink."""
    ranges: Ranges
    pair: bool = False
    """Whether it is two conditions at once."""

    def picture(
        self, strokes: Strokes, half: Half, rng: np.random.Generator, largest: float = LARGEST
    ) -> FieldPicture:
        """A formula as a picture of about `largest` pixels at most; for those of pictures."""
        return field_picture(strokes, self.ranges, half, rng, largest)

    def input(self, strokes: Strokes, half: Half, seed: int, name: str) -> Any:
        """What a recognizer is given: the bytes of a file, or strokes.

        `seed`, `half`, the condition's name and that of the formula determine it.
        """
        rng = np.random.default_rng([seed, HALVES.index(half), _number(self.name), _number(name)])
        if self.kind == "picture":
            return self.picture(strokes, half, rng).file
        return ink.field_ink(strokes, self.ranges, half, rng)


def _number(text: str) -> int:
    return zlib.crc32(text.encode())


@cache
def conditions() -> tuple[Condition, ...]:
    """All that are packaged, the pairs last; raises `ConfigError` where the file is wrong."""
    text = (resources.files(__package__) / FILE).read_text("utf-8")
    return read_conditions(tomllib.loads(text))


def read_conditions(tables: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Conditions from the tables base, picture, ink and pairs."""
    kinds = {"picture": picture.INGREDIENTS, "ink": ink.INGREDIENTS}
    base = {"picture": tables.get("base", {}), "ink": {}}
    singles: dict[tuple[str, str], Ranges] = {}
    for kind, ingredients in kinds.items():
        for name, ranges in {"base": base[kind], **tables.get(kind, {})}.items():
            for ingredient, own in ranges.items():
                place = f"{FILE}: {name}.{ingredient}"
                if ingredient not in ingredients:
                    known = ", ".join(ingredients)
                    raise ConfigError(
                        f"{place}: no such ingredient of {kind}s, choose from {known}"
                    )
                check_ranges(ingredients[ingredient], own, place)
            if name != "base":
                singles[kind, name] = ranges
    found = [
        Condition(name, kind, _merged([base[kind], ranges]))
        for (kind, name), ranges in singles.items()
    ]
    for kind, pairs in tables.get("pairs", {}).items():
        for pair in pairs:
            missing = [name for name in pair if (kind, name) not in singles]
            if missing:
                raise ConfigError(f"{FILE}: pairs.{kind} has {missing[0]!r}, which is no condition")
            both = [base[kind], *(singles[kind, name] for name in pair)]
            found.append(Condition(" + ".join(pair), kind, _merged(both), pair=True))
    return tuple(found)


def chosen(patterns: Sequence[str]) -> tuple[Condition, ...]:
    """Conditions whose name or kind has one of `patterns` in it, all without any.

    Raises `ConfigError` for a pattern that none has.
    """
    for pattern in patterns:
        if not any(_matches(one, pattern) for one in conditions()):
            known = ", ".join(one.name for one in conditions() if not one.pair)
            raise ConfigError(f"no condition {pattern!r}: choose picture, ink or from {known}")
    return tuple(
        one for one in conditions() if not patterns or any(_matches(one, p) for p in patterns)
    )


def _matches(condition: Condition, pattern: str) -> bool:
    return pattern == condition.kind or pattern in condition.name


def _merged(several: Sequence[Ranges]) -> Ranges:
    """Ranges of several conditions at once; where fields meet, the later one's hold."""
    merged: dict[str, dict[str, Any]] = {}
    for ranges in several:
        for ingredient, own in ranges.items():
            merged[ingredient] = {**merged.get(ingredient, {}), **own}
    return merged
