"""Labels of school algebra and of derivatives, drawn from a small grammar by a seed.

    namer-edge data school -o SCHOOL.tsv

CROHME's labels hold few primes and none twice, and little in which a letter stands beside a digit
of the same shape (z and 2, q and 9). The file is one for the `labels` of a training configuration.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence

import numpy as np

from .drawn_labels import add_options, write_labels

SUMMARY = "draw labels of school algebra and of derivatives from a grammar"
UNKNOWNS = "xyzxyzxyabcdmnpqrstuvwkhg"
FUNCTIONS = "fghyuFG"
SIGNS = ("=", "=", "=", "<", ">", "\\leq", "\\geq")
PRIMED = 0.3
"""Share of the labels that hold primes."""


class School:
    """Draws labels, each a list of canonical tokens."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.letters: list[str] = []

    def __call__(self) -> list[str]:
        self.letters = [self.some(UNKNOWNS) for _ in range(self.rng.integers(1, 4))]
        if self.rng.random() < PRIMED:
            return self.derivatives()
        left, sign, right = self.side(), self.some(SIGNS), self.side()
        if self.rng.random() < 0.5:
            right = self.number() if self.rng.random() < 0.8 else [self.letter()]
        label = [*left, sign, *right]
        if self.rng.random() < 0.08:
            label += [self.some(SIGNS[3:]), *self.number()]
        return label

    def some(self, choice: Sequence[str]) -> str:
        return choice[int(self.rng.integers(len(choice)))]

    def letter(self) -> str:
        return self.some(self.letters)

    def number(self, most: int = 2) -> list[str]:
        """A number: of one digit in two thirds of the cases, with a decimal mark in a few."""
        digits = int(self.rng.integers(2, most + 1)) if self.rng.random() < 1 / 3 else 1
        number = [str(self.rng.integers(10)) for _ in range(digits)]
        if number[0] == "0" and digits > 1:
            number[0] = str(self.rng.integers(1, 10))
        if self.rng.random() < 0.06:
            number += [self.some(".,"), str(self.rng.integers(10))]
        return number

    def term(self) -> list[str]:
        """A product as it is written at school: 3 c, z ( z + 3 ), x ^ { 2 } …"""
        way = self.rng.random()
        factor = [] if self.rng.random() < 0.4 else self.number()
        if way < 0.25:
            return self.number()
        if way < 0.55:
            return [*factor, self.letter()]
        if way < 0.67:
            return [*factor, self.letter(), "^", "{", str(self.rng.integers(2, 10)), "}"]
        if way < 0.77:
            before = factor if self.rng.random() < 0.5 else [self.letter()]
            return [*before, "(", *self.sum(), ")"]
        if way < 0.85:
            above = [self.letter()] if self.rng.random() < 0.5 else self.sum()
            below = self.number() if self.rng.random() < 0.6 else [self.letter()]
            return ["\\frac", "{", *above, "}", "{", *below, "}"]
        if way < 0.89:
            return ["\\sqrt", "{", *self.sum(), "}"]
        if way < 0.94:
            return [self.letter(), "_", "{", str(self.rng.integers(10)), "}"]
        return [*factor, self.letter(), self.letter()]

    def sum(self) -> list[str]:
        """Letter and number, either way round."""
        parts = [[self.letter()], self.number()]
        if self.rng.random() < 0.3:
            parts.reverse()
        return [*parts[0], self.some("+-"), *parts[1]]

    def side(self) -> list[str]:
        side = ["-"] if self.rng.random() < 0.1 else []
        side += self.term()
        for _ in range(int(self.rng.integers(0, 3))):
            side += [self.some(("+", "+", "-", "-", "\\cdot", "\\times")), *self.term()]
        return side

    def derivative(self) -> list[str]:
        """y ^ { \\prime }, f ^ { \\prime \\prime } ( x ) …"""
        primes = ["\\prime"] * (1 if self.rng.random() < 0.55 else 2)
        if self.rng.random() < 0.05:
            primes.append("\\prime")
        derivative = [self.some(FUNCTIONS), "^", "{", *primes, "}"]
        if self.rng.random() < 0.5:
            derivative += ["(", self.some((*self.letters, "0", "1", "2")), ")"]
        return derivative

    def derivatives(self) -> list[str]:
        label = [*([] if self.rng.random() < 0.7 else self.number()), *self.derivative()]
        for _ in range(int(self.rng.integers(0, 3))):
            following = self.derivative() if self.rng.random() < 0.5 else self.term()
            label += [self.some("+-"), *following]
        if self.rng.random() < 0.75:
            label += ["=", *(["0"] if self.rng.random() < 0.5 else self.side())]
        return label


def labels(rng: np.random.Generator, count: int) -> Iterable[str]:
    """`count` different labels."""
    school = School(rng)
    found: dict[str, None] = {}
    while len(found) < count:
        found.setdefault(" ".join(school()))
    return found


def configure(parser: argparse.ArgumentParser) -> None:
    add_options(parser, "SCHOOL.tsv", 20_000)


def run(arguments: argparse.Namespace) -> int:
    return write_labels(arguments, "school", labels)


if __name__ == "__main__":  # the former name
    from namer_edge_runtime.command import main

    sys.exit(main(["data", "school", *sys.argv[1:]]))
