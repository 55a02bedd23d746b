"""Canonical tokens ↔ the path through the nodes (supplement, tables S1 and S2).

`{` is no node. A relation's arguments follow it on the path, each closed by an attached imaginary
token of class `}`: `x ^ { y z } + 1` is the path `x ^ y z } + 1`. The index of a root is an
argument too, so a root without one is closed at once: `\\sqrt } x }`. Rows of cells are one
argument, with what parts them on the path: `\\begin{pmatrix} a & b \\\\ c & d }`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import LatexError
from .vocabulary import END, ENVIRONMENTS, INDEX, ROWS, Vocabulary, end

_ENDS = frozenset(map(end, ENVIRONMENTS))


@dataclass(frozen=True)
class Node:
    """One stop of the path."""

    token: str
    """A visual token, or `}`."""
    parent: int = -1
    """Place in the path of the relation that this `}` belongs to; -1 for a visual token."""
    ending: int = 0
    """Number, from 1, of the parent's argument that this `}` closes; 0 for a visual token."""


@dataclass
class _Open:
    """An argument that is being read or written."""

    relation: int
    arguments: tuple[str, ...]
    number: int
    start: int


def to_nodes(tokens: Sequence[str], vocabulary: Vocabulary) -> list[Node]:
    """The path of canonical `tokens`, without `<sos>` and `<eos>`.

    A token without a class is taken for a symbol. Raises `LatexError`, naming the token and its
    place, where an argument is missing or braces do not match.
    """
    nodes: list[Node] = []
    opened: list[_Open] = []
    place = 0

    def enter(relation: int, arguments: tuple[str, ...], number: int) -> None:
        """Opens the next argument; an index that is not there is closed at once."""
        nonlocal place
        if number == len(arguments):
            return
        opening = [] if arguments[number] == ROWS else arguments[number].split()
        if list(tokens[place : place + len(opening)]) == opening:
            place += len(opening)
            opened.append(_Open(relation, arguments, number, place))
        elif arguments[number] == INDEX:
            nodes.append(Node(END, relation, number + 1))
            enter(relation, arguments, number + 1)
        else:
            wanted = f"{arguments[number]!r} after {nodes[relation].token!r}"
            raise LatexError(f"{_at(tokens, place)}, but {wanted} was expected")

    while place < len(tokens):
        token = tokens[place]
        place += 1
        inner = opened[-1] if opened else None
        kind = "" if inner is None else inner.arguments[inner.number]
        # In canonical form `{` follows relations only, so a bracket before it ends the index.
        ends_index = token == "]" and list(tokens[place : place + 1]) == ["{"]
        if inner is not None and (
            ends_index
            if kind == INDEX
            else token == (end(tokens[inner.start - 1]) if kind == ROWS else END)
        ):
            opened.pop()
            nodes.append(Node(END, inner.relation, inner.number + 1))
            enter(inner.relation, inner.arguments, inner.number + 1)
        elif token in ("{", END) or token in _ENDS:
            raise LatexError(f"{_at(tokens, place - 1)} belongs to no relation")
        else:
            nodes.append(Node(token))
            enter(len(nodes) - 1, vocabulary.takes(token), 0)
    if opened:
        raise LatexError(f"{_at(tokens, opened[-1].start - 1)} is never closed")
    return nodes


def to_tokens(path: Iterable[Node | str], vocabulary: Vocabulary) -> list[str]:
    """Canonical tokens of a path, given as nodes or as their tokens; balanced whenever it returns.

    A `}` closes the innermost open argument, so tokens alone say it all. Raises `LatexError` for
    a path that is not well nested.
    """
    tokens: list[str] = []
    opened: list[_Open] = []
    for place, node in enumerate(path):
        token = node.token if isinstance(node, Node) else node
        if token != END:
            tokens.append(token)
            current = _Open(place, vocabulary.takes(token), 0, 0)
        elif opened:
            current = opened.pop()
            _close(tokens, current)
            current.number += 1
        else:
            raise LatexError(f"ending '}}' at place {place + 1} of the path closes nothing")
        if current.number < len(current.arguments):
            current.start = len(tokens)
            if current.arguments[current.number] != ROWS:
                tokens += current.arguments[current.number].split()
            opened.append(current)
    if opened:
        raise LatexError(f"the relation at place {opened[-1].relation + 1} of the path has no end")
    return tokens


def _close(tokens: list[str], argument: _Open) -> None:
    """Writes the closing bracket; an empty index is not written at all."""
    kind = argument.arguments[argument.number]
    if kind == ROWS:
        tokens.append(end(tokens[argument.start - 1]))
    elif kind != INDEX:
        tokens.append(END)
    elif len(tokens) == argument.start + 1:
        del tokens[argument.start :]
    else:
        tokens.append("]")


def _at(tokens: Sequence[str], place: int) -> str:
    """Names a token and its place for an error message."""
    if place >= len(tokens):
        return f"the formula ends after {len(tokens)} tokens"
    return f"token {tokens[place]!r} at place {place + 1} of {len(tokens)}"
