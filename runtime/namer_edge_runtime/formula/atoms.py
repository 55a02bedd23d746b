"""A formula as rows of atoms, in TeX's sense: a nucleus with a subscript and a superscript.

Both output forms are written from it, from the innermost argument outwards and without recursion,
so a path of any depth that the decoder returns can be written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count, pairwise

from ..errors import LatexError, ModelFileError
from .nodes import to_nodes
from .spelling import OPERATORS
from .vocabulary import END, GROUP, LIMITS, SCRIPTS, Vocabulary


@dataclass
class Atom:
    """One place of a row; arguments and scripts are already written in the output form."""

    token: str
    """A symbol, a relation with its `arguments`, `{` for a grouped atom, or empty: no nucleus."""
    takes: tuple[str, ...] = ()
    """How each argument opens in the relation table."""
    arguments: list[str] = field(default_factory=list)
    subscript: str | None = None
    superscript: str | None = None
    limits: bool = False
    """The scripts stand below and above."""
    place: int | None = None
    """Among the visual tokens of the formula, from 0; None for what is none of them."""


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
    tokens: Sequence[str],
    vocabulary: Vocabulary | None,
    row: Callable[[list[Atom]], str],
    first: int = 0,
) -> str:
    """Canonical `tokens` in the form that `row` writes a row of atoms in; the places of their
    visual tokens count from `first`.

    Raises `LatexError` where an argument is missing or braces do not match.
    """
    vocabulary = vocabulary or relation_table(tokens)
    atoms: list[Atom] = []
    outer: list[tuple[list[Atom], Atom]] = []
    visual = count(first)
    for node in to_nodes(tokens, vocabulary):
        if node.token in vocabulary.relations:
            takes = vocabulary.relations[node.token]
            outer.append((atoms, Atom(node.token, takes, place=next(visual))))
            atoms = []
        elif node.token == END:
            around, relation = outer[-1]
            relation.arguments.append(row(atoms))
            if len(relation.arguments) == len(relation.takes):
                outer.pop()
                atoms = around
                _attach(atoms, relation, row)
            else:
                atoms = []
        else:
            atoms.append(Atom(node.token, place=next(visual)))
    return row(atoms)


def _attach(atoms: list[Atom], relation: Atom, row: Callable[[list[Atom]], str]) -> None:
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
