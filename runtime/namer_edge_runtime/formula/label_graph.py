"""Canonical tokens → the label graph of CROHME's evaluation tools (`.lg`).

One line for each symbol, `O, id, label, weight, strokes…`, and one for each relation between two
of them, `R, parent, child, relation, weight`: Right, Sup, Sub, Above, Below, Inside. The brackets
of a matrix are one symbol, on which cells hang by row and column: Cell-2-1.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .aligned import lines_of
from .atoms import relation_table
from .nodes import to_nodes
from .vocabulary import CELL, INDEX, LAYOUT, LIMITS, ROW, ROWS, Vocabulary

_LABEL = {",": "COMMA", "\\frac": "-", "<": "\\lt", ">": "\\gt", "\\cdots": "\\ldots"}
"""Token → what the symbol is called in CROHME's own graphs."""
_ARGUMENTS = {
    "\\frac": ("Above", "Below"),
    "\\overline": ("Below",),
    "\\overrightarrow": ("Below",),
    "\\widehat": ("Below",),
    "\\dot": ("Below",),
    "\\ddot": ("Below",),
    "\\bar": ("Below",),
    "\\vec": ("Below",),
    "\\hat": ("Below",),
    "\\tilde": ("Below",),
    "\\widetilde": ("Below",),
    "\\underline": ("Above",),
    "\\binom": ("Above", "Below"),
}
"""Positions of the arguments of a relation with ink of its own; others stand inside."""
_CELL = "Cell"
_KIND = {INDEX: "Above", ROWS: _CELL}
_SCRIPT = {"_": "Sub", "^": "Sup", LIMITS: "Below"}


@dataclass(frozen=True)
class Symbol:
    """A symbol with ink, and what it hangs on."""

    token: str
    number: int
    """Place among the visual tokens of the formula; -1 for rows of cells, which are none."""
    parent: int = -1
    """Place in the list of symbols of the one that it hangs on; -1 for the first of all."""
    relation: str = ""


@dataclass
class _Row:
    """A row that is being read: the symbol it hangs on and how, and its last symbol so far."""

    parent: int
    relation: str
    last: int = -1
    limits: bool = False
    """The last symbol has its scripts below and above."""


@dataclass
class _Open:
    """A relation whose arguments are being read, the row it stands in, and where they hang."""

    row: _Row
    relations: list[str]
    parent: int
    arguments: int = field(default=0)
    cell: tuple[int, int] = (1, 1)
    """Row and column, from 1, of the cell that is being read."""


def symbols(tokens: Sequence[str], vocabulary: Vocabulary | None = None) -> list[Symbol]:
    """The symbols of canonical `tokens` in reading order, each with the relation to its parent.

    A script that has nothing before it stands in the row itself; each line of `aligned` is a tree
    of its own. Raises `LatexError` for tokens that are not balanced.
    """
    vocabulary = vocabulary or relation_table(tokens)
    found: list[Symbol] = []
    visual = 0
    for line in lines_of(tokens):
        first = len(found)
        for own in _tree(line, vocabulary):
            number = own.number + visual if own.number >= 0 else -1
            parent = own.parent + first if own.parent >= 0 else -1
            found.append(Symbol(own.token, number, parent, own.relation))
        visual += sum(n.token not in LAYOUT and not n.ending for n in to_nodes(line, vocabulary))
    return found


def _tree(tokens: Sequence[str], vocabulary: Vocabulary) -> list[Symbol]:
    """`symbols` of one line."""
    found: list[Symbol] = []
    row = _Row(-1, "")
    opened: list[_Open] = []
    number = -1
    for node in to_nodes(tokens, vocabulary):
        if node.ending:
            relation = opened[-1]
            relation.arguments += 1
            if relation.arguments == len(relation.relations):
                opened.pop()
                if relation.row.last < 0:  # a script without a base
                    relation.row.last = row.last
                row = relation.row
            else:
                row = _Row(relation.parent, relation.relations[relation.arguments])
            continue
        takes = vocabulary.takes(node.token)
        if node.token in (CELL, ROW) and opened and opened[-1].relations == [_CELL]:
            rows = opened[-1]
            line, column = rows.cell
            rows.cell = (line + 1, 1) if node.token == ROW else (line, column + 1)
            row = _Row(rows.parent, "{}-{}-{}".format(_CELL, *rows.cell))
            continue
        rows_of_cells = takes == (ROWS,)
        number += not rows_of_cells
        if node.token in _SCRIPT:
            above = node.token == "^" and row.limits
            row.limits |= node.token == LIMITS
            names = ["Above" if above else _SCRIPT[node.token]]
            opened.append(_Open(row, names, row.last))
            hangs = (row.last, names[0]) if row.last >= 0 else (row.parent, row.relation)
            row = _Row(*hangs)
            continue
        hangs = (row.last, "Right") if row.last >= 0 else (row.parent, row.relation)
        found.append(Symbol(node.token, -1 if rows_of_cells else number, *hangs))
        row.last, row.limits = len(found) - 1, False
        if takes:
            inside = [_KIND.get(opening, "Inside") for opening in takes]
            names = [*_ARGUMENTS.get(node.token, inside)]
            opened.append(_Open(row, names, row.last))
            row = _Row(row.last, f"{_CELL}-1-1" if takes == (ROWS,) else names[0])
    return found


def label_graph(
    tokens: Sequence[str],
    scores: Sequence[float] | None = None,
    strokes: Sequence[Sequence[int]] | None = None,
    name: str = "",
    vocabulary: Vocabulary | None = None,
) -> str:
    """The text of an `.lg` file for canonical `tokens`.

    Args:
        scores: one for each visual token, the weight of its symbol (default: 1).
        strokes: the strokes of each visual token, none for `^ _ \\limits`; without them, as for
            pictures, each symbol counts as one stroke of its own.
        name: the formula's, for the first line.
    """
    found = symbols(tokens, vocabulary)
    seen: Counter[str] = Counter()
    names, objects, relations = [], [], []
    for place, symbol in enumerate(found):
        label = _LABEL.get(symbol.token, symbol.token)
        seen[label] += 1
        names.append(f"{label}_{seen[label]}")
        known = symbol.number >= 0
        weight = scores[symbol.number] if scores is not None and known else 1.0
        own = [place] if strokes is None else strokes[symbol.number] if known else ()
        parts = ["O", names[-1], label, f"{weight:.4g}", *map(str, own)]
        objects.append(", ".join(parts))
        if symbol.relation:
            parts = ["R", names[symbol.parent], names[-1], symbol.relation, "1.0"]
            relations.append(", ".join(parts))
    return "\n".join(
        [
            f"# IUD, {name}",
            f"# Objects({len(objects)}):",
            *objects,
            "",
            f"# Relations from SRT ({len(relations)}):",
            *relations,
            "",
        ]
    )
