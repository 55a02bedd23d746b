"""Parts of a SymPy expression, and the names of its symbols."""

import re
from dataclasses import dataclass, field, replace

from .atoms import Atom
from .mathml import sign_of
from .signs import IDENTIFIER, SIGNS

LOOSE, SUM, PRODUCT, POWER, TIGHT = range(5)
"""Binding strength of an expression; relations and lists are no parts of sums."""
_CLASHING = frozenset(("C", "E", "I", "N", "O", "Q", "S", "beta", "gamma", "lambda", "zeta", "pi"))
"""Names of letters that are something else in SymPy, or in Python."""


@dataclass
class Value:
    """A row, or a part of one, as SymPy has it."""

    text: str
    level: int = TIGHT
    members: tuple[str, ...] = ()
    """Elements of a list."""
    sides: tuple[str, ...] = ()
    """Of a single relation: its sign and what stands before it and behind."""
    name: str = ""
    """Of a whole row: what it adds to the name of a symbol."""
    atoms: list[Atom] = field(default_factory=list)
    """Those of a whole row."""

    def at(self, level: int) -> str:
        """The text, in brackets where it holds less tightly than `level`."""
        if self.level == LOOSE < level:
            parts = self.members or self.sides[1:] or (self.text,)
            return call(sign_of(self.sides[0]).character if self.sides else "list", *parts)
        return self.text if self.level >= level else f"({self.text})"


def symbol(name: str) -> str:
    """A symbol of any name."""
    letter = SIGNS.get(name.partition("_")[0]) or SIGNS.get("\\" + name.partition("_")[0])
    known = letter is not None and letter.kind == IDENTIFIER and letter.character.isalpha()
    plain = known and name.isidentifier() and name.isascii() and name not in _CLASHING
    return name if plain else f"Symbol({name!r})"


def call(name: str, *arguments: str) -> str:
    """A function that SymPy need not know."""
    return f"Function({name!r})({', '.join(arguments)})"


BLANK = symbol("□")


def written(atom: Atom) -> str:
    """In the name of a symbol: LaTeX of a kind."""
    text = atom.token + "".join(f"{{{argument.name}}}" for argument in atom.arguments)
    for mark, script in (("_", atom.subscript), ("^", atom.superscript)):
        text += "" if script is None else f"{mark}{{{script.name}}}"
    return text


def name(atom: Atom) -> str:
    """Name of a symbol with its subscript and primes, without any other exponent."""
    base = written(replace(atom, subscript=None, superscript=None))
    base = base[1:] if re.fullmatch(r"\\[a-zA-Z]+", base) else base
    if atom.subscript is not None:
        inner = atom.subscript.name
        base += f"_{inner}" if re.fullmatch("[A-Za-z0-9]+", inner) else f"_{{{inner}}}"
    return base + "'" * (primes(atom))


def primes(atom: Atom) -> int:
    script = atom.superscript
    if script is None or {inner.token for inner in script.atoms} != {"\\prime"}:
        return 0
    return len(script.atoms)


def bare(atom: Atom) -> bool:
    return atom.subscript is None and atom.superscript is None and not atom.arguments


def differential(atoms: list[Atom], place: int) -> bool:
    """Whether `d x` stands there."""
    pair = atoms[place : place + 2]
    return len(pair) == 2 and pair[0].token == "d" and bare(pair[0]) and letter(pair[1])


def letter(atom: Atom) -> bool:
    return not atom.arguments and sign_of(atom.token).character.isalpha() and len(atom.token) != 0
