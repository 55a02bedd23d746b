"""`Expression`: a formula as tokens with the grammar that reads them, in every output form."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .aligned import lines_of
from .atoms import relation_table
from .label_graph import label_graph
from .latex import compact, katex
from .mathml import mathml
from .nodes import Node, to_nodes
from .omml import omml
from .svg import svg
from .sympy_text import sympy_text
from .typst import typst
from .vocabulary import LAYOUT, Vocabulary

_TAG = re.compile("</?(?=[a-z])")


@dataclass(frozen=True)
class Expression:
    """Canonical tokens and the vocabulary that says which of them take arguments; of several lines,
    the tokens of `aligned`.

    All forms raise `LatexError` for tokens that are not balanced.
    """

    tokens: tuple[str, ...]
    vocabulary: Vocabulary | None = None
    """Source of the relation table; None: the packaged table, with what the tokens show."""

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
        return compact(self.tokens, self.grammar)

    @property
    def katex(self) -> str:
        """Compact LaTeX that KaTeX sets, also in strict mode."""
        return katex(self.tokens, self.grammar)

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the formula's path."""
        return to_nodes(self.tokens, self.grammar)

    @property
    def visual_path(self) -> list[int]:
        """The path as places among the visual tokens: an ending is where its relation is. Rows and
        cells, which nobody writes, are left out."""
        nodes = self.nodes
        shown = [n.token not in LAYOUT for n in nodes]
        visual = [show and not node.ending for show, node in zip(shown, nodes, strict=True)]
        stops = [node.parent if node.ending else place for place, node in enumerate(nodes)]
        return [sum(visual[:stop]) for stop in stops if shown[stop]]

    def mathml(self, *, marked: bool = False) -> str:
        """Presentation MathML; `marked` gives the element of each visual token a `data-token`."""
        return mathml(self.tokens, self.grammar, marked=marked)

    @property
    def word_mathml(self) -> str:
        """Presentation MathML with the prefix `mml:`, as Word copies and pastes it."""
        return _TAG.sub(r"\g<0>mml:", self.mathml()).replace("xmlns=", "xmlns:mml=", 1)

    @property
    def omml(self) -> str:
        """Office Math Markup, an `m:oMath` element as Word's documents hold it."""
        return omml(self.tokens, self.grammar)

    @property
    def typst(self) -> str:
        """Mathematics of Typst, without the `$` round it."""
        return typst(self.tokens, self.grammar)

    @property
    def sympy(self) -> str:
        """An expression that SymPy's `sympify` takes."""
        return sympy_text(self.tokens, self.grammar)

    @property
    def svg(self) -> str:
        """The set formula as a picture, an `svg` element."""
        return svg(self.tokens, self.grammar)

    def label_graph(
        self,
        scores: Sequence[float] | None = None,
        strokes: Sequence[Sequence[int]] | None = None,
        name: str = "",
    ) -> str:
        """The label graph of CROHME's evaluation tools (`label_graph`)."""
        return label_graph(self.tokens, scores, strokes, name, self.grammar)
