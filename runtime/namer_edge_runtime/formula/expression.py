"""`Expression`: a formula as tokens with the grammar that reads them, in every output form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from .aligned import environment, halves, lines_of
from .atoms import relation_table
from .label_graph import label_graph
from .latex import compact, katex
from .mathml import mathml, mathml_table
from .nodes import Node, to_nodes
from .vocabulary import Vocabulary


@dataclass(frozen=True)
class Expression:
    """Canonical tokens and the vocabulary that says which of them take arguments; of several lines,
    the tokens of `aligned`.

    All forms raise `LatexError` for tokens that are not balanced.
    """

    tokens: tuple[str, ...]
    vocabulary: Vocabulary | None = None
    """None: the packaged relation table, with what the tokens themselves show."""

    @cached_property
    def grammar(self) -> Vocabulary:
        """The relation table that all forms are written by."""
        return self.vocabulary or relation_table(self.tokens)

    @cached_property
    def lines(self) -> "tuple[Expression, ...]":
        """The formula of each line; of a single one, itself alone."""
        rows = lines_of(self.tokens)
        if len(rows) == 1:
            return (self,)
        return tuple(Expression(row, self.grammar) for row in rows)

    @property
    def canonical(self) -> str:
        """Space-separated tokens in the form of the published labels."""
        return " ".join(self.tokens)

    @property
    def latex(self) -> str:
        """Compact LaTeX, ready to be set."""
        return self._written(compact)

    @property
    def katex(self) -> str:
        """Compact LaTeX that KaTeX sets, also in strict mode."""
        return self._written(katex)

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the formula's path."""
        nodes: list[Node] = []
        for line in self.lines:
            first = len(nodes)
            own = to_nodes(line.tokens, self.grammar)
            nodes += [replace(n, parent=n.parent + first) if n.ending else n for n in own]
        return nodes

    def mathml(self, *, marked: bool = False) -> str:
        """Presentation MathML; `marked` gives the element of each visual token a `data-token`."""
        if len(self.lines) == 1:
            return mathml(self.tokens, self.grammar, marked=marked)
        return mathml_table([halves(line.tokens) for line in self.lines], self.grammar, marked)

    def label_graph(
        self,
        scores: Sequence[float] | None = None,
        strokes: Sequence[Sequence[int]] | None = None,
        name: str = "",
    ) -> str:
        """The label graph of CROHME's evaluation tools (`label_graph`)."""
        return label_graph(self.tokens, scores, strokes, name, self.grammar)

    def _written(self, form: Callable[[Sequence[str], Vocabulary], str]) -> str:
        """LaTeX in the form that `form` gives one line."""
        if len(self.lines) == 1:
            return form(self.tokens, self.grammar)
        rows = [halves(line.tokens) for line in self.lines]
        return environment(
            [(form(left, self.grammar), form(right, self.grammar)) for left, right in rows]
        )
