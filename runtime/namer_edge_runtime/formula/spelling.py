"""Tables of the normalizer: the spellings that mean the same.

Which spelling is canonical depends on the vocabulary: `\\vert` is a class of HME100K and means the
`|` of CROHME. So a row lists equals in order of preference, and the first with a class is taken.
"""

import re
import unicodedata
from collections.abc import Container
from itertools import product

from .signs import FUNCTION, LARGE, OVER, SIGNS, UNDER
from .vocabulary import begin

_EQUALS = r"""
\leq \le \leqslant
\geq \ge \geqslant
\neq \ne
< \lt
> \gt
\rightarrow \to \longrightarrow
\leftarrow \gets \longleftarrow
\Rightarrow \implies \Longrightarrow
\Leftrightarrow \iff \Longleftrightarrow
[ \lbrack
] \rbrack
\{ \lbrace
\} \rbrace
| \vert \lvert \rvert \mid
\prime '
\ldots \dots \dotsc \dotso \cdots \dotsb \dotsm
\cdot \cdotp \centerdot
: \colon
\ast *
/ \slash
\in \isin
\varnothing \emptyset
\bot \perp
\square \Box
\circ \degree
\% %
√ \surd
\frac \dfrac \tfrac \cfrac
\widehat \hat
\overline \bar
\overrightarrow \vec
\epsilon \varepsilon
\phi \varphi
\wedge \land \bigwedge
\vee \lor \bigvee
\odot \bigodot
\sqcup \bigsqcup
\neg \lnot
\| \Vert \lVert \rVert \parallel
\binom \dbinom \tbinom
\rho \varrho
\setminus \backslash \smallsetminus
\triangle \vartriangle \bigtriangleup
\leftrightarrow \longleftrightarrow
\mapsto \longmapsto
\rightsquigarrow \leadsto
\propto \varpropto
\hbar \hslash
\preceq \preccurlyeq
\succeq \succcurlyeq
\subsetneq \varsubsetneq
\supsetneq \varsupsetneq
\coprod \amalg
\bmod \mod
\widetilde \tilde
i \imath
j \jmath
"""

SPELLINGS: dict[str, tuple[str, ...]] = {
    token: tuple(row.split()) for row in _EQUALS.strip().splitlines() for token in row.split()
}
"""Token → its equals, the preferred first."""

COMPOUND = {
    **dict.fromkeys(("\\parallel", "\\|", "\\Vert", "\\lVert", "\\rVert"), ("|", "|")),
    "\\iint": ("\\int",) * 2,
    "\\iiint": ("\\int",) * 3,
    "\\limsup": ("\\lim", "\\sup"),
    "\\liminf": ("\\lim", "\\inf"),
    "\\coloneqq": (":", "="),
}
"""Tokens that are written as several symbols where they have no class."""


def _commands(names: str) -> frozenset[str]:
    return frozenset("\\" + name for name in names.split())


def _of(*kinds: str) -> frozenset[str]:
    return frozenset(sign.token for sign in SIGNS.values() if sign.kind in kinds)


FUNCTIONS = _of(FUNCTION) | _commands("sgn mod bmod Re Im")
"""Names set upright; one without a class is written in letters."""

OPERATORS = FUNCTIONS | _of(LARGE) | _commands("limsup liminf mathop")
"""Tokens after which TeX accepts `\\limits`."""

_ENVIRONMENTS = """
equation align aligned alignat gather gathered multline flalign split eqnarray displaymath math
"""
"""Delimiters and environments around a whole formula."""

IGNORED = frozenset(["$", "~", "&", "\\ ", "\\\n", "\\\t"]) | _commands(
    "( ) [ ] ! , ; : > / quad qquad displaystyle textstyle scriptstyle scriptscriptstyle nolimits"
    " left right middle rm bf it cal strut allowbreak big Big bigg Bigg bigl Bigl biggl Biggl bigr"
    " Bigr biggr Biggr bigm Bigm displaylimits nonumber notag relax null mathstrut hfill hfil"
    " hline enspace enskip thinspace medspace thickspace negthinspace negmedspace negthickspace sf"
    " tt sl em tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge"
)
for _word, _star in product(("begin", "end"), ("", "*")):
    IGNORED |= {f"\\{_word}{{{name}{_star}}}" for name in _ENVIRONMENTS.split()}
"""Commands that change only the look or the spacing."""

HIDDEN = _commands(
    "cline tag label hspace vspace color textcolor colorbox phantom hphantom vphantom"
)
"""Commands whose first argument is no ink: lengths, colors, names."""

