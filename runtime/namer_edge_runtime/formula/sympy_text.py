"""Canonical tokens → an expression that SymPy's `sympify` takes.

What a formula leaves open is settled as most people mean it: letters side by side are a product, a
letter of `FUNCTION_LETTERS` before a bracket is a function, `e` is Euler's number. What SymPy has
no meaning for keeps its place, as a symbol or a function of that name.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..errors import LatexError
from .atoms import Atom, write
from .mathml import brackets, sign_of
from .signs import FUNCTION, LARGE, OVER, RELATION, UNDER
from .sympy_value import (
    BLANK,
    LOOSE,
    POWER,
    PRODUCT,
    SUM,
    TIGHT,
    Value,
    bare,
    call,
    differential,
    letter,
    name,
    primes,
    symbol,
    written,
)
from .vocabulary import GROUP, INDEX, Vocabulary, begin

FUNCTION_LETTERS = frozenset("fghFGH")
_CONSTANTS = {"\\infty": "oo", "\\pi": "pi", "e": "E"}
_COMPARED = {"=": "Eq", "\\neq": "Ne", "<": "Lt", ">": "Gt", "\\leq": "Le", "\\geq": "Ge"}
_PLAIN = "sin cos tan cot sec csc sinh cosh tanh coth exp log".split()  # noqa: SIM905
_NAMED = {
    **{f"\\{name}": name for name in _PLAIN},
    **{f"\\arc{name}": f"a{name}" for name in _PLAIN[:4]},
    **dict.fromkeys(("\\ln", "\\lg"), "log"),
    **dict(zip(("\\max", "\\min", "\\gcd", "\\arg"), ("Max", "Min", "gcd", "arg"), strict=True)),
}
_SEVERAL = ("Max", "Min", "gcd")
_TIMES, _DIVIDED = ("\\times", "\\cdot", "\\ast", "*"), ("/", "\\div")
_ADDED = {"+": "+", "-": "-", "\\pm": "±", "\\mp": "∓"}
_INTEGRALS = {"\\int": 1, "\\oint": 1, "\\iint": 2, "\\iiint": 3}
"""Integral → over how many variables."""
_BOUND = {"\\sum": "Sum", "\\prod": "Product"}
_PARTED = (",", ";", ".")
_DIFFERENTIALS = ("d", "\\partial")


def sympy_text(tokens: Sequence[str], vocabulary: Vocabulary | None = None) -> str:
    """An expression for `sympy.sympify`. `vocabulary` gives the relation table (default: the
    packaged ones, and what the tokens themselves show).

    Raises `LatexError` for tokens that are not balanced, or brackets nested too deeply.
    """
    if not tokens:
        return ""
    try:
        return write(tokens, vocabulary, _row).text
    except RecursionError:
        raise LatexError("brackets are nested too deeply for SymPy") from None


def _row(atoms: list[Atom]) -> Value:
    own = name(atoms[0]) if len(atoms) == 1 else "".join(map(written, atoms))
    return replace(_Reader(atoms).listed(), name=own, atoms=atoms)


class _Reader:
    """Reads a row from left to right by precedence; whatever stands there, it gets to the end."""

    def __init__(self, atoms: list[Atom]) -> None:
        self.atoms = atoms
        self.closed_by = brackets(atoms)
        self.place = 0
        self.end = len(atoms)

    def token(self) -> str:
        return self.atoms[self.place].token if self.place < self.end else ""

    def take(self, tokens: Collection[str]) -> str:
        """The next symbol, which is passed over, where it is one of `tokens`."""
        token = self.token()
        if token not in tokens or not token:
            return ""
        self.place += 1
        return token

    def bracketed(self) -> bool:
        """Whether a bracket is next that is closed in time."""
        return self.closed_by.get(self.place, self.end) < self.end

    def inside(self, end: int) -> Value:
        """Parses up to the place `end`, which is passed over too."""
        outer, self.end = self.end, end
        found = self.listed()
        self.end, self.place = outer, end + 1
        return found

    def listed(self) -> Value:
        parts = [self.related()]
        while self.take(_PARTED):
            if self.place < self.end:
                parts.append(self.related())
        if len(parts) == 1:
            return parts[0]
        members = tuple(part.text for part in parts)
        return Value(f"Tuple({', '.join(members)})", LOOSE, members)

    def related(self) -> Value:
        """A sum, a relation of two, or a chain of relations, which all hold."""
        sides, signs = [self.added()], []
        while self.place < self.end and sign_of(self.token()).kind == RELATION:
            signs.append(self.token())
            self.place += 1
            sides.append(self.added())
        if not signs:
            return sides[0]
        texts = [side.at(SUM) for side in sides]
        pairs = [
            f"{_COMPARED[sign]}({left}, {right})"
            if sign in _COMPARED
            else call(sign_of(sign).character, left, right)
            for sign, left, right in zip(signs, texts, texts[1:], strict=False)
        ]
        if len(pairs) == 1:
            return Value(pairs[0], LOOSE, sides=(signs[0], *texts))
        together = "And" if {*signs} <= _COMPARED.keys() else "Tuple"
        return Value(f"{together}({', '.join(pairs)})", LOOSE, tuple(pairs))

    def added(self) -> Value:
        found = Value("") if self.token() in _ADDED else self.multiplied()
        while sign := _ADDED.get(self.take(_ADDED), ""):
            term = self.multiplied().at(PRODUCT)
            if sign in "±∓":
                sign, term = "+", f"{symbol(sign)}*{term}"
            before = found.at(SUM)
            text = f"{before} {sign} {term}" if before else term if sign == "+" else f"-{term}"
            found = Value(text, SUM)
        return found

    def multiplied(self, argument: bool = False) -> Value:
        """Factors side by side, or with signs between them; a blank for one that is missing.

        As the `argument` of a function they end at a bracket and at the next function.
        """
        found: Value | None = None
        sign = ""
        while self.place < self.end:
            token = self.token()
            kind = sign_of(token).kind
            if token in _ADDED and not sign:
                break
            if token in (",", ";") or (token == "." and found) or kind == RELATION:
                break
            if argument and found and (self.bracketed() or kind in (FUNCTION, LARGE)):
                break
            if self.take(_TIMES):
                sign, found = "*", found or Value(BLANK)
            elif self.take(_DIVIDED):
                sign, found = "/", found or Value(BLANK)
            else:
                negative = "-" * bool(self.take(("-",)))
                factor = self.factor() if self.place < self.end else Value(BLANK)
                if negative:
                    factor = Value(f"-{factor.at(PRODUCT)}", SUM)
                if found:
                    text = f"{found.at(PRODUCT)}{sign or '*'}{factor.at(POWER)}"
                    factor = Value(text, PRODUCT)
                found, sign = factor, ""
        found = found or Value(BLANK)
        return Value(f"{found.at(PRODUCT)}{sign}{BLANK}", PRODUCT) if sign else found

    def factor(self) -> Value:
        """Parses a factor: an atom, its exponent and what stands right behind it."""
        found = self.power()
        while self.take("!"):
            found = Value(f"factorial({found.at(SUM)})")
        if self.take(("\\%",)):
            found = Value(f"{found.at(PRODUCT)}/100", PRODUCT)
        return found

    def power(self) -> Value:
        atom = self.atoms[self.place]
        token = atom.token
        if self.bracketed():
            return self.raised(self.bracket())
        self.place += 1
        if token.isdecimal() or (token == "." and self.token().isdecimal()):
            return self.raised(self.number(atom))
        if token in (*_INTEGRALS, *_BOUND, "\\lim"):
            return self.large(atom)
        if token in _NAMED:
            return self.function(atom)
        if self.applied(atom):
            return self.application(atom)
        if atom.rows:
            return self.raised(_matrix(atom), atom)
        if atom.arguments and sign_of(token).kind not in (OVER, UNDER):
            return self.raised(self.relation(atom), atom)
        if token in _CONSTANTS and atom.subscript is None and not primes(atom):
            return self.raised(Value(_CONSTANTS[token]))
        found = Value(symbol(name(atom)))
        return found if primes(atom) else self.raised(found)

    def applied(self, atom: Atom) -> bool:
        """Whether a letter is a function of the brackets behind it: by its name, or since they
        hold a single symbol or a list."""
        if not letter(atom) or self.token() != "(" or not self.bracketed():
            return False
        inner = self.atoms[self.place + 1 : self.closed_by[self.place]]
        number = bool(inner) and all(one.token.isdecimal() for one in inner)
        several = any(one.token == "," for one in inner)
        return atom.token in FUNCTION_LETTERS or len(inner) == 1 or number or several

    def application(self, atom: Atom) -> Value:
        """A function of the brackets behind it; `f^{(k)}` and `f^{-1}` are functions too."""
        script = atom.superscript
        own = script is not None and script.name.startswith(("(", "-1"))
        inner = self.bracket()
        called = name(atom) + (f"^{{{script.name}}}" if own else "")
        found = self.raised(Value(call(called, *(inner.members or (inner.at(SUM),)))))
        return found if own or primes(atom) else self.raised(found, atom)

    def raised(self, base: Value, atom: Atom | None = None) -> Value:
        """Applies the exponent of `atom` (default: the one before)."""
        exponent = (atom or self.atoms[self.place - 1]).superscript
        if exponent is None:
            return base
        signs = {inner.token for inner in exponent.atoms}
        if signs == {"\\circ"}:
            return Value(f"{base.at(TIGHT)}*pi/180", PRODUCT)
        if signs <= {"\\prime"}:
            return Value(call("prime", base.at(SUM)))
        return Value(f"{base.at(TIGHT)}**{exponent.at(TIGHT)}", POWER)

    def number(self, first: Atom) -> Value:
        """Digits with at most one point; one with a script is the last."""
        text, last = first.token, first
        while bare(last) and self.place < self.end:
            behind = [atom.token for atom in self.atoms[self.place + 1 : self.place + 2]]
            point = self.token() == "." and "." not in text and "".join(behind).isdecimal()
            if not self.token().isdecimal() and not point:
                break
            last = self.atoms[self.place]
            text += last.token
            self.place += 1
        if last.subscript is not None:
            return Value(symbol(f"{text}_{{{last.subscript.name}}}"))
        whole, dot, part = text.partition(".")
        return Value(f"{whole.lstrip('0') or '0'}{dot}{part}")

    def bracket(self) -> Value:
        """Parses the content of the next brackets, without their exponent."""
        opening, closing = self.token(), self.closed_by[self.place]
        self.place += 1
        found = self.inside(closing)
        around = {"|": "Abs", "\\vert": "Abs", "\\lfloor": "floor", "\\lceil": "ceiling"}
        if opening in around:
            found = Value(f"{around[opening]}({found.at(SUM)})")
        elif opening == "\\|":
            found = Value(call("norm", found.at(SUM)))
        script = self.atoms[closing].subscript
        return Value(call("subscript", found.at(SUM), script.at(SUM))) if script else found

    def function(self, atom: Atom) -> Value:
        """A function of the brackets behind it, or of the factors up to the next function."""
        known = _NAMED[atom.token]
        if self.bracketed():
            inner = self.bracket()
            inner = self.raised(inner) if not inner.members else inner
        elif self.place < self.end and self.token() not in _ADDED:
            inner = self.multiplied(argument=True)
        else:
            return Value(symbol(f"{known}_"))
        several = inner.members if known in _SEVERAL else ()
        texts = list(several or (inner.at(SUM),))
        base, exponent = atom.subscript, atom.superscript
        if known == "log" and (base or atom.token == "\\lg"):
            texts.append(base.at(SUM) if base else "10")
        elif base:
            return self.raised(Value(call(name(replace(atom, superscript=None)), *texts)), atom)
        if exponent and exponent.text == "-1" and f"\\arc{known}" in _NAMED:
            return Value(f"a{known}({', '.join(texts)})")
        return self.raised(Value(f"{known}({', '.join(texts)})"), atom)

    def relation(self, atom: Atom) -> Value:
        """Parses a function or relation with its arguments, without its exponent."""
        token, arguments = atom.token, atom.arguments
        first, last = arguments[0], arguments[-1]
        if token == "\\frac":
            quotient = Value(f"{first.at(PRODUCT)}/{last.at(POWER)}", PRODUCT)
            return self.derivative(first, last) or quotient
        if token == "\\binom":
            return Value(f"binomial({first.at(SUM)}, {last.at(SUM)})")
        if token == "\\sqrt":
            index = first.at(SUM) if atom.takes[0] == INDEX and first.atoms else ""
            return Value(f"root({last.at(SUM)}, {index})" if index else f"sqrt({last.at(SUM)})")
        if token in (GROUP, "\\mathop"):
            return last
        return Value(call(token, *(argument.at(SUM) for argument in arguments)))

    def derivative(self, above: Value, below: Value) -> Value | None:
        """Parses `\\frac { d y } { d x }`; `\\frac { d } { d x }` derives the factors behind it."""
        marks = [*above.atoms[:1], *below.atoms[:1]]
        if len(below.atoms) != 2 or len({mark.token for mark in marks}) != 1 or len(marks) != 2:
            return None
        by = below.atoms[1]
        orders = [
            script.text if script else "" for script in (marks[0].superscript, by.superscript)
        ]
        if marks[0].token not in _DIFFERENTIALS or not letter(by) or orders[0] != orders[1]:
            return None
        rest = above.atoms[1:]
        what = _Reader(rest).listed() if rest else self.multiplied()
        variable = symbol(name(replace(by, superscript=None)))
        order = f", {orders[0]}" if orders[0] else ""
        return Value(f"Derivative({what.at(SUM)}, {variable}{order})")

    def large(self, atom: Atom) -> Value:
        """A sum, product, limit or integral with what it stands before."""
        below, above = atom.subscript, atom.superscript
        if atom.token in _INTEGRALS:
            what, variables = self.integrand(_INTEGRALS[atom.token])
            bounds = f", {below.at(SUM)}, {above.at(SUM)}" if below and above else ""
            if len(variables) == 1 and bounds:
                return Value(f"Integral({what}, ({variables[0]}{bounds}))")
            if variables and not below:
                return Value(f"Integral({what}, {', '.join(variables)})")
        else:
            what, variables = self.multiplied().at(SUM), []
            sign, left, right = (below.sides if below else ()) or ("", "", "")
            bound = sign and letter(below.atoms[0]) and below.atoms[1].token == sign
            if bound and left not in ("E", "pi"):
                if (atom.token, sign) == ("\\lim", "\\rightarrow"):
                    return Value(f"Limit({what}, {left}, {right})")
                if above and sign == "=" and atom.token in _BOUND:
                    bounds = f"({left}, {right}, {above.at(SUM)})"
                    return Value(f"{_BOUND[atom.token]}({what}, {bounds})")
        scripts = [script.at(SUM) for script in (below, above) if script]
        return Value(call(sign_of(atom.token).character, what, *variables, *scripts))

    def integrand(self, most: int) -> tuple[str, list[str]]:
        """Parses the integrand and its variables, `most` of them."""
        atom = self.atoms[self.place] if self.place < self.end else Atom("")
        above = atom.arguments[0].atoms if atom.token == "\\frac" else []
        if bare(replace(atom, arguments=[])) and differential(above[-2:], 0):
            self.place += 1
            what = _Reader(above[:-2]).listed() if above[:-2] else Value("1")
            return f"{what.at(PRODUCT)}/{atom.arguments[1].at(POWER)}", [symbol(name(above[-1]))]
        row = self.atoms[: self.end]
        if atom.token in _INTEGRALS:
            what = self.power()
        else:
            ends = (place for place in range(self.place, self.end) if self.ends_integrand(place))
            ahead = next(ends, self.end)
            if not differential(row, ahead):
                return self.multiplied().at(SUM), []
            what = self.inside(ahead) if ahead > self.place else Value("1")
            self.place = ahead
        variables: list[str] = []
        while differential(row, self.place) and len(variables) < most:
            variables.append(symbol(name(row[self.place + 1])))
            self.place += 2
        return what.at(SUM), variables

    def ends_integrand(self, place: int) -> bool:
        """Whether `d x`, a relation or another integral stands there."""
        token = self.atoms[place].token
        related = sign_of(token).kind == RELATION or token in _INTEGRALS
        return related or differential(self.atoms[: self.end], place)


def _matrix(atom: Atom) -> Value:
    rows = atom.rows
    if atom.token == begin("cases") and all(len(r) == 2 and r[1].level == LOOSE for r in rows):
        pairs = (f"({row[0].at(SUM)}, {row[1].text})" for row in rows)
        return Value(f"Piecewise({', '.join(pairs)})")
    if atom.token in (begin("cases"), begin("aligned")):
        members = tuple(cell.text for row in rows for cell in row)
        return Value(f"Tuple({', '.join(members)})", LOOSE, members)
    width = max(map(len, rows))
    cells = [[cell.at(SUM) for cell in row] + ["0"] * (width - len(row)) for row in rows]
    lines = (f"[{', '.join(row)}]" for row in cells)
    text = f"Matrix([{', '.join(lines)}])"
    return Value(f"Determinant({text})" if atom.token == begin("vmatrix") else text)
