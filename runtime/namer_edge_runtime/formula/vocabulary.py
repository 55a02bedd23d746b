"""The visual classes of a data set and its relation table (supplement, tables S1 and S2).

A vocabulary is data: three are packaged as JSON, any other is scanned from a label file, and each
model file carries the one it was trained with.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LatexError, ModelFileError, UsageError

END = "}"
"""The class of every attached imaginary token (table S2)."""
LIMITS = "\\limits"
GROUP, INDEX, BELOW, ROWS = "{", "[", "_ {", "&"
"""How an argument opens: a group, an optional index, the group directly below an operator, or rows
of cells, which `\\begin` opens itself and `\\end` closes."""
CELL, ROW = "&", "\\\\"
"""Separators of cells and of rows."""
ENVIRONMENTS = frozenset(
    f"\\begin{{{name}}}"
    for name in (*(f"{kind}matrix" for kind in ("", *"pbBvV")), "cases", "aligned")
)
"""Tokens that open rows of cells, in canonical labels."""
_LAID_OUT = {**dict.fromkeys(ENVIRONMENTS, (ROWS,)), "\\binom": (GROUP, GROUP)}
MAX_ENDINGS = 2
"""Most arguments of a relation: token picking and PGD tell two endings apart."""
MAX_CLASSES = 1 << 14
"""Most visual classes of a vocabulary; class numbers and maps of them stay small."""
BRACKETS = frozenset("{}")
SCRIPTS = ("^", "_")
RESERVED = BRACKETS | {"<sos>", "<eos>"}
"""Names of node classes that are no visual classes."""
LAYOUT = ENVIRONMENTS | {CELL, ROW}
"""Tokens of rows of cells, which are no visual tokens."""
INKLESS = frozenset((*SCRIPTS, LIMITS, CELL, ROW))
"""Visual tokens that nobody writes."""


@dataclass(frozen=True)
class Vocabulary:
    """Visual classes 0 … K-1 (symbols, then relations) and what each relation takes.

    Beyond the K visual classes: `none` of VAT (K), the node classes `end` (K), `sos` (K+1) and
    `eos` (K+2), and `delete` (K+1) of the self correction head.
    """

    name: str
    symbols: tuple[str, ...]
    relations: Mapping[str, tuple[str, ...]]
    """Relation token → how each of its arguments opens; each argument brings one ending `}`."""
    limits: tuple[str, ...] = ()
    """Operators whose subscript is written `\\limits _ {`."""

    def __post_init__(self) -> None:
        """Raises `ModelFileError` for classes that cannot be, by their names."""
        text = [self.name, *self.symbols, *self.relations, *self.limits]
        if not all(isinstance(item, str) for item in text):
            raise ModelFileError("vocabulary: names, symbols, relations and limits must be text")
        counted = Counter(self.tokens)
        wrong = sorted(t for t, n in counted.items() if n > 1 or t in RESERVED or t.split() != [t])
        if wrong:
            self._refuse(f"has impossible or repeated classes {wrong[:8]}")
        for token, opens in self.relations.items():
            if not 1 <= len(opens) <= MAX_ENDINGS or not {*opens} <= {GROUP, INDEX, BELOW, ROWS}:
                self._refuse(
                    f"has relation {token!r} with {len(opens)} arguments {list(opens[:4])}: a "
                    f"relation takes 1 to {MAX_ENDINGS}, each a group, an index, below or rows"
                )
        if not 1 <= self.size <= MAX_CLASSES:
            self._refuse(f"has {self.size} classes: there must be 1 to {MAX_CLASSES}")
        if not {*self.limits} <= {*self.symbols}:
            self._refuse("has limits that are none of its symbols")

    def _refuse(self, why: str) -> None:
        raise ModelFileError(f"vocabulary {self.name!r:.60} {why}")

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The K visual tokens in the order of their classes."""
        return (*self.symbols, *self.relations)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {token: number for number, token in enumerate((*self.tokens, END, "<sos>", "<eos>"))}

    @property
    def size(self) -> int:
        """K, the number of visual classes."""
        return len(self.tokens)

    @property
    def none(self) -> int:
        """VAT's class of a cell that holds nothing."""
        return self.size

    @property
    def end(self) -> int:
        """The node class of `}`."""
        return self.size

    @property
    def sos(self) -> int:
        return self.size + 1

    @property
    def eos(self) -> int:
        return self.size + 2

    @property
    def delete(self) -> int:
        """The self correction head's class of a node that should not be there."""
        return self.size + 1

    @cached_property
    def endings(self) -> NDArray[np.int8]:
        """[K]: how many `}` each visual class brings (0, 1 or 2; table S2)."""
        return np.array([len(self.relations.get(token, ())) for token in self.tokens], np.int8)

    def takes(self, token: str) -> tuple[str, ...]:
        """Opening token of each argument of `token`; every vocabulary knows layout relations."""
        return self.relations.get(token) or _LAID_OUT.get(token, ())

    @cached_property
    def opens_rows(self) -> frozenset[str]:
        """Each `\\begin{…}` that labels may have: those that are classes, and all where dots of
        matrices are; these are found by how their cells are laid out."""
        return ENVIRONMENTS if "\\ddots" in self else ENVIRONMENTS & self.relations.keys()

    def __contains__(self, token: object) -> bool:
        """Whether `token` is a visual class."""
        return isinstance(token, str) and self._ids.get(token, self.size) < self.size

    def id(self, token: str) -> int:
        """Class of a visual token, `}`, `<sos>` or `<eos>`; raises `LatexError` for any other."""
        try:
            return self._ids[token]
        except KeyError:
            raise LatexError(f"token {token!r} is no class of vocabulary {self.name!r}") from None

    def token(self, number: int) -> str:
        """Token of a node class 0 … K+2; raises `UsageError` outside."""
        if not 0 <= number < len(self._ids):
            raise UsageError(f"class {number} is outside vocabulary {self.name!r} of {self.size}")
        return (
            self.tokens[number]
            if number < self.size
            else (END, "<sos>", "<eos>")[number - self.size]
        )

    def extended(self, other: "Vocabulary") -> "Vocabulary":
        """All classes of this vocabulary, then those of `other` that it lacks, under its name."""
        own = set(self.tokens)
        symbols = [token for token in other.symbols if token not in own]
        relations = {t: takes for t, takes in other.relations.items() if t not in own}
        limits = [token for token in other.limits if token in symbols]
        return Vocabulary(
            other.name,
            (*self.symbols, *symbols),
            {**self.relations, **relations},
            (*self.limits, *limits),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "symbols": list(self.symbols),
            "relations": {token: list(arguments) for token, arguments in self.relations.items()},
            "limits": list(self.limits),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Vocabulary":
        """Raises `ModelFileError` where a part is missing or impossible."""
        try:
            relations = {token: tuple(opens) for token, opens in value["relations"].items()}
            return cls(value["name"], tuple(value["symbols"]), relations, tuple(value["limits"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelFileError(
                f"not a vocabulary, {error!r}: make it with `data vocabulary`"
            ) from error

    @classmethod
    def load(cls, name: str) -> "Vocabulary":
        """A packaged vocabulary, "crohme", "everyday", "hme100k" or "mathwriting", or that of a
        `.json` file.

        Raises `UsageError` for a name that is not packaged, `ModelFileError` for a bad file.
        """
        if name.endswith(".json"):
            try:
                return cls.from_json(json.loads(Path(name).read_text("utf-8")))
            except (OSError, ValueError) as error:
                raise ModelFileError(f"{name}: vocabulary cannot be read ({error})") from error
        folder = resources.files(__package__) / "vocabularies"
        names = sorted(item.name.removesuffix(".json") for item in folder.iterdir())
        if name not in names:
            raise UsageError(f"no packaged vocabulary {name!r}: there are {', '.join(names)}")
        return cls.from_json(json.loads((folder / f"{name}.json").read_text("utf-8")))

    @classmethod
    def scan(cls, labels: Iterable[str], name: str = "scanned") -> "Vocabulary":
        """Classes and relation table of canonical labels (spaces between tokens), from scanning.

        A token is a relation when most of its occurrences are followed by an argument; it takes
        as many groups as it mostly has, and an index if it ever has one. Of LaTeX's grammar only
        `\\limits` is known beforehand. Operators whose subscripts all carry `\\limits` take it.
        """
        seen: Counter[str] = Counter()
        groups: Counter[tuple[str, int]] = Counter()
        indexed: set[str] = set()
        below: Counter[tuple[str, str]] = Counter()
        for label in labels:
            tokens = label.split()
            seen.update(tokens)
            below.update(pair for pair in pairwise(tokens) if pair[1] in (LIMITS, "_"))
            for token, index, count in _arguments(tokens):
                groups[token, count] += 1
                indexed.update([token] if index else [])
        relations: dict[str, tuple[str, ...]] = {}
        for token in sorted(seen.keys() - BRACKETS):
            counts = {count: number for (t, count), number in groups.items() if t == token}
            if sum(counts.values()) * 2 > seen[token]:
                most = max(counts, key=lambda count: counts[count])
                relations[token] = (INDEX,) * (token in indexed) + (GROUP,) * most
        for token in seen.keys() & ENVIRONMENTS:
            relations[token] = (ROWS,)
            del seen[end(token)]
        if LIMITS in seen:
            relations[LIMITS] = (BELOW,)
        order = sorted(relations, key=lambda t: (len(relations[t]), t not in (*SCRIPTS, LIMITS), t))
        symbols = sorted(seen.keys() - BRACKETS - relations.keys())
        limits = [t for t in symbols if below[t, LIMITS] and not below[t, "_"]]
        return cls(name, tuple(symbols), {t: relations[t] for t in order}, tuple(limits))


def begin(environment: str) -> str:
    """The token that opens it."""
    return f"\\begin{{{environment}}}"


def end(opening: str) -> str:
    """The token that closes what the `\\begin{…}` `opening` has opened."""
    return opening.replace("\\begin", "\\end", 1)


def _arguments(tokens: list[str]) -> Iterable[tuple[str, bool, int]]:
    """(token, has an index, number of groups) of every token that is followed by a group."""
    stack: list[tuple[str, bool, int]] = []
    owner = ("", False, 0)
    brackets: list[str] = []
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if token == "{":
            stack.append((owner[0], owner[1], owner[2] + 1))
            continue
        if token == "}" and stack:
            owner = stack.pop()
        elif token == "]" and brackets and following == "{":
            owner = (brackets[-1], True, 0)
        else:
            owner = (token, False, 0)
        if token == "[":
            brackets.append(tokens[place - 1] if place else "")
        elif token == "]" and brackets:
            brackets.pop()
        if owner[2] and following != "{":
            yield owner
