"""The output of `TreeDecoder`: a formula as a tree, and the tree as numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from namer_edge_runtime.errors import ConfigError, LatexError
from namer_edge_runtime.formula.nodes import to_nodes, to_tokens
from namer_edge_runtime.formula.vocabulary import END, INDEX, INKLESS, Vocabulary

from .alphabet import Alphabet

PLACES = 256
"""Most nodes of a tree, root included."""
RIGHT = "right"


@dataclass
class _Row:
    """Siblings in progress."""

    owner: int
    """Place of the node whose argument or script this is; 0, the root, for the formula."""
    relation: str
    """Relation of the first symbol to it."""
    last: int = -1
    """Place of the last symbol; -1 for none."""


class TreeAlphabet(Alphabet):
    """Three numbers a node, in the order of reading: the place of its parent, its class, and its
    relation to the parent; then a last parent, and <eos> closes.

    Place 0 is the root, of class <sos>. A symbol is `right` of the one before it; scripts (`^`,
    `_`, `\\limits`) are relations to their base; arguments of `\\frac`, `\\sqrt` and the like have
    relations by their number. An empty argument holds a node of class `}`. A script without a base
    is a symbol with an argument.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self.scripts = tuple(t for t in vocabulary.relations if t in INKLESS)
        most = max((len(arguments) for arguments in vocabulary.relations.values()), default=0)
        self.arguments = tuple(f"argument {number}" for number in range(1, most + 1))
        self.relations = (RIGHT, *self.scripts, *self.arguments)
        self.classes = vocabulary.size + 3
        """Numbers below are classes of nodes, <sos> and <eos> included."""
        self.pointers = self.classes + len(self.relations)
        """First number of a parent's place; smaller numbers are relations."""
        self.size = self.pointers + PLACES

    def numbers(self, tokens: Sequence[str]) -> list[int]:
        """Numbers of a label; raises `LatexError` for tokens without a class, unmatched braces, and
        trees of more than `PLACES` nodes."""
        vocabulary = self.vocabulary
        rows = [_Row(0, RIGHT)]
        written: list[int] = []
        places = 1

        def write(parent: int, token: str, relation: str) -> int:
            nonlocal places
            if places == PLACES:
                raise LatexError(f"a formula of more than {PLACES - 1} symbols is no tree here")
            number = self.classes + self.relations.index(relation)
            written.extend((self.pointers + parent, vocabulary.id(token), number))
            places += 1
            return places - 1

        for node in to_nodes(tokens, vocabulary):
            row = rows[-1]
            if not node.ending:
                if node.token in self.scripts and row.last >= 0:
                    rows.append(_Row(row.last, node.token))
                    continue
                alone = row.last < 0
                relation = row.relation if alone else RIGHT
                row.last = write(row.owner if alone else row.last, node.token, relation)
                if node.token in vocabulary.relations:
                    rows.append(_Row(row.last, self.arguments[0]))
                continue
            rows.pop()
            relation_token = row.relation
            if row.relation in self.arguments:
                relation_token = self._token(written, row.owner)
            arguments = vocabulary.relations[relation_token]
            if row.last < 0 and arguments[node.ending - 1] != INDEX:
                write(row.owner, END, row.relation)
            if node.ending < len(arguments):
                rows.append(_Row(row.owner, self.arguments[node.ending]))
        return [*written, self.pointers + max(rows[0].last, 0)]

    def _token(self, written: Sequence[int], place: int) -> str:
        """The token of the node at a place."""
        return self.vocabulary.token(written[3 * (place - 1) + 1])

    def tokens(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """Canonical tokens of a tree, always with matching braces; an incomplete last node is left
        out. Surplus children are placed to the right of their parent."""
        tree = _Tree(self)
        for start in range(0, len(numbers) - 2, 3):
            parent, kind, relation = numbers[start : start + 3]
            tree.add(parent - self.pointers, kind, self.relations[relation - self.classes])
        return tuple(to_tokens(tree.path(), self.vocabulary))

    def visual_places(self, tokens: Sequence[str]) -> list[int]:
        """Raises `ConfigError`: scripts are no nodes of a tree, so they have no attention."""
        raise ConfigError("a tree decoder has no attention to scripts: choose another teacher")


class _Tree:
    """Nodes with their children, added in the order of decoding."""

    def __init__(self, alphabet: TreeAlphabet) -> None:
        self.alphabet = alphabet
        self.kinds = [alphabet.sos]
        self.children: list[list[tuple[str, int]]] = [[]]

    def add(self, parent: int, kind: int, relation: str) -> None:
        self.children[min(max(parent, 0), len(self.kinds) - 1)].append((relation, len(self.kinds)))
        self.kinds.append(kind)
        self.children.append([])

    def path(self) -> list[str]:
        """Tokens of the path, each argument closed by `}`; see `formula.nodes`."""
        return [token for _, child in self.children[0] for token in self._row(child)]

    def _row(self, place: int) -> Iterator[str]:
        """The symbol at a place and all symbols to its right."""
        waiting = [place]  # no recursion along a row, which may be as long as the formula
        while waiting:
            place = waiting.pop()
            own, right = self._parted(place)
            yield from own
            waiting += reversed(right)

    def _parted(self, place: int) -> tuple[list[str], list[int]]:
        """Tokens of a symbol with arguments and scripts, and the places of its right siblings."""
        alphabet, vocabulary = self.alphabet, self.alphabet.vocabulary
        if self.kinds[place] >= vocabulary.end:  # an empty argument
            return [], [child for _, child in self.children[place]]
        token = vocabulary.token(self.kinds[place])
        names = alphabet.arguments[: len(vocabulary.relations.get(token, ()))]
        own = [token]
        for name in names:
            for relation, child in self.children[place]:
                own += self._row(child) if relation == name else ()
            own.append(END)
        right = []
        for relation, child in self.children[place]:
            if relation in alphabet.scripts:
                own += [relation, *self._row(child), END]
            elif relation not in names:
                right.append(child)
        return own, right
