"""Sizes of signs that no measured formula holds: each takes those of a sign that CROHME has."""

from namer_edge_runtime.formula.vocabulary import Vocabulary

_LIKE = r"""
A : D J K O Q U W Z \Gamma \Theta \Lambda \Xi \Pi \Sigma \Upsilon \Phi \Psi \Omega \Re \Im \aleph
A : \triangle \nabla \angle \measuredangle \checkmark \backslash
x : \epsilon \varepsilon \iota \kappa \nu \tau \upsilon \omega \varpi \circ \square \diamond
x : : \therefore \because \star \ast \bullet
y : \eta \rho \varsigma \chi \wp ;
\beta : \delta \zeta \xi \psi \varphi \vartheta \partial \hbar \ell \& \% \$ \# @ ? \dagger \top
\beta : \perp \neg
= : \approx \sim \simeq \cong \equiv \doteq \leftrightarrow \Leftrightarrow \propto
\leq : \ll \gg \prec \succ \preceq \succeq \vdash \models \lesssim \gtrsim \triangleq \nleq \ngeq
\leq : \ncong \nsim \subset \supset \subseteq \supseteq \subsetneq \supsetneq \nsubseteq
\in : \notin \ni \emptyset \nexists
| : \parallel \nmid \nparallel \uparrow \downarrow
+ : \wedge \vee \cup \cap \setminus \oplus \otimes \ominus \odot \mp
\sum : \prod \coprod \bigcup \bigcap \bigoplus \bigotimes
\int : \iint \iiint \oint
\rightarrow : \leftarrow \Rightarrow \Leftarrow \mapsto \hookrightarrow \rightleftharpoons
\rightarrow : \rightharpoonup \nearrow \searrow
\cdots : \vdots \ddots
( : \lfloor \lceil \langle
) : \rfloor \rceil \rangle
"""

LIKE: dict[str, str] = {
    sign: row.split()[0] for row in _LIKE.strip().splitlines() for sign in row.split()[2:]
}
"""Sign → the sign that it is as large as and stands on the line like."""


def measured_like(token: str) -> str:
    """The sign whose size and height on the line `token` takes where it was never measured."""
    return "A" if token.startswith(("\\mathbb", "\\mathcal")) else LIKE.get(token, token)


def completed(
    measured: dict[str, float], seen: set[str], vocabulary: Vocabulary
) -> dict[str, float]:
    """`measured` values of classes, where those not `seen` take the value of a similar sign."""
    return {
        token: measured[measured_like(token)]
        if token not in seen and measured_like(token) in seen
        else measured[token]
        for token in vocabulary.tokens
    }
