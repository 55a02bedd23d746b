"""Canonical tokens → LaTeX as a person would type it: `x ^ { 2 }` is `x^2`."""

import re
from collections.abc import Sequence
from functools import partial

from .atoms import Atom, relation_table, write
from .vocabulary import CELL, GROUP, INDEX, ROW, Vocabulary, begin, end

_COMMAND_END = re.compile(r"\\[a-zA-Z]+$")
_PRIMES = re.compile(r"(\\prime)+")
ALIGNED = begin("aligned")
_WIDE = {
    "\\bar": "\\overline",
    "\\vec": "\\overrightarrow",
    "\\hat": "\\widehat",
    "\\tilde": "\\widetilde",
}
"""Accent → how it is written over more than one symbol."""
CIRCLED = "\\textcircled"
_TYPED = {"%": "\\%", "#": "\\#", "&": "\\&", "√": "\\surd", "\\mod": "\\bmod"}


def compact(tokens: Sequence[str], vocabulary: Vocabulary | None = None) -> str:
    """LaTeX without needless spaces and braces, which TeX accepts and which reads back the same.

    `\\limits` stays only where TeX accepts it, after an operator. `vocabulary` gives the relation
    table (default: the packaged ones, and what the tokens themselves show).
    Raises `LatexError` for tokens that are not balanced.
    """
    return write(tokens, vocabulary, partial(_row, _accents(tokens, vocabulary)))


def katex(tokens: Sequence[str], vocabulary: Vocabulary | None = None) -> str:
    """`compact`, in what KaTeX sets without complaint also where it is told to be strict.

    A sign in a circle is one of text; all else is as in `compact`. Raises as that does.
    """
    return write(tokens, vocabulary, partial(_katex_row, _accents(tokens, vocabulary)))


def _accents(tokens: Sequence[str], vocabulary: Vocabulary | None) -> dict[str, tuple[str, str]]:
    """Accents of a vocabulary that has one class for two widths → how each is written."""
    classes = (vocabulary or relation_table(tokens)).relations.keys()
    if not classes & _WIDE.keys():  # all accents are wide: so are their labels
        return {}
    pairs = [pair for pair in _WIDE.items() if len(classes & {*pair}) == 1]
    return {accent: pair for pair in pairs for accent in pair}


def _katex_row(accents: dict[str, tuple[str, str]], atoms: list[Atom]) -> str:
    for atom in atoms:
        if atom.token == CIRCLED and atom.arguments:
            atom.token = ""
            atom.arguments[:] = [f"\\text{{{CIRCLED}{{${atom.arguments[0]}$}}}}"]
    return _row(accents, atoms)


def _row(accents: dict[str, tuple[str, str]], atoms: list[Atom]) -> str:
    text = ""
    for place, atom in enumerate(atoms):
        if atom.token in accents:
            atom.token = accents[atom.token][atom.wide]
        written = _nucleus(atom) + _scripts(atom)
        after_script = place > 0 and _scripts(atoms[place - 1]) and written[:1].isdigit()
        after_command = _COMMAND_END.search(text) and written[:1].isalnum()
        text += " " * bool(after_script or after_command) + written
    return text


def _nucleus(atom: Atom) -> str:
    """Symbol, or relation with its arguments."""
    if atom.token in ("", GROUP):
        return "{" + "".join(atom.arguments) + "}"
    if atom.rows:
        return _environment(atom)
    if not atom.arguments:
        token = _TYPED.get(atom.token, atom.token)
        return token if token.isascii() else f"\\text{{{token}}}"
    text = atom.token
    for opening, argument in zip(atom.takes, atom.arguments, strict=True):
        if opening != INDEX:
            text += f"{{{argument}}}"
        elif argument:
            # A bracket inside would end the index, and KaTeX stumbles over a brace at its start.
            shielded = argument.startswith("{") or set(argument) & {"[", "]"}
            text += f"[{{{argument}}}]" if shielded else f"[{argument}]"
    return text


def _environment(atom: Atom) -> str:
    rows = [CELL.join(row) for row in atom.rows]
    if atom.token == ALIGNED and all(len(row) == 1 for row in atom.rows):
        rows = [CELL + row for row in rows]  # else LaTeX sets them flush right
    # A bracket or star right after `\\\\` would be an option of it.
    shielded = ["{}" * row.startswith(("[", "*")) + row for row in rows[1:]]
    return atom.token + ROW.join((rows[0], *shielded)) + end(atom.token)


def _scripts(atom: Atom) -> str:
    text = "\\limits" if atom.limits else ""
    if atom.subscript is not None:
        text += "_" + _braced(atom.subscript)
    if atom.superscript is None:
        return text
    # A prime after a prime, or after nothing, would read back as a symbol of its own.
    if _PRIMES.fullmatch(atom.superscript) and atom.token not in ("", "\\prime"):
        return text + "'" * atom.superscript.count("\\prime")
    return text + "^" + _braced(atom.superscript)


def _braced(script: str) -> str:
    return script if len(script) == 1 and script.isascii() and script.isalnum() else f"{{{script}}}"
