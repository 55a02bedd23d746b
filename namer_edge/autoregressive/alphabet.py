"""The output tokens of autoregressive models: canonical tokens, braces included."""

from collections.abc import Sequence

from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary

OPEN = "{"
STRUCTURE = frozenset(("{", "}", "^", "_", "\\limits", "<sos>", "<eos>"))
"""Tokens without ink."""


class Alphabet:
    """The node classes of a vocabulary (visual, `}`, <sos>, <eos>), followed by `{`."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.sos, self.eos = vocabulary.sos, vocabulary.eos
        self.open = vocabulary.size + 3
        self.size = vocabulary.size + 4

    def numbers(self, tokens: Sequence[str]) -> list[int]:
        """Raises `LatexError` for a token without a class."""
        return [self.open if token == OPEN else self.vocabulary.id(token) for token in tokens]

    def tokens(self, numbers: Sequence[int]) -> tuple[str, ...]:
        return tuple(OPEN if n == self.open else self.vocabulary.token(n) for n in numbers)

    @property
    def inked(self) -> list[int]:
        """Tokens with ink: all but braces, scripts, `\\limits`, <sos> and <eos>."""
        names = self.tokens(range(self.size))
        return [number for number, token in enumerate(names) if token not in STRUCTURE]

    def visual_places(self, tokens: Sequence[str]) -> list[int]:
        """Indices of the canonical `tokens` that are visual nodes, in the order of the path.

        Braces, the brackets of an index and the `_` after `\\limits` are not. Raises `LatexError`
        for missing arguments or unmatched braces.
        """
        places: list[int] = []
        for node in to_nodes(tokens, self.vocabulary):
            if not node.ending:
                start = places[-1] + 1 if places else 0
                places.append(tokens.index(node.token, start))
        return places
