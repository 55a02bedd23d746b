"""LaTeX as people and data sets write it → the one canonical token sequence.

Canonical: every script and argument braced, subscript before superscript, one spelling per symbol,
no style, no `$`, no redundant braces, `\\limits` where the vocabulary's rule puts it. That is the
form of the published CROHME labels, the one that recognition rates are counted in.
"""

import re
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby

from ..errors import LatexError
from .signs import NEGATED
from .spelling import (
    BRACKETED,
    DELIMITED,
    FUNCTIONS,
    HIDDEN,
    IGNORED,
    OPERATORS,
    RAISED,
    SPECIFIED,
    SPELLINGS,
    STACKED,
    STYLES,
    SUBSCRIPTS,
    WRAPPERS,
    environment,
    spell,
    typed,
)
from .vocabulary import CELL, GROUP, LIMITS, ROW, Vocabulary, begin, end

_LEXEME = re.compile(
    # Some InkML truths had `<` replaced by `\lt`, with no space before the letter that follows.
    r"\\[lg]t(?=[A-Z]|[a-z](?![a-z]))|\\operatorname\*|\\(?:begin|end)\s*\{[a-zA-Z]+\*?\}"
    rf"|\\[a-zA-Z]+|\\.|(?<!\.)\.\.\.(?!\.)|[{SUBSCRIPTS}]+|\S",
    re.DOTALL,
)
_NO_INK = re.compile(
    r"\\(?:m?kern|[hm]skip)\s*[-+]?[0-9.]+\s*(?:pt|em|ex|mu|cm|mm|in|pc|sp|bp)"
    r"|(?<=\\\\)\s*(?:\*|\[\s*[-+]?[0-9.]+\s*[a-z]{2}\s*\])"  # of a row's end
    r"|(?:^|(?<=\s))%\s*[A-Za-z]{3}[^\n]*"  # `%` alone is what people write for `\%`
)
"""Lengths, and comments."""
_SILENT = IGNORED | HIDDEN
_PRIME = "\\prime"
_NO_NAMES = {"\\Re", "\\Im"}
"""Signs of their own, not the letters that other functions are written in."""
_DEGREES = ("°", "\\degree")
_MATRIX, _ALIGNED, _CASES = map(begin, ("matrix", "aligned", "cases"))
_BRACKETS = {begin(name): brackets for brackets, name in BRACKETED.items()}


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
    rows: list[list[list[str]]] = field(default_factory=list)
    """Tokens of an environment's cells."""
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
    return _join_names(tokens, reader.vocabulary)


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
        self.has_binomials = "\\binom" in vocabulary or bool(vocabulary.opens_rows)
        self.next = 0

    def peek(self) -> str:
        """The next lexeme that is not just style; empty at the end."""
        while self.next < len(self.lexemes):
            text = self.lexemes[self.next].text
            if text not in _SILENT or text in self.vocabulary or self.parts_cells(text):
                return text
            self.next += 1
            if text in HIDDEN:
                self.skip()
            if text in DELIMITED and self.peek() == ".":
                self.next += 1
        return ""

    def parts_cells(self, text: str) -> bool:
        """Whether `text` begins, ends or parts rows of cells that the vocabulary has."""
        held = self.vocabulary.opens_rows
        return bool(held) and (
            text == CELL or environment(text.replace("\\end", "\\begin")) in held
        )

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

    def items(
        self, opening: Lexeme | None = None, closing: str = "", parted: tuple[str, ...] = ()
    ) -> list[_Item]:
        """Everything up to `closing` or what is `parted` by, which is read too (default: up to
        the end)."""
        items: list[_Item] = []
        inner = 0
        while ((text := self.peek()) != closing and text not in parted) or inner:
            if not text:
                raise LatexError(f"{opening} is never closed: add {closing!r}")
            lexeme = self.take()
            if closing == "]":
                inner += (text == "[") - (text == "]")
            if text in ("_", "^"):
                _add_script(items, _Item(self.write(self.argument(lexeme)), text))
            elif text == "'" and items and items[-1] != _Item([_PRIME]):
                _add_script(items, _Item([_PRIME], "^", primes=True))
            elif text in _DEGREES and items and self.vocabulary.opens_rows:
                # Other vocabularies, of before, have it on the line.
                _add_script(items, _Item(["\\circ"], "^", primes=True))
            elif text in RAISED:
                _add_script(items, _Item([RAISED[text]], "^", primes=True))
            elif text == "\\over" or (text == "\\choose" and self.has_binomials):
                above, below = self.write(items), self.write(self.items(opening, closing, parted))
                if text == "\\choose":
                    return [self.stacked(above, below)]
                return [_Item(["\\frac", "{", *above, "}", "{", *below, "}"])]
            elif text != CELL or text in self.vocabulary:
                items += self.one(lexeme)
        if closing:
            self.take()
        return self.bracketed(items) if self.vocabulary.opens_rows else items

    def one(self, lexeme: Lexeme) -> list[_Item]:
        """Parses a group, a relation with its arguments, or a symbol from `lexeme` on."""
        text = lexeme.text
        if text == "{":
            return [replace(item, primes=False) for item in self.items(lexeme, "}")]
        if text == LIMITS:
            return [_Item([], LIMITS)]
        if text in WRAPPERS and text not in self.vocabulary:
            inner = self.argument(lexeme)
            content = "".join(token for item in inner for token in item.tokens)
            styled, name = f"{STYLES.get(text, text)}{{{content}}}", f"\\{content}"
            if styled in self.vocabulary:  # a class of its own, as the double R of the reals
                return [_Item([styled])]
            known = name in FUNCTIONS - _NO_NAMES
            return self.symbol(Lexeme(name, lexeme.place)) if known else inner
        if text in STACKED and text not in self.vocabulary:
            script = _Item(self.write(self.argument(lexeme)), STACKED[text])
            return [*self.argument(lexeme), _Item([], LIMITS), script]
        if text == "\\not":
            sign = " ".join(spell(self.peek(), self.vocabulary) or (self.peek(),))
            name = NEGATED.get(sign, f"\\not{sign}")
            if name == "\\neq" or name in self.vocabulary:
                return self.symbol(Lexeme(name, self.take().place))
        if environment(text) in self.vocabulary.opens_rows:
            return self.rows(lexeme)
        if text in SPELLINGS["\\binom"] and self.has_binomials:
            upper, lower = self.write(self.argument(lexeme)), self.write(self.argument(lexeme))
            return [self.stacked(upper, lower)]
        if text == "\\pmod":
            modulo = self.symbol(Lexeme("\\bmod", lexeme.place))
            around = (self.symbol(Lexeme(bracket, lexeme.place)) for bracket in "()")
            return [*next(around), *modulo, *self.argument(lexeme), *next(around)]
        return self.symbol(lexeme)

    def stacked(self, upper: list[str], lower: list[str]) -> _Item:
        """A binomial, which looks like a matrix of two rows; it is one where it has no class."""
        if "\\binom" in self.vocabulary:
            return _Item(["\\binom", "{", *upper, "}", "{", *lower, "}"])
        rows = [[upper], [lower]]
        return _Item(_environment(begin("pmatrix"), rows), rows=rows)

    def rows(self, lexeme: Lexeme) -> list[_Item]:
        """An environment of rows and cells; of a single cell without brackets, what is in it."""
        opening, closing = environment(lexeme.text), end(lexeme.text)
        if lexeme.text in SPECIFIED:
            self.skip()
        rows: list[list[list[_Item]]] = [[[]]]
        last = ""
        while last != closing:
            rows[-1][-1] += self.items(lexeme, closing, (CELL, ROW))
            last = self.lexemes[self.next - 1].text
            if last == ROW:
                rows.append([[]])
            elif last == CELL and opening != _ALIGNED:
                rows[-1].append([])
        written = [[self.write(cell) for cell in row] for row in rows]
        while len(written) > 1 and written[-1] == [[]]:
            written.pop()
        if len(written) == len(written[0]) == 1 and opening != _CASES:
            brackets = _BRACKETS.get(opening, ("", ""))
            left, right = (self.symbol(Lexeme(b, lexeme.place)) if b else [] for b in brackets)
            return [*left, *rows[0][0], *right]
        return [_Item(_environment(opening, written), rows=written)]

    def bracketed(self, items: list[_Item]) -> list[_Item]:
        """Rows with the brackets round them as one environment; with a brace before them, cases."""
        signs = [" ".join(item.tokens).replace("\\parallel", "\\|") for item in items]
        for place in [n for n, item in enumerate(items) if item.rows][::-1]:
            item, left = items[place], "".join(signs[max(place - 1, 0) : place])
            if item.tokens[0] not in (_MATRIX, _ALIGNED):
                continue
            both = BRACKETED.get((left, "".join(signs[place + 1 : place + 2])))
            name = both if item.tokens[0] == _MATRIX and both else BRACKETED.get((left, ""))
            if name and begin(name) in self.vocabulary.opens_rows:
                written = _Item(_environment(begin(name), item.rows), rows=item.rows)
                items[place - 1 : place + 1 + bool(both)] = [written]
        return items

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


