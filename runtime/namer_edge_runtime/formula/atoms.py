"""A formula as rows of atoms, in TeX's sense: a nucleus with a subscript and a superscript.

Both output forms are written from it, from the innermost argument outwards and without recursion,
so a path of any depth that the decoder returns can be written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count, pairwise
from typing import Any, TypeVar

from ..errors import LatexError, ModelFileError
from .nodes import to_nodes
from .signs import BAR, CLOSE, FUNCTION, LARGE, OPEN, OPERATOR, PUNCTUATION, RELATION, SIGNS
from .spelling import OPERATORS
from .vocabulary import CELL, END, GROUP, LIMITS, ROW, ROWS, SCRIPTS, Vocabulary

Form = TypeVar("Form")
"""Output of a row: text, or an output form's own value."""


@dataclass
class Atom:
    """One place of a row; arguments, cells and scripts are already in the output form."""

    token: str
    """A symbol, a relation with its `arguments`, `{` for a grouped atom, or empty: no nucleus."""
    takes: tuple[str, ...] = ()
    """Opening token of each argument."""
    arguments: list[Any] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    """Rows of an environment, of one cell or more."""
    wide: bool = False
    """An argument has more than one atom."""
    subscript: Any = None
    superscript: Any = None
    limits: bool = False
    """The scripts stand below and above."""
    place: int | None = None
    """Among the visual tokens of the formula, from 0; None for what is none, such as rows."""


@cache
def _known() -> Vocabulary:
    """HME100K's, whose relation table has CROHME's in it."""
    return Vocabulary.load("hme100k")


def relation_table(tokens: Sequence[str]) -> Vocabulary:
    """The packaged relation table and, as canonical tokens show it, what else takes arguments.

    Raises `LatexError` for tokens that show a relation with too many arguments.
    """
    takers = {token for token, following in pairwise(tokens) if following == GROUP}
    if takers <= _known().relations.keys() | {END, "]"}:
        return _known()
    try:
        shown = Vocabulary.scan([" ".join(tokens)]).relations
    except ModelFileError as error:
        raise LatexError(f"no formula: {error}") from None
    return Vocabulary("shown", (), {**shown, **_known().relations})


def write(
    tokens: Sequence[str], vocabulary: Vocabulary | None, row: Callable[[list[Atom]], Form]
) -> Form:
    """Canonical `tokens` in the form that `row` writes a row of atoms in.

    Raises `LatexError` where an argument is missing or braces do not match.
    """
    vocabulary = vocabulary or relation_table(tokens)
    written = row if "\\|" in vocabulary else lambda atoms: row(_norms(atoms))
    atoms: list[Atom] = []
    outer: list[tuple[list[Atom], Atom]] = []
    visual = count()
    for node in to_nodes(tokens, vocabulary):
        takes = vocabulary.takes(node.token)
        rows = outer[-1][1].rows if outer else []
        if takes:
            place = None if takes == (ROWS,) else next(visual)
            outer.append((atoms, Atom(node.token, takes, place=place)))
            outer[-1][1].rows += [[]] if takes == (ROWS,) else []
            atoms = []
        elif rows and node.token in (CELL, ROW):
            rows[-1].append(written(atoms))
            rows += [[]] if node.token == ROW else []
            atoms = []
        elif node.token == END:
            around, relation = outer[-1]
            relation.wide |= len(atoms) > 1
            (rows[-1] if rows else relation.arguments).append(written(atoms))
            if rows or len(relation.arguments) == len(relation.takes):
                outer.pop()
                atoms = around
                _attach(atoms, relation, written)
            else:
                atoms = []
        else:
            atoms.append(Atom(node.token, place=next(visual)))
    return written(atoms)


def _attach(atoms: list[Atom], relation: Atom, row: Callable[[list[Atom]], Any]) -> None:
    """Adds a relation to the row; a script goes to the atom before it."""
    if relation.token not in (*SCRIPTS, LIMITS):
        atoms.append(relation)
        return
    base = atoms.pop() if atoms else Atom("")
    content = relation.arguments[0]
    taken = base.superscript if relation.token == "^" else base.subscript
    if taken is not None:
        # Two scripts in one place: the first belongs to what the second is set on.
        base = Atom(GROUP, arguments=[row([base])])
    if relation.token == "^":
        base.superscript = content
    else:
        base.subscript = content
        base.limits = relation.token == LIMITS and base.token in OPERATORS
    atoms.append(base)


_BEFORE = (OPERATOR, RELATION, OPEN, PUNCTUATION, LARGE, FUNCTION)
_AFTER = (OPERATOR, RELATION, CLOSE, PUNCTUATION)


def _norms(atoms: list[Atom]) -> list[Atom]:
    """Bars round what is between them, of a vocabulary with one class for `\\parallel` and `\\|`:
    those with nothing before the left one, or behind the right one, to be parallel."""
    bars = [place for place, atom in enumerate(atoms) if atom.token == "\\parallel"]
    for left, right in zip(bars[::2], bars[1::2], strict=False):
        before, after = atoms[:left][-1:], atoms[right + 1 :][:1]
        free = [*(_joins(a, _BEFORE) for a in before), *(_joins(a, _AFTER) for a in after)]
        scripted = atoms[right].subscript is not None or atoms[right].superscript is not None
        if right > left + 1 and (len(free) < 2 or any(free) or scripted):
            atoms[left].token = atoms[right].token = "\\|"
    return atoms


def _joins(atom: Atom, kinds: tuple[str, ...]) -> bool:
    sign = SIGNS.get(atom.token)
    return sign is not None and (sign.kind in kinds or sign.kind == BAR)
