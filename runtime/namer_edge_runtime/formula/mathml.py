"""Canonical tokens → presentation MathML, well-formed whatever the tokens are."""

import re
from collections.abc import Sequence
from functools import partial
from xml.sax import saxutils

from .atoms import Atom, write
from .signs import BAR, CLOSE, FUNCTION, IDENTIFIER, OPEN, OPERATOR, OVER, SIGNS, UNDER, Sign
from .vocabulary import GROUP, Vocabulary

_DIGITS = frozenset("0123456789")
_NUMBER = re.compile(r"(?:d+\.)?d*[ds]|.")
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_EMPTY = "<mrow></mrow>"
_ACCENT, _ACCENT_UNDER = ' accent="true"', ' accentunder="true"'
_ENCLOSED = {"\\boxed": "box", "\\textcircled": "circle"}
_OPENING = frozenset(token for token, sign in SIGNS.items() if sign.kind == OPEN)
_CLOSING = frozenset(token for token, sign in SIGNS.items() if sign.kind == CLOSE)
_BARS = frozenset(token for token, sign in SIGNS.items() if sign.kind == BAR)
"""Brackets that open, and close where one is open."""
_ARROWS = {"\\xrightarrow": "→", "\\xlongequal": "="}
"""Signs that stretch under one text and over another."""
FENCES = {
    "\\begin{pmatrix}": "()",
    "\\begin{bmatrix}": "[]",
    "\\begin{Bmatrix}": "{}",
    "\\begin{vmatrix}": "||",
    "\\begin{Vmatrix}": "‖‖",
    "\\begin{cases}": "{",
}
"""Brackets of an environment: before its rows, and after."""
_LEFT = frozenset({"\\begin{cases}", "\\begin{aligned}"})
"""Environments whose cells are set flush left."""


def mathml(
    tokens: Sequence[str], vocabulary: Vocabulary | None = None, *, marked: bool = False
) -> str:
    """A `math` element. `vocabulary` gives the relation table (default: the packaged ones, and
    what the tokens themselves show).

    `marked`: the element of each visual token says in `data-token` the how many-th it is, from 0,
    and digits in a row have an element each. `^`, `_` and `\\limits` have none of their own.

    Raises `LatexError` for tokens that are not balanced.
    """
    namespace = 'xmlns="http://www.w3.org/1998/Math/MathML"'
    row = write(tokens, vocabulary, partial(_row, marked=marked))
    return f'<math {namespace} display="block">{row}</math>'


def _row(atoms: list[Atom], marked: bool) -> str:
    """One element: of a single atom its own, else an `mrow`; digits in a row are one number.

    What stands between brackets is with them an `mrow` of its own: they stretch to its height, and
    it is the base of the closing one's scripts. Brackets without a partner do not stretch.
    """
    elements: list[str] = []
    closed_by = brackets(atoms)
    begun: dict[int, int] = {}  # place of the closing bracket → that of the opening element
    for match in _NUMBER.finditer("".join(map(_kind, atoms))):
        run = atoms[match.start() : match.end()]
        if match[0][-1] not in "ds":
            nucleus = _marked(_nucleus(run[0]), run[0]) if marked else _nucleus(run[0])
        elif marked:
            digits = [_marked(_element("mn", atom.token), atom) for atom in run]
            nucleus = digits[0] if len(digits) == 1 else _element("mrow", *digits)
        else:
            nucleus = _element("mn", "".join(atom.token for atom in run))
        place = match.start()
        if place in begun:
            nucleus = _element("mrow", *elements[begun[place] :], nucleus)
            del elements[begun[place] :]
        elif place in closed_by:
            begun[closed_by[place]] = len(elements)
        elif run[0].token in _OPENING | _CLOSING | _BARS:
            nucleus = nucleus.replace("<mo", '<mo stretchy="false"', 1)
        elements.append(_scripts(nucleus, run[-1]))
    return elements[0] if len(elements) == 1 else _element("mrow", *elements)


def brackets(atoms: list[Atom]) -> dict[int, int]:
    """Place of each opening bracket that is closed in this row → that of the closing one; of
    intervals, brackets differ in kind."""
    closed_by: dict[int, int] = {}
    opened: list[int] = []
    for place, atom in enumerate(atoms):
        scripted = atom.subscript is not None or atom.superscript is not None
        inside_bar = bool(opened) and atoms[opened[-1]].token in _BARS
        if atom.token in _BARS and inside_bar and place > opened[-1] + 1:
            closed_by[opened.pop()] = place
        elif atom.token in _CLOSING:
            while opened and atoms[opened[-1]].token in _BARS:
                opened.pop()  # a bar of its own, as in p(x|y)
            if opened:
                closed_by[opened.pop()] = place
        elif atom.token in _OPENING | _BARS and not scripted:
            opened.append(place)
    return closed_by


