"""Several formulas, one below the other, as the tokens of an `aligned` environment.

In canonical tokens: `\\begin{aligned}`, the lines with `\\\\` between them, `\\end{aligned}`. Each
line has one `&`, before its first relation that stands in no argument and no brackets, or in front.
"""

from collections.abc import Iterable, Sequence

from .vocabulary import CELL, ROW, begin, end

BEGIN, END = begin("aligned"), end(begin("aligned"))
_RELATIONS = r"""
= < > \leq \geq \neq \approx \equiv \cong \sim \in \rightarrow \leftarrow \Rightarrow
\Leftarrow \Leftrightarrow
"""
RELATIONS = frozenset(_RELATIONS.split())
_OPENING = frozenset({"{", "(", "[", "\\{"})
_CLOSING = frozenset({"}", ")", "]", "\\}"})


def aligned(lines: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Canonical tokens of the lines together; of a single one, its own."""
    rows = [tuple(line) for line in lines]
    if len(rows) < 2:
        return rows[0] if rows else ()
    tokens: list[str] = [BEGIN]
    for row in rows:
        left, right = halves(row)
        tokens += [*left, CELL, *right, ROW]
    return (*tokens[:-1], END)


def lines_of(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    """The lines of canonical tokens, without marks; a formula that is not `aligned` is one."""
    if len(tokens) < 2 or tokens[0] != BEGIN or tokens[-1] != END:
        return [tuple(tokens)]
    rows: list[list[str]] = [[]]
    depth = 0
    for token in tokens[1:-1]:
        depth += token.startswith("\\begin{") - token.startswith("\\end{")
        if depth < 0:  # two of them, one behind the other
            return [tuple(tokens)]
        if depth == 0 and token == ROW:
            rows.append([])
        elif depth or token != CELL:
            rows[-1].append(token)
    return [tuple(row) for row in rows]


def halves(tokens: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A line before its first relation, and from it on; without one, nothing and all."""
    depth = 0
    for place, token in enumerate(tokens):
        if depth <= 0 and token in RELATIONS:
            return tuple(tokens[:place]), tuple(tokens[place:])
        depth += (token in _OPENING) - (token in _CLOSING)
    return (), tuple(tokens)