def _environment(opening: str, rows: list[list[list[str]]]) -> list[str]:
    """Tokens of rows of cells, with what parts them."""
    tokens = [opening]
    for row in rows:
        for cell in row:
            tokens += [*cell, CELL]
        tokens[-1] = ROW
    return [*tokens[:-1], end(opening)]


def _add_script(items: list[_Item], script: _Item) -> None:
    """An empty script is none; a superscript joins the primes before it."""
    if items and items[-1].primes and script.script == "^":
        items[-1].tokens += script.tokens
        items[-1].primes = script.primes
    elif script.tokens:
        items.append(script)


_SPELLED = sorted((" ".join(name[1:]) for name in FUNCTIONS - _NO_NAMES), key=len, reverse=True)
_NAME = re.compile(rf"(?<= )(?:{'|'.join(_SPELLED)})(?= )")


def _join_names(tokens: list[str], vocabulary: Vocabulary) -> list[str]:
    """`l o g` is `\\log`: the labels have it so wherever the ink's truth spells it in letters.
    Labels of vocabularies without matrices have the other names as they are written."""
    names = vocabulary if vocabulary.opens_rows else {"\\log"} & {*vocabulary.tokens}
    if not names:
        return tokens

    def joined(found: re.Match[str]) -> str:
        name = "\\" + found[0].replace(" ", "")
        return name if name in names else found[0]

    words = _NAME.sub(joined, f" {' '.join(tokens)} ").split()
    if words == tokens:
        return tokens
    pairs = zip(words, [*words[1:], ""], strict=True)
    below = LIMITS in vocabulary
    return [
        token
        for word, following in pairs
        for token in (word, LIMITS)[
            : 1 + (below and following == "_" and word in vocabulary.limits)
        ]
    ]
