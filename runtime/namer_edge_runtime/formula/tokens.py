"""LaTeX as people and data sets write it → the one canonical token sequence.

Canonical: every script and argument braced, subscript before superscript, one spelling per symbol,
no style, no `$`, no redundant braces, `\\limits` where the vocabulary's rule puts it. That is the
form of the published CROHME labels, the one that recognition rates are counted in.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby

from ..errors import LatexError
from .spelling import (
    DELIMITED,
    FUNCTIONS,
    HIDDEN,
    IGNORED,
    OPERATORS,
    RAISED,
    STACKED,
    SUBSCRIPTS,
    WRAPPERS,
    spell,
    typed,
)
from .vocabulary import GROUP, LIMITS, Vocabulary

_LEXEME = re.compile(
    # Some InkML truths had `<` replaced by `\lt`, with no space before the letter that follows.
    r"\\[lg]t(?=[A-Z]|[a-z](?![a-z]))|\\operatorname\*|\\(?:begin|end)\s*\{[a-zA-Z]+\*?\}"
    rf"|\\[a-zA-Z]+|\\.|(?<!\.)\.\.\.(?!\.)|[{SUBSCRIPTS}]+|\S",
    re.DOTALL,
)
_NO_INK = re.compile(
    r"\\(?:m?kern|[hm]skip)\s*[-+]?[0-9.]+\s*(?:pt|em|ex|mu|cm|mm|in|pc|sp|bp)"
    r"|(?:^|(?<=\s))%\s*[A-Za-z]{3}[^\n]*"  # `%` alone is what people write for `\%`
)
"""Lengths, and comments."""
_SILENT = IGNORED | HIDDEN
_PRIME = "\\prime"


@dataclass(frozen=True)
class Lexeme:
    """A token as it is written, and the place of its first character, counted from 1."""

    text: str
    place: int

    def __str__(self) -> str:
        return f"{self.text!r} at character {self.place}"


@dataclass
class _Item:
    """One symbol, one relation with its arguments, or one script of what stands before it."""

    tokens: list[str]
    script: str = ""
    """`_` or `^` (tokens are then the script's content), or `\\limits` where that was written."""
    primes: bool = False
    """Written as `'` (or `²`), so what follows in the superscript joins it: `x'^2`."""


def normalize(
    latex: str, vocabulary: Vocabulary | None = None, *, strict: bool = True
) -> list[str]:
    """Canonical tokens of `latex` in the spelling of `vocabulary` (default: CROHME's).

    `strict=False` lets a symbol without a class pass as it is written, as in the label of a test
    set: it can never be read right, but it counts. Raises `LatexError`, naming the token and its
    place, for a symbol without a class (when strict), a missing argument or unmatched braces.
    """
    reader = _Reader(latex, vocabulary or _crohme(), strict)
    try:
        tokens = reader.write(reader.items())
    except RecursionError:
        raise LatexError("braces are nested too deeply to be read") from None
    return _join_log(tokens) if "\\log" in reader.vocabulary else tokens


@cache
def _crohme() -> Vocabulary:
    return Vocabulary.load("crohme")


class _Reader:
    """Reads lexemes from left to right; each method leaves `next` behind what it has read."""

    def __init__(self, latex: str, vocabulary: Vocabulary, strict: bool) -> None:
        seen = _NO_INK.sub(lambda found: " " * len(found[0]), latex)
        self.lexemes = [
            Lexeme(text, found.start() + 1)
            for found in _LEXEME.finditer(seen)
            for text in ((found[0],) if found[0] in vocabulary else typed(found[0]))
        ]
        self.vocabulary = vocabulary
        self.strict = strict
        self.next = 0

    def peek(self) -> str:
        """The next lexeme that is not just style; empty at the end."""
        while self.next < len(self.lexemes):
            text = self.lexemes[self.next].text
            if text not in _SILENT or text in self.vocabulary:
                return text
            self.next += 1
            if text in HIDDEN:
                self.skip()
            if text in DELIMITED and self.peek() == ".":
                self.next += 1
        return ""

    def skip(self) -> None:
        """Passes over the first argument of a command that sets none of it, and its options."""
        depth, owner = 0, self.lexemes[self.next - 1]
        for lexeme in self.lexemes[self.next :]:
            self.next += 1
            depth += (lexeme.text in ("{", "[")) - (lexeme.text in ("}", "]"))
            if depth <= 0 and lexeme.text not in ("*", "]"):
                return
        raise LatexError(f"{owner} lacks an argument: write it in braces")

    def take(self) -> Lexeme:
        self.peek()
        self.next += 1
        return self.lexemes[self.next - 1]

    def items(self, opening: Lexeme | None = None, closing: str = "") -> list[_Item]:
        """Everything up to `closing`, which is read too (default: up to the end)."""
        items: list[_Item] = []
        inner = 0
        while (text := self.peek()) != closing or inner:
            if not text:
                raise LatexError(f"{opening} is never closed: add {closing!r}")
            lexeme = self.take()
            if closing == "]":
                inner += (text == "[") - (text == "]")
            if text in ("_", "^"):
                _add_script(items, _Item(self.write(self.argument(lexeme)), text))
            elif text == "'" and items and items[-1] != _Item([_PRIME]):
                _add_script(items, _Item([_PRIME], "^", primes=True))
            elif text in RAISED:
                _add_script(items, _Item([RAISED[text]], "^", primes=True))
            elif text == "\\over":
                below = self.items(opening, closing)
                return [
                    _Item(["\\frac", "{", *self.write(items), "}", "{", *self.write(below), "}"])
                ]
            else:
                items += self.one(lexeme)
        if closing:
            self.take()
        return items

    def one(self, lexeme: Lexeme) -> list[_Item]:
        """What `lexeme` begins: a group, a relation with its arguments, or a symbol."""
        text = lexeme.text
        if text == "{":
            return [replace(item, primes=False) for item in self.items(lexeme, "}")]
        if text == LIMITS:
            return [_Item([], LIMITS)]
        if text in WRAPPERS and text not in self.vocabulary:
            inner = self.argument(lexeme)
            content = "".join(token for item in inner for token in item.tokens)
            styled, name = f"{text}{{{content}}}", f"\\{content}"
            if styled in self.vocabulary:  # a class of its own, as the double R of the reals
                return [_Item([styled])]
            return self.symbol(Lexeme(name, lexeme.place)) if name in FUNCTIONS else inner
        if text in STACKED and text not in self.vocabulary:
            script = _Item(self.write(self.argument(lexeme)), STACKED[text])
            return [*self.argument(lexeme), _Item([], LIMITS), script]
        if text == "\\not" and self.peek() == "=":
            return self.symbol(Lexeme("\\neq", self.take().place))
        return self.symbol(lexeme)

    def symbol(self, lexeme: Lexeme) -> list[_Item]:
        """The classes that `lexeme` is spelled with, and the arguments it takes."""
        spelled = spell(lexeme.text, self.vocabulary)
        if spelled is None and (self.strict or lexeme.text == "}"):
            why = "closes nothing" if lexeme.text == "}" else "is no symbol of this vocabulary"
            raise LatexError(f"{lexeme} {why} ({self.vocabulary.name!r})")
        items = [_Item([token]) for token in spelled or (lexeme.text,)]
        for opening in self.vocabulary.relations.get(items[0].tokens[0], ()):
            if opening == GROUP:
                items[0].tokens += ["{", *self.write(self.argument(lexeme)), "}"]
            elif self.peek() == "[" and (index := self.write(self.items(self.take(), "]"))):
                items[0].tokens += ["[", *index, "]"]
        while spelled is None and lexeme.text.startswith("\\") and self.peek() == "{":
            items[0].tokens += ["{", *self.write(self.argument(lexeme)), "}"]
        return items

    def argument(self, owner: Lexeme) -> list[_Item]:
        """A group, or the one thing that stands there without braces."""
        if self.peek() in ("", "}", "_", "^"):
            raise LatexError(f"{owner} lacks an argument: write it in braces")
        return self.one(self.take())

    def write(self, items: list[_Item]) -> list[str]:
        """Canonical tokens: scripts braced and in order, `\\limits` by the vocabulary's rule."""
        tokens: list[str] = []
        base: list[str] = []
        for is_script, run in groupby(items, lambda item: bool(item.script)):
            if not is_script:
                for item in run:
                    base = item.tokens
                    tokens += base
                continue
            scripts = sorted(run, key=lambda item: item.script != "_")
            if LIMITS in self.vocabulary and scripts[0].script == "_" and base:
                ruled = len(base) == 1 and base[0] in self.vocabulary.limits
                given = any(item.script == LIMITS for item in scripts)
                tokens += [LIMITS] if ruled or (given and base[0] in OPERATORS) else []
            for item in scripts:
                if item.script != LIMITS:
                    tokens += [item.script, "{", *item.tokens, "}"]
        return tokens


def _add_script(items: list[_Item], script: _Item) -> None:
    """An empty script is none; a superscript joins the primes before it."""
    if items and items[-1].primes and script.script == "^":
        items[-1].tokens += script.tokens
        items[-1].primes = script.primes
    elif script.tokens:
        items.append(script)


def _join_log(tokens: list[str]) -> list[str]:
    """`l o g` is `\\log`: the labels have it so wherever the ink's truth spells it in letters."""
    text = f" {' '.join(tokens)} "
    while " l o g " in text:
        text = text.replace(" l o g ", " \\log ")
    return text.split()
