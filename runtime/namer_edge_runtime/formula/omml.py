"""Canonical tokens → Office Math Markup, the mathematics of Word (ECMA-376-1, 22.1)."""

from collections.abc import Sequence
from functools import partial
from xml.sax import saxutils

from .atoms import Atom, write
from .mathml import FENCES, NOT_XML, brackets, sign_of
from .signs import FUNCTION, LARGE, OVER, RELATION, SIGNS, UNDER
from .vocabulary import GROUP, INDEX, Vocabulary, begin

NAMESPACE = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_ACCENTS = {
    "‾": "\u0305",
    "→": "\u20d7",
    "^": "\u0302",
    "~": "\u0303",
    "˙": "\u0307",
    "¨": "\u0308",
}
"""Accent → the combining character that Word has for it."""
_ARROWS = {"\\xrightarrow": "→", "\\xlongequal": "="}
"""Signs that stretch under one text and over another."""
_ALIGNED = (begin("cases"), begin("aligned"))


def omml(tokens: Sequence[str], vocabulary: Vocabulary | None = None) -> str:
    """An `m:oMath` element. `vocabulary` gives the relation table (default: the packaged ones, and
    what the tokens themselves show).

    Raises `LatexError` for tokens that are not balanced.
    """
    return f'<m:oMath xmlns:m="{NAMESPACE}">{write(tokens, vocabulary, _row)}</m:oMath>'


def _row(atoms: list[Atom]) -> str:
    """Elements in a row; brackets with what is in them are one, which has the scripts of the right.

    A large operator has what follows it, up to a relation, inside: Word frames an empty place.
    """
    closed_by = brackets(atoms)
    opened: list[tuple[int, int]] = []  # place of a closing bracket, number of elements before
    elements: list[str] = []
    for place, atom in enumerate(atoms):
        if place in closed_by:
            opened.append((closed_by[place], len(elements)))
            continue
        if opened and opened[-1][0] == place:
            _, start = opened.pop()
            (left,) = (n for n, right in closed_by.items() if right == place)
            inside = _operands(elements[start:])
            del elements[start:]
            fences = [sign_of(atoms[n].token).character for n in (left, place)]
            element = _delimited(fences[0], [inside], fences[1])
        else:
            element = _nucleus(atom)
        elements.append(_scripts(element, atom))
    return _operands(elements)


def _operands(elements: list[str]) -> str:
    text = ""  # of what follows up to a relation, and of all behind it
    behind = ""
    for element in reversed(elements):
        if element.endswith(_OPEN):
            text = element.removesuffix(_OPEN) + f"<m:e>{text}</m:e></m:nary>"
        elif element in _RELATIONS:
            behind, text = element + text + behind, ""
        else:
            text = element + text
    return text + behind


def _element(name: str, *content: str) -> str:
    return f"<m:{name}>{''.join(content)}</m:{name}>"


def _value(name: str, value: str) -> str:
    return f"<m:{name} m:val={saxutils.quoteattr(value)}/>"


_base, _above, _below = (partial(_element, name) for name in ("e", "sup", "sub"))


def _text(text: str, plain: bool = False) -> str:
    """A run; `plain` for names, which are upright."""
    style = _element("rPr", _value("sty", "p")) if plain else ""
    shown = saxutils.escape(NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))
    return _element("r", style, f'<m:t xml:space="preserve">{shown}</m:t>')


_OPEN = "<m:e></m:e></m:nary>"
_RELATIONS = frozenset(
    _text(sign.character) for sign in SIGNS.values() if sign.kind == RELATION or sign.token == ","
)


def _delimited(opening: str, content: Sequence[str], closing: str) -> str:
    properties = _element("dPr", _value("begChr", opening), _value("endChr", closing))
    return _element("d", properties, *map(_base, content))


def _nucleus(atom: Atom) -> str:
    """Symbol, or relation with its arguments, without the scripts."""
    token, arguments = atom.token, atom.arguments
    if atom.rows:
        return _rows(atom)
    if token in ("", GROUP, "\\mathop"):
        return "".join(arguments)
    if not arguments:
        sign = sign_of(token)
        return _text(sign.character, plain=sign.kind == FUNCTION)
    last = arguments[-1]
    if token in ("\\frac", "\\binom"):
        parts = (_element("num", arguments[0]), _element("den", last))
        if token == "\\frac":
            return _element("f", *parts)
        bare = _element("fPr", _value("type", "noBar"))
        return _delimited("(", [_element("f", bare, *parts)], ")")
    if token == "\\sqrt":
        index = arguments[0] if atom.takes[0] == INDEX else ""
        hidden = "" if index else _element("radPr", _value("degHide", "1"))
        return _element("rad", hidden, _element("deg", index), _base(last))
    sign = sign_of(token)
    if sign.character == "‾" or sign.kind == UNDER:
        position = _element("barPr", _value("pos", "bot" if sign.kind == UNDER else "top"))
        return _element("bar", position, _base(last))
    if sign.kind == OVER:
        return _element(
            "acc", _element("accPr", _value("chr", _ACCENTS[sign.character])), _base(last)
        )
    if token == "\\boxed":
        return _element("borderBox", _base(last))
    if token in _ARROWS:
        return _limits(_text(_ARROWS[token]), arguments[0] if arguments[1:] else None, last)
    return _text(token, plain=True) + "".join(arguments)


def _rows(atom: Atom) -> str:
    if atom.token in _ALIGNED:
        rows = (_base(_text("&", plain=True).join(row)) for row in atom.rows)
        table = _element("eqArr", *rows)
    else:
        hidden = _element("mPr", _value("plcHide", "1"))
        table = _element("m", hidden, *(_element("mr", *map(_base, row)) for row in atom.rows))
    fences = FENCES.get(atom.token, "")
    return _delimited(fences[:1], [table], fences[1:]) if fences else table


def _limits(base: str, lower: str | None, upper: str | None) -> str:
    """Scripts below and above what is no large operator."""
    if lower:
        base = _element("limLow", _base(base), _element("lim", lower))
    return _element("limUpp", _base(base), _element("lim", upper)) if upper else base


def _scripts(base: str, atom: Atom) -> str:
    lower, upper = atom.subscript, atom.superscript
    if lower is None and upper is None:
        return base
    sign = sign_of(atom.token)
    if sign.kind == LARGE and not atom.arguments:
        hidden = [
            _value(f"{name}Hide", "1") for name, s in (("sub", lower), ("sup", upper)) if not s
        ]
        where = _value("limLoc", "undOvr" if atom.limits else "subSup")
        properties = _element("naryPr", _value("chr", sign.character), where, *hidden)
        return _element("nary", properties, _below(lower or ""), _above(upper or ""), _base())
    if atom.limits:
        return _limits(base, lower, upper)
    if lower is None:
        return _element("sSup", _base(base), _above(upper or ""))
    if upper is None:
        return _element("sSub", _base(base), _below(lower))
    return _element("sSubSup", _base(base), _below(lower), _above(upper))