def _marked(element: str, atom: Atom) -> str:
    """The element with the place of its token, where it has one."""
    if atom.place is None:
        return element
    return re.sub("^<[a-z]+", lambda tag: f'{tag[0]} data-token="{atom.place}"', element)


def _kind(atom: Atom) -> str:
    """d: digit, s: digit with a script, which ends its number; `.`: point, x: anything else."""
    scripted = atom.subscript is not None or atom.superscript is not None
    if atom.token in _DIGITS:
        return "s" if scripted else "d"
    return "." if atom.token == "." and not scripted else "x"


def _element(name: str, *content: str, attributes: str = "") -> str:
    return f"<{name}{attributes}>{''.join(content)}</{name}>"


def _text(token: str) -> str:
    return saxutils.escape(NOT_XML.sub("\N{REPLACEMENT CHARACTER}", token))


def _nucleus(atom: Atom) -> str:
    """Symbol, or relation with its arguments, without the scripts."""
    token, arguments = atom.token, atom.arguments
    if token in ("", GROUP, "\\mathop") or (arguments and len(arguments) > 2):
        return _element("mrow", *arguments)
    if atom.rows:
        return _table(atom)
    if not arguments:
        return _symbol(atom)
    *options, last = arguments
    if token == "\\frac":
        return _element("mfrac", options[0], last)
    if token == "\\sqrt":
        return (
            _element("msqrt", last) if options[0] == _EMPTY else _element("mroot", last, options[0])
        )
    if token == "\\binom":
        both = _element("mfrac", options[0], last, attributes=' linethickness="0"')
        return _element("mrow", _element("mo", "("), both, _element("mo", ")"))
    sign = sign_of(token)
    if sign.kind == OVER:
        return _element("mover", last, _element("mo", sign.character), attributes=_ACCENT)
    if sign.kind == UNDER:
        return _element("munder", last, _element("mo", sign.character), attributes=_ACCENT_UNDER)
    if token in _ENCLOSED:
        return _element("menclose", last, attributes=f' notation="{_ENCLOSED[token]}"')
    if token in _ARROWS:
        arrow = _element("mo", _ARROWS[token], attributes=' stretchy="true"')
        return _element("munderover", arrow, options[0] if options else _EMPTY, last)
    return _element("mrow", _element("mtext", _text(token)), *arguments)


def _table(atom: Atom) -> str:
    """Rows of cells between their brackets."""
    left = ' columnalign="left"' if atom.token in _LEFT else ""
    cells = (_element("mtr", *(_element("mtd", cell) for cell in row)) for row in atom.rows)
    table = _element("mtable", *cells, attributes=left)
    fences = [_element("mo", fence) for fence in FENCES.get(atom.token, "")]
    return _element("mrow", *fences[:1], table, *fences[1:])


def sign_of(token: str) -> Sign:
    """Falls back on the character itself for tokens that the table lacks."""
    return SIGNS.get(token) or Sign(token, token, IDENTIFIER if token.isalpha() else OPERATOR)


def _symbol(atom: Atom) -> str:
    """Letters and functions are `mi`, what joins them is `mo`."""
    sign = sign_of(atom.token)
    if sign.kind in (IDENTIFIER, FUNCTION):
        return _element("mi", sign.character)
    if len(sign.character) > 1 and atom.token not in SIGNS:
        return _element("mtext", _text(sign.character))
    # Scripts set below stay there, also inside a line of text.
    fixed = ' movablelimits="false"' if atom.limits else ""
    return _element("mo", _text(sign.character), attributes=fixed)


def _scripts(nucleus: str, atom: Atom) -> str:
    lower, upper = ("munder", "mover") if atom.limits else ("msub", "msup")
    if atom.subscript is None and atom.superscript is None:
        return nucleus
    if atom.superscript is None:
        return _element(lower, nucleus, atom.subscript or _EMPTY)
    if atom.subscript is None:
        return _element(upper, nucleus, atom.superscript)
    both = "munderover" if atom.limits else "msubsup"
    return _element(both, nucleus, atom.subscript, atom.superscript)
