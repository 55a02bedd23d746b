r"""Every sign of everyday mathematics: its LaTeX token, its character and its kind.

Data for all writers: what a sign looks like in MathML, how it stands in a row, and which signs are
drawn alike, so that only the formula around them tells them apart (`drawn_alike`).
"""

from collections.abc import Iterator
from string import ascii_letters, ascii_uppercase, digits
from typing import NamedTuple

IDENTIFIER, NUMBER, FUNCTION = "identifier", "number", "function"
OPERATOR, RELATION, LARGE = "operator", "relation", "large operator"
OPEN, CLOSE, BAR, PUNCTUATION = "open", "close", "bar", "punctuation"
OVER, UNDER = "accent", "accent below"
"""Kinds: a bar opens and closes, a large operator takes limits, an accent has an argument."""


class Sign(NamedTuple):
    """A sign that is written by hand."""

    token: str
    """Its LaTeX, one canonical token."""
    character: str
    """Its Unicode character, or the name of a function."""
    kind: str


_TABLE = {
    IDENTIFIER: r"""
\alpha α \beta β \gamma γ \delta δ \epsilon ϵ \varepsilon ε \zeta ζ \eta η \theta θ \vartheta ϑ
\iota ι \kappa κ \lambda λ \mu μ \nu ν \xi ξ \pi π \varpi ϖ \rho ρ \varrho ϱ \sigma σ \varsigma ς
\tau τ \upsilon υ \phi ϕ \varphi φ \chi χ \psi ψ \omega ω \Gamma Γ \Delta Δ \Theta Θ \Lambda Λ \Xi Ξ
\Pi Π \Sigma Σ \Upsilon Υ \Phi Φ \Psi Ψ \Omega Ω \infty ∞ \partial ∂ \nabla ∇ \hbar ℏ \ell ℓ
\wp ℘ \Re ℜ \Im ℑ \aleph ℵ \emptyset ∅ \varnothing ∅ \top ⊤ \angle ∠ \measuredangle ∡ \checkmark ✓
\triangle △ \square □ \bigcirc ○ \diamond ⋄ \imath ı \jmath ȷ √ √ \surd √
""",
    NUMBER: " ".join(f"{digit} {digit}" for digit in digits),
    OPERATOR: r"""
+ + - − \pm ± \mp ∓ \times × \div ÷ \cdot · / / * ∗ \ast ∗ \star ⋆ \circ ∘ \bullet • \oplus ⊕
\ominus ⊖ \otimes ⊗ \odot ⊙ \cap ∩ \cup ∪ \sqcap ⊓ \sqcup ⊔ \uplus ⊎ \wedge ∧ \vee ∨ \setminus ∖
\backslash \ \dagger † \rtimes ⋊ \ltimes ⋉ \neg ¬ \forall ∀ \exists ∃ \nexists ∄ \prime ′ ! ! \% %
\# # \& & \$ $ @ @ \_ _ \bmod mod \mod mod
""",
    RELATION: r"""
= = < < > > \leq ≤ \geq ≥ \leqslant ⩽ \geqslant ⩾ \ll ≪ \gg ≫ \neq ≠ \approx ≈ \sim ∼ \simeq ≃
\cong ≅ \equiv ≡ \propto ∝ \asymp ≍ \doteq ≐ \triangleq ≜ \prec ≺ \succ ≻ \preceq ⪯ \succeq ⪰ \in ∈
\lesssim ≲ \gtrsim ≳
\ni ∋ \notin ∉ \subset ⊂ \supset ⊃ \subseteq ⊆ \supseteq ⊇ \subsetneq ⊊ \supsetneq ⊋ \sqsubseteq ⊑
\nless ≮ \ngtr ≯ \nleq ≰ \ngeq ≱ \nsim ≁ \ncong ≇ \not\equiv ≢ \not\approx ≉ \not\simeq ≄ \nmid ∤
\not\subset ⊄ \not\supset ⊅ \nsubseteq ⊈ \nsupseteq ⊉ \nparallel ∦ \not / \perp ⟂ \bot ⊥ \parallel ∥
\mid ∣ \vdash ⊢ \Vdash ⊩ \models ⊨ \therefore ∴ \because ∵ \rightarrow → \leftarrow ←
\leftrightarrow ↔ \longrightarrow ⟶ \Rightarrow ⇒ \Leftarrow ⇐ \Leftrightarrow ⇔
\nrightarrow ↛ \nRightarrow ⇏ \uparrow ↑ \downarrow ↓ \updownarrow ↕ \Uparrow ⇑ \Downarrow ⇓
\mapsto ↦ \hookrightarrow ↪ \nearrow ↗ \searrow ↘ \swarrow ↙ \nwarrow ↖ \rightharpoonup ⇀
\rightleftharpoons ⇌ \rightsquigarrow ⇝
""",
    LARGE: r"""
\sum ∑ \prod ∏ \coprod ∐ \int ∫ \iint ∬ \iiint ∭ \oint ∮ \bigcup ⋃ \bigcap ⋂ \bigvee ⋁ \bigwedge ⋀
\bigoplus ⨁ \bigotimes ⨂ \bigodot ⨀
""",
    OPEN: r"( ( [ [ \{ { \langle ⟨ \lfloor ⌊ \lceil ⌈",
    CLOSE: r") ) ] ] \} } \rangle ⟩ \rfloor ⌋ \rceil ⌉",
    BAR: r"| | \vert | \| ‖",
    PUNCTUATION: r", , . . : : ; ; ? ? \ldots … \dots … \cdots ⋯ \vdots ⋮ \ddots ⋱ 、 、 。 。",
    OVER: r"""
\bar ‾ \overline ‾ \vec → \overrightarrow → \hat ^ \widehat ^ \tilde ~ \widetilde ~ \dot ˙ \ddot ¨
""",
    UNDER: r"\underline _",
}
_FUNCTIONS = """
sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh coth log ln lg exp lim max min
sup inf det dim gcd lcm deg ker arg hom sgn tg ctg Pr
"""
_DOUBLE = "𝔸𝔹ℂ𝔻𝔼𝔽𝔾ℍ𝕀𝕁𝕂𝕃𝕄ℕ𝕆ℙℚℝ𝕊𝕋𝕌𝕍𝕎𝕏𝕐ℤ𝟙"
_SCRIPT = "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵"


