"""Canonical tokens → presentation MathML, well-formed whatever the tokens are."""

import re
from collections.abc import Sequence
from functools import partial
from xml.sax import saxutils

from .atoms import Atom, write
from .nodes import to_nodes
from .spelling import FUNCTIONS, UNICODE
from .vocabulary import GROUP, Vocabulary

_DOUBLE = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "𝔸𝔹ℂ𝔻𝔼𝔽𝔾ℍ𝕀𝕁𝕂𝕃𝕄ℕ𝕆ℙℚℝ𝕊𝕋𝕌𝕍𝕎𝕏𝕐ℤ", strict=True))
_SIGN = {token: sign for sign, token in reversed(UNICODE.items()) if token.startswith("\\")} | {
    **{f"\\mathbb{{{letter}}}": sign for letter, sign in _DOUBLE.items()},
    "-": "−",
    "\\{": "{",
    "\\}": "}",
    "\\%": "%",
    "\\_": "_",
    "\\vert": "|",
    "\\mid": "∣",
    "\\ast": "∗",
    "\\square": "□",
    "\\bigcirc": "○",
    "\\supset": "⊃",
    **dict(zip(("\\langle", "\\lfloor", "\\lceil"), "⟨⌊⌈", strict=True)),
    **dict(zip(("\\rangle", "\\rfloor", "\\rceil"), "⟩⌋⌉", strict=True)),
}
"""Command → its character."""
_NAMES = frozenset("∞∂∅∠□○√")
"""Characters that stand for something, as letters do, instead of joining what is round them."""
_DIGITS = frozenset("0123456789")
_NUMBER = re.compile(r"(?:d+\.)?d*[ds]|.")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_EMPTY = "<mrow></mrow>"
_ABOVE = {
    "\\overline": "‾",
    "\\bar": "‾",
    "\\overrightarrow": "→",
    "\\vec": "→",
    "\\widehat": "^",
    "\\hat": "^",
    "\\widetilde": "~",
    "\\tilde": "~",
    "\\dot": "˙",
    "\\ddot": "¨",
}
_ENCLOSED = {"\\boxed": "box", "\\textcircled": "circle"}
_OPENING = frozenset({"(", "[", "\\{", "\\langle", "\\lfloor", "\\lceil"})
_CLOSING = frozenset({")", "]", "\\}", "\\rangle", "\\rfloor", "\\rceil"})
_BARS = frozenset({"|", "\\vert", "\\|"})
"""What opens, and closes too where one is open."""
_ARROWS = {"\\xrightarrow": "→", "\\xlongequal": "="}
"""Signs that stretch under one text and over another."""


def mathml(
    tokens: Sequence[str], vocabulary: Vocabulary | None = None, *, marked: bool = False
) -> str:
    """A `math` element. `vocabulary` gives the relation table (default: the packaged ones, and
    what the tokens themselves show).

    `marked`: the element of each visual token says in `data-token` the how many-th it is, from 0,
    and digits in a row have an element each. `^`, `_` and `\\limits` have none of their own.

    Raises `LatexError` for tokens that are not balanced.
    """
    return _math(write(tokens, vocabulary, partial(_row, marked=marked)))


def mathml_table(
    rows: Sequence[tuple[Sequence[str], Sequence[str]]], vocabulary: Vocabulary, marked: bool
) -> str:
    """A `math` element with a table of the lines, each given as what stands left and right of the
    alignment; else as `mathml`, with `data-token` counting through all of them."""
    first, lines = 0, []
    for row in rows:
        cells = []
        for half in row:
            written = write(half, vocabulary, partial(_row, marked=marked), first)
            cells.append(_element("mtd", written))
            first += sum(not node.ending for node in to_nodes(half, vocabulary))
        lines.append(_element("mtr", *cells))
    look = ' displaystyle="true" columnalign="right left" columnspacing="0"'
    return _math(_element("mtable", *lines, attributes=look))


def _math(content: str) -> str:
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">{content}</math>'


def _row(atoms: list[Atom], marked: bool) -> str:
    """One element: of a single atom its own, else an `mrow`; digits in a row are one number.

    What stands between brackets is with them an `mrow` of its own: they stretch to its height, and
    it is the base of the closing one's scripts. Brackets without a partner do not stretch.
    """
    elements: list[str] = []
    closed_by = _brackets(atoms)
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


def _brackets(atoms: list[Atom]) -> dict[int, int]:
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
    return saxutils.escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", token))


def _nucleus(atom: Atom) -> str:
    """Symbol, or relation with its arguments, without the scripts."""
    token, arguments = atom.token, atom.arguments
    if token in ("", GROUP, "\\mathop") or (arguments and len(arguments) > 2):
        return _element("mrow", *arguments)
    if not arguments:
        return _symbol(atom)
    *options, last = arguments
    if token == "\\frac":
        return _element("mfrac", options[0], last)
    if token == "\\sqrt":
        return (
            _element("msqrt", last) if options[0] == _EMPTY else _element("mroot", last, options[0])
        )
    if token in _ABOVE:
        return _element("mover", last, _element("mo", _ABOVE[token]), attributes=' accent="true"')
    if token in _ENCLOSED:
        return _element("menclose", last, attributes=f' notation="{_ENCLOSED[token]}"')
    if token in _ARROWS:
        arrow = _element("mo", _ARROWS[token], attributes=' stretchy="true"')
        return _element("munderover", arrow, options[0] if options else _EMPTY, last)
    return _element("mrow", _element("mtext", _text(token)), *arguments)


def _symbol(atom: Atom) -> str:
    """Letters and functions are `mi`, what joins them is `mo`."""
    token = atom.token
    sign = _SIGN.get(token, token)
    if token in FUNCTIONS:
        return _element("mi", token[1:])
    if len(sign) > 1:
        return _element("mtext", _text(sign))
    if sign.isalpha() or sign in _NAMES:
        return _element("mi", sign)
    # Scripts set below stay there, also inside a line of text.
    fixed = ' movablelimits="false"' if atom.limits else ""
    return _element("mo", _text(sign), attributes=fixed)


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