STACKED = {"\\underset": "_", "\\overset": "^", "\\stackrel": "^"}
"""Command → the script that its first argument is, set on the second."""

DELIMITED = _commands("left right middle")
"""Commands after which `.` means that there is no delimiter."""

WRAPPERS = _commands(
    "mbox hbox text textrm textit textbf textsf texttt textnormal mathrm mathit mathbf mathsf"
    " mathtt mathcal mathbb mathfrak mathscr mathnormal boldsymbol bm operatorname operatorname*"
    " mathop mathbin mathrel mathord mathopen mathclose mathinner mathpunct textup textmd emph"
    " mathup pmb ensuremath smash boxed fbox mathds mathbbm Bbb"
)
"""Commands that set the style of their argument, which stays."""

STYLES = {
    **dict.fromkeys(("\\mathds", "\\mathbbm", "\\Bbb"), "\\mathbb"),
    "\\mathscr": "\\mathcal",
}
"""Style → the one whose letters are drawn the same and may have classes."""

_SIGNS = r"""
° \circ ⋅ \cdot – - ∣ | µ \mu （ ( ） ) ＋ + ＝ = ， , ： : ； ; ！ ! ？ ?
"""
UNICODE: dict[str, str] = {
    **{
        sign.character: sign.token
        for sign in reversed(SIGNS.values())
        if len(sign.character) == 1 and not sign.character.isascii()
        if sign.kind not in (OVER, UNDER)
    },
    **dict(zip(_SIGNS.split()[::2], _SIGNS.split()[1::2], strict=True)),
}
"""Single characters that people type → LaTeX; each only where it has no class of its own."""


_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789+-=()aehijklmnoprstuvx")
SUBSCRIPTS = "".join(map(chr, _SUBSCRIPTS))
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni", strict=True))
_TYPED = {
    "...": ("\\ldots",),
    "\\sp": ("^",),
    "\\sb": ("_",),
    **dict.fromkeys("’′", ("'",)),
    **dict.fromkeys("”″", ("'",) * 2),
    "‴": ("'",) * 3,
}


def typed(lexeme: str) -> tuple[str, ...]:
    """The lexemes that one is short for: ½, ₁₂, a typographic prime, `...`; itself if for none."""
    if lexeme[0] in SUBSCRIPTS:
        return ("_", "{", *lexeme.translate(_SUBSCRIPTS), "}")
    if unicodedata.decomposition(lexeme[0]).startswith("<fraction>"):
        above, _, below = unicodedata.normalize("NFKC", lexeme).partition("⁄")
        return ("\\frac", "{", *above, "}", "{", *below, "}") if below else (lexeme,)
    if lexeme.startswith(("\\begin", "\\end")):
        return ("".join(lexeme.split()),)
    return _TYPED.get(lexeme, (lexeme,))


_BEGIN = re.compile(r"\\begin\{([a-zA-Z]+)\*?\}")
_ROWS = {
    **dict.fromkeys(("array", "smallmatrix"), "matrix"),
    "dcases": "cases",
    **dict.fromkeys(("align", "alignat", "alignedat", "flalign", "gather"), "aligned"),
    **dict.fromkeys(("gathered", "split", "eqnarray", "multline"), "aligned"),
}
"""Environment → the one that stands for it."""
SPECIFIED = frozenset(map(begin, ("array", "alignat", "alignat*", "alignedat")))
"""Environments with an argument, which says how their columns are set."""
BRACKETED = {
    ("(", ")"): "pmatrix",
    ("[", "]"): "bmatrix",
    ("\\{", "\\}"): "Bmatrix",
    ("|", "|"): "vmatrix",
    ("\\|", "\\|"): "Vmatrix",
    ("\\{", ""): "cases",
}
"""Brackets round rows of cells → the environment that brings them along."""


def environment(lexeme: str) -> str:
    """The canonical `\\begin{…}` of one as people write it; empty for all else."""
    found = _BEGIN.fullmatch(lexeme)
    return begin(_ROWS.get(found[1], found[1])) if found else ""


def spell(token: str, classes: Container[str]) -> tuple[str, ...] | None:
    """The tokens out of `classes` that `token` is written with; None where there is no way."""
    token = token if token in classes else UNICODE.get(token, token)
    for equal in (token, *SPELLINGS.get(token, ())):
        if equal in classes:
            return (equal,)
    letters = COMPOUND.get(token) or (tuple(token[1:]) if token in FUNCTIONS else ())
    spelled = [spell(letter, classes) for letter in letters]
    if not spelled or None in spelled:
        return None
    return tuple(part for parts in spelled for part in parts or ())
