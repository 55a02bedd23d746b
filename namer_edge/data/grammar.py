"""Grammars that labels are drawn from: rules as text, a way drawn at random for each name."""

import re
from collections.abc import Sequence

import numpy as np


class Grammar:
    """Expands names by rules.

    A line of `rules` is `NAME = WAY | WAY …`, or `NAME * COUNT = …` for ways that count as often; a
    way holds text and names as `<NAME>`. Lines with the same name add up. The sign | is written as
    `\\vert`.
    """

    def __init__(self, rules: str, rng: np.random.Generator) -> None:
        self.rng = rng
        self.rules: dict[str, list[str]] = {}
        for line in rules.strip().splitlines():
            head, _, ways = line.partition(" = ")
            name, _, count = head.partition(" * ")
            self.rules.setdefault(name, []).extend(ways.split(" | ") * int(count or 1))

    def some(self, choice: Sequence[str]) -> str:
        return choice[int(self.rng.integers(len(choice)))]

    def expanded(self, name: str) -> str:
        """A string that the rule `name` makes."""
        return re.sub(
            r"<(\w+)>", lambda found: self.expanded(found[1]), self.some(self.rules[name])
        )
