"""Canonical tokens → mathematics of Typst: what stands between its two `$`."""

import re
from collections.abc import Sequence

from .atoms import Atom, write
from .mathml import FENCES, brackets, sign_of
from .signs import FUNCTION, SIGNS
from .vocabulary import GROUP, INDEX, Vocabulary, begin

_COMMA = "\ue000"
"""Placeholder of a comma until it is known whether it stands among the arguments of a function."""
_ESCAPED = frozenset('#$&_^/\\"`;:@~()[]{}⟨⟩⌊⌋⌈⌉')
"""Characters that mean something in Typst, or would be taken for a bracket's partner."""
_PAIRS = frozenset({"()", "[]", "{}", "⌊⌋", "⌈⌉", "⟨⟩"})
_CALLS = {
    **dict.fromkeys(("\\bar", "\\overline"), "overline"),
    **dict.fromkeys(("\\vec", "\\overrightarrow"), "arrow"),
    **dict.fromkeys(("\\hat", "\\widehat"), "hat"),
    **dict.fromkeys(("\\tilde", "\\widetilde"), "tilde"),
    "\\dot": "dot",
    "\\ddot": "dot.double",
    "\\underline": "underline",
    "\\frac": "frac",
    "\\binom": "binom",
    "\\textcircled": "circle",
    "\\mathop": "op",
}
"""Relation → the function of Typst that takes the same arguments."""
_ARROWS = {"\\xrightarrow": "-->", "\\xlongequal": "="}
_BELOW = frozenset({"∫", "∬", "∭", "∮"})
"""Operators that Typst does not set limits below by itself."""
_SAID = {"-": "-", "\\prime": "′"}
_PRIMES = re.compile("′( ′)*")


def typst(tokens: Sequence[str], vocabulary: Vocabulary | None = None) -> str:
    """Mathematics of Typst 0.12 or later. `vocabulary` gives the relation table (default: the
    packaged ones, and what the tokens themselves show).

    Raises `LatexError` for tokens that are not balanced.
    """
    return write(tokens, vocabulary, _row).replace(_COMMA, ",")


def _row(atoms: list[Atom]) -> str:
    """Symbols with spaces between them; a number is one, and a lone bracket is escaped."""
    characters = [sign_of(atom.token).character for atom in atoms]
    pairs = brackets(atoms).items()
    paired = {n for pair in pairs if "".join(characters[n] for n in pair) in _PAIRS for n in pair}
    text, number = "", False
    for place, atom in enumerate(atoms):
        nucleus = characters[place] if place in paired else _nucleus(atom)
        digit = nucleus.isdecimal()
        point = nucleus == "." and "".join(characters[place + 1 : place + 2]).isdecimal()
        opened = place - 1 in paired and characters[place - 1] in "([{⌊⌈⟨"
        closes = place in paired and nucleus in ")]}⌋⌉⟩"
        joins = not text or closes or opened or nucleus == _COMMA or (number and (digit or point))
        written = _limits(nucleus, atom) + _scripts(atom)
        text += " " * (not joins) + written
        number = written == nucleus and (digit or point)
    return text


def _nucleus(atom: Atom) -> str:
    token = atom.token
    if atom.rows:
        return _rows(atom)
    if token == "":
        return '""'
    if token == GROUP:
        return f'class("normal", {_argument(atom.arguments[0])})'
    if not atom.arguments:
        return _symbol(token)
    arguments = [_argument(text) for text in atom.arguments]
    if token == "\\sqrt" and atom.takes[0] == INDEX and atom.arguments[0]:
        return f"root({', '.join(arguments)})"
    if token == "\\sqrt":
        return f"sqrt({arguments[-1]})"
    if token in _ARROWS:
        lower, upper = ["", *atom.arguments][-2:]
        return f"limits({_ARROWS[token]})" + "".join(
            f"{mark}({text})" for mark, text in (("_", lower), ("^", upper)) if text
        )
    call = _CALLS.get(token)
    return f"{call}({', '.join(arguments)})" if call else " ".join((_quoted(token), *arguments))


def _argument(text: str) -> str:
    """Argument of a function; an empty one has to be written too."""
    return text.replace(_COMMA, "\\,") or '""'


def _rows(atom: Atom) -> str:
    rows = [[_argument(cell) for cell in row] for row in atom.rows]
    if atom.token == begin("cases"):
        return f"cases({', '.join(' & '.join(row) for row in rows)})"
    fence = FENCES.get(atom.token, "")
    options = f'delim: "{fence[0]}"' if fence else "delim: #none"
    if atom.token == begin("aligned"):
        options += ", align: #left"
    return f"mat({options}, {'; '.join(', '.join(row) for row in rows)})"


def _symbol(token: str) -> str:
    sign = sign_of(token)
    if token == ",":
        return _COMMA
    if sign.kind == FUNCTION or token in ("\\mod", "\\bmod"):
        return sign.character
    if len(sign.character) > 1 and token not in SIGNS:
        return _quoted(token)
    text = _SAID.get(token, sign.character)
    return f"\\{text}" if text in _ESCAPED else text


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _limits(nucleus: str, atom: Atom) -> str:
    return f"limits({nucleus})" if atom.limits and nucleus in _BELOW else nucleus


def _scripts(atom: Atom) -> str:
    text = "" if atom.subscript is None else f"_{_grouped(atom.subscript)}"
    if atom.superscript is None:
        return text
    if _PRIMES.fullmatch(atom.superscript) and atom.token not in ("", "\\prime"):
        return "'" * atom.superscript.count("′") + text
    return f"{text}^{_grouped(atom.superscript)}"


def _grouped(script: str) -> str:
    """A letter or a number needs no brackets."""
    return script if re.fullmatch(r"\w|\d+", script) else f"({script})"
