"""Labels from the MathML of an InkML file, each symbol with its strokes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from namer_edge_runtime.formula.spelling import spell
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.inkml import Ink, MathNode, Symbol

# Groups are labeled with tokens; if one is missing, MathML has LaTeX without its backslash, the
# name of an entity, sometimes truncated, or the character itself.
_NAMES = {
    "infin": "\\infty",
    "rarr": "\\rightarrow",
    "ctdot": "\\cdots",
    "hellip": "\\ldots",
    "im": "\\lim",
    "exist": "\\exists",
    "{": "\\{",
    "}": "\\}",
}
_SCRIPTS = {
    "msub": ("_",),
    "munder": ("_",),
    "msup": ("^",),
    "mover": ("^",),
    "msubsup": ("_", "^"),
    "munderover": ("_", "^"),
}
_LEAVES = {"mi", "mo", "mn", "mtext"}


@dataclass(frozen=True)
class InkToken:
    """A canonical token. `inked` ones (symbols, bars, signs of roots) have strokes, as indices into
    the ink, unless the file gives none.

    `text` is the content of the MathML element as a token, which may differ from the label.
    """

    token: str
    inked: bool = False
    strokes: tuple[int, ...] = ()
    text: str = ""


@dataclass
class _Term:
    """A symbol, fraction or root with its arguments and scripts."""

    token: str
    strokes: tuple[int, ...] = ()
    text: str = ""
    index: "list[_Term]" = field(default_factory=list)
    arguments: "list[list[_Term]]" = field(default_factory=list)
    scripts: "list[tuple[str, list[_Term]]]" = field(default_factory=list)


def symbol_token(text: str, vocabulary: Vocabulary) -> str:
    """A symbol in the vocabulary's spelling, or unchanged if the vocabulary lacks it."""
    text = _NAMES.get(text, text)
    for token in (text, f"\\{text}"):
        spelled = spell(token, vocabulary)
        if spelled is not None and len(spelled) == 1:
            return spelled[0]
    return text


def math_tokens(ink: Ink, vocabulary: Vocabulary) -> list[InkToken]:
    """Canonical tokens of the file's own MathML, with the strokes of each symbol.

    `\\frac` has the strokes of its bar, `\\sqrt` those of its sign. Subscripts come before
    superscripts, and those of the vocabulary's big operators have `\\limits`. A root's index may
    stand before or after the radicand in the file; the one further left is the index. Empty if the
    file has no MathML.
    """
    if ink.math is None:
        return []
    groups: dict[str, Symbol] = {}
    for symbol in ink.symbols:
        if symbol.href:
            groups.setdefault(symbol.href, symbol)
    return _tokens(_Reader(ink, groups, vocabulary).terms([ink.math]), vocabulary)


@dataclass(frozen=True)
class _Reader:
    ink: Ink
    groups: dict[str, Symbol]
    vocabulary: Vocabulary

    def terms(self, nodes: Sequence[MathNode]) -> list[_Term]:
        found: list[_Term] = []
        for node in nodes:
            found += self.read(node)
        return found

    def read(self, node: MathNode) -> list[_Term]:
        group = self.groups.get(node.identifier or "")
        strokes = group.strokes if group else ()
        children = node.children
        if node.tag in _LEAVES:
            text = symbol_token(node.text, self.vocabulary)
            token = symbol_token(group.label, self.vocabulary) if group and group.label else text
            return [_Term(token, strokes, text)] if token else []
        if node.tag in _SCRIPTS and children:
            return self._scripted(node)
        if node.tag == "mfrac":
            arguments = [self.read(child) for child in children]
            return [_Term("\\frac", strokes, arguments=arguments)]
        if node.tag == "msqrt":
            return [_Term("\\sqrt", strokes, arguments=[self.terms(children)])]
        if node.tag == "mroot" and len(children) == 2:
            radicand, index = self.read(children[0]), self.read(children[1])
            if self._left(radicand) < self._left(index):
                radicand, index = index, radicand
            return [_Term("\\sqrt", strokes, index=index, arguments=[radicand])]
        return self.terms(children)

    def _scripted(self, node: MathNode) -> list[_Term]:
        base = self.read(node.children[0]) or [_Term("")]
        for relation, child in zip(_SCRIPTS[node.tag], node.children[1:], strict=False):
            script = self.read(child)
            if script:
                base[-1].scripts.append((relation, script))
        return base

    def _left(self, terms: Sequence[_Term]) -> float:
        """Center of the ink along x."""
        strokes = [stroke for term in terms for stroke in _all_strokes(term)]
        if not strokes:
            return float("inf")
        xs = np.concatenate([self.ink.strokes[stroke][:, 0] for stroke in strokes])
        return float(xs.min() + xs.max()) / 2


def _all_strokes(term: _Term) -> list[int]:
    parts = [*term.arguments, term.index, *(script for _, script in term.scripts)]
    return [*term.strokes, *(s for part in parts for inner in part for s in _all_strokes(inner))]


def _tokens(terms: Sequence[_Term], vocabulary: Vocabulary) -> list[InkToken]:
    out: list[InkToken] = []
    for term in terms:
        if term.token:
            out.append(InkToken(term.token, True, term.strokes, term.text))
        if term.index:
            out += [InkToken("["), *_tokens(term.index, vocabulary), InkToken("]")]
        for argument in term.arguments:
            out += [InkToken("{"), *_tokens(argument, vocabulary), InkToken("}")]
        for relation, script in sorted(term.scripts, key=lambda item: item[0] == "^"):
            if relation == "_" and term.token in vocabulary.limits:
                out.append(InkToken("\\limits"))
            out += [InkToken(relation), InkToken("{"), *_tokens(script, vocabulary), InkToken("}")]
    return out