def _signs() -> Iterator[Sign]:
    for kind, rows in _TABLE.items():
        cells = rows.split()
        yield from map(Sign, cells[::2], cells[1::2], [kind] * len(cells))
    yield from (Sign(letter, letter, IDENTIFIER) for letter in ascii_letters)
    yield from (Sign(f"\\{name}", name, FUNCTION) for name in _FUNCTIONS.split())
    for letter, sign in zip(f"{ascii_uppercase}1", _DOUBLE, strict=True):
        yield Sign(f"\\mathbb{{{letter}}}", sign, IDENTIFIER)
    for letter, sign in zip(ascii_uppercase, _SCRIPT, strict=True):
        yield Sign(f"\\mathcal{{{letter}}}", sign, IDENTIFIER)


SIGNS: dict[str, Sign] = {sign.token: sign for sign in _signs()}
"""Token → sign."""

_NEGATED = r"""
= \neq \in \notin < \nless > \ngtr \leq \nleq \geq \ngeq \sim \nsim \cong \ncong | \nmid
\parallel \nparallel \exists \nexists \subseteq \nsubseteq \supseteq \nsupseteq
\rightarrow \nrightarrow \Rightarrow \nRightarrow
"""
NEGATED = dict(zip(_NEGATED.split()[::2], _NEGATED.split()[1::2], strict=True))
"""Sign → its negation, drawn with a stroke through it; before all other signs `\\not` stands."""

_ALIKE = r"""
\Sigma \sum
\Pi \prod
\amalg \coprod \sqcup
\| \parallel \Vert
\epsilon \in
\emptyset \varnothing \diameter \oslash
\Delta \triangle \vartriangle \bigtriangleup
\wedge \Lambda \bigwedge
\vee v V \bigvee
\cup u U \bigcup
\cap \bigcap
\oplus \bigoplus
\otimes \bigotimes
\odot \bigodot
\circ o O 0 \bigcirc \degree
. \cdot
\ldots \dots \cdots
\setminus \backslash \smallsetminus
\perp \bot
\top T
| l I \mid \vert
\times x X
\Upsilon Y y
\Xi \equiv
\propto \alpha \varpropto
\langle <
\rangle >
\hbar \hslash
\prime '
\ast *
\square \Box
\diamond \Diamond \lozenge
\leq \leqslant \le
\geq \geqslant \ge
\rightarrow \longrightarrow \to
\leftarrow \longleftarrow
\Rightarrow \Longrightarrow
\Leftrightarrow \Longleftrightarrow
\mapsto \longmapsto
\subsetneq \varsubsetneq
\preceq \preccurlyeq
\succeq \succcurlyeq
\rightsquigarrow \leadsto
\bar \overline
\vec \overrightarrow
\hat \widehat
\tilde \widetilde
c C
k K
p P
s S
w W
z Z
"""
"""Signs of one shape, a row each: what stands round them, or their size, tells them apart."""


def _looks() -> dict[str, str]:
    looks: dict[str, str] = {}
    for row in _ALIKE.strip().splitlines():
        first, *others = row.split()
        looks |= dict.fromkeys((first, *others), first)
    for letter in ascii_uppercase:
        looks[f"\\mathcal{{{letter}}}"] = looks[f"\\mathscr{{{letter}}}"] = looks.get(
            letter, letter
        )
    return looks


_LOOKS = _looks()


def drawn_as(token: str) -> str:
    """The sign that stands for all that are drawn like `token`: itself where it is alone."""
    return _LOOKS.get(token, token)


def drawn_alike(one: str, other: str) -> bool:
    """Whether a single sign could be either."""
    return drawn_as(one) == drawn_as(other)
