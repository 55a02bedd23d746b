"""Labels of everyday mathematics beyond CROHME's signs, drawn from a grammar by a seed.

    namer-edge data everyday -o EVERYDAY.tsv

Every sign and structure of the vocabulary `everyday` occurs, in the company that people write it
in, by itself, and in the place of signs of its kind. The file is one for the `labels` of a training
configuration.
"""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.formula.vocabulary import Vocabulary

from .drawn_labels import add_options, write_labels
from .grammar import Grammar
from .label_sampling import kind

SUMMARY = "draw labels of everyday mathematics beyond CROHME's signs from a grammar"
ALONE = 0.15
"""Share of the labels that are one sign."""
LISTED = 0.25
"""Share of the labels that are a row of signs, for practice rather than for sense."""
MIXED = 0.5
"""Share of the other labels in which signs become others of their kind, all equally often."""
EXCHANGED = 0.3
"""Share of the letters and operators that are exchanged in those."""

_RULES = r"""
v = x | y | z | a | b | c | n | m | k | i | j | t | u | w | p | q | r | s | d | f | g | h | e | o
v = l
G = \alpha | \beta | \gamma | \delta | \epsilon | \varepsilon | \zeta | \eta | \theta | \vartheta
G = \iota | \kappa | \lambda | \mu | \nu | \xi | \pi | \varpi | \rho | \sigma | \varsigma | \tau
G = \upsilon | \phi | \varphi | \chi | \psi | \omega
H = \Gamma | \Delta | \Theta | \Lambda | \Xi | \Pi | \Sigma | \Upsilon | \Phi | \Psi | \Omega
C = A | B | C | D | E | F | G | H | I | J | K | L | M | N | O | P | Q | R | S | T | U | V | W | X
C = Y | Z
N = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 0 | 1 0 | 2 5 | 3 0 | 4 5 | 6 0 | 9 0 | 1 0 0 | 1 2 | 7 5
B = \mathbb{R} | \mathbb{N} | \mathbb{Z} | \mathbb{Q} | \mathbb{C} | \mathbb{F} | \mathbb{H}
B = \mathbb{K}
K = \mathcal{A} | \mathcal{B} | \mathcal{C} | \mathcal{D} | \mathcal{E} | \mathcal{F}
K = \mathcal{G} | \mathcal{H} | \mathcal{L} | \mathcal{M} | \mathcal{N} | \mathcal{O}
K = \mathcal{P} | \mathcal{R} | \mathcal{S} | \mathcal{T}
R = = | = | < | > | \leq | \geq | \neq | \approx | \sim | \simeq | \cong | \equiv | \propto | \ll
R = \gg | \prec | \succ | \preceq | \succeq | \doteq | \lesssim | \gtrsim | \triangleq | \ncong
R = \nsim | \nleq | \ngeq
S = \subset | \supset | \subseteq | \supseteq | \subsetneq | \supsetneq | \nsubseteq | =
U = \cup | \cap | \setminus | \cup | \cap | \times
O = + | - | \pm | \mp | \cdot | \times | \div | \oplus | \otimes | \ominus | \odot | \circ | \ast
O = \star | \bullet | + | - | + | -
L = \wedge | \vee | \Rightarrow | \Leftarrow | \Leftrightarrow | \rightarrow | \leftrightarrow
W = \rightarrow | \leftarrow | \mapsto | \hookrightarrow | \rightleftharpoons | \Rightarrow
W = \rightharpoonup | \leftrightarrow | \nearrow | \searrow | \uparrow | \downarrow
f = \sin | \cos | \tan | \ln | \log | \exp | \arcsin | \arccos | \arctan | \sinh | \cosh | \tanh
f = \cot | \sec | \csc | \lg | \ln | \det | \dim | \ker | \arg | \Re | \Im
M = \max | \min | \sup | \inf | \lim
P = \prod | \coprod | \bigcup | \bigcap | \bigoplus | \bigotimes | \sum | \prod
Q = \iint | \iiint | \oint | \int
X = \vec{ <v> } | \hat{ <v> } | \overline{ <v> } | \tilde{ <v> } | \dot{ <v> } | \ddot{ <v> }
X = \vec{ <C> <C> } | \overline{ <C> <C> } | \hat{ <G> } | \overline{ <C> } | \tilde{ <C> }
X = \underline{ <v> } | \vec{ <C> } | \hat{ <C> } | \dot{ <G> } | \overline{ <v> + <v> }
X = \vec{ <G> }
s = <v> | <v> | <G> | <C> | <N> | <v> _ { <v> } | <v> _ { <N> } | <G> _ { <v> } | <v> ^ { <N> }
s = <H>
t = <s> | <N> <v> | <s> <s> | <f> <s> | <f> ( <s> ) | <X> | \frac{ <s> }{ <s> } | \sqrt{ <s> }
t = \sqrt[ 3 ]{ <s> } | \sqrt[ n ]{ <v> } | ( <s> <O> <s> ) | \lfloor <s> \rfloor
t = \lceil <s> \rceil | \langle <s> , <s> \rangle | \parallel <v> \parallel | \vert <s> \vert
t = <v> ! | <v> ^ { \prime } | <v> ^ { \prime \prime } | <s> ^ { \circ } | <s> ^ { \ast }
t = <s> ^ { \dagger } | <C> ^ { \top }
e = <t> | <t> <O> <t> | <t> <O> <t> | <t> <O> <t> <O> <t>
d = \frac{ \partial <v> }{ \partial <v> } | \frac{ \partial ^ { 2 } <v> }{ \partial <v> ^ { 2 } }
d = \frac{ d <v> }{ d <v> } | \nabla <v> | \nabla \cdot <X> | \nabla \times <X>
d = \nabla ^ { 2 } <G>
z = <X> | <X> <R> <t> | <X> <O> <X> | <X> <X> = <X>
z = <e> <R> <e> | <e> <R> <e> | <t> <R> <t> | <d> = <e> | <d> <O> <d> = <t>
z = <M> _ { <v> \in <C> } <f> ( <v> ) | <M> _ { <v> \rightarrow \infty } <t> | <M> _ { <v> } <t>
z = <M> ( <s> , <s> ) | <M> \{ <s> , <s> \} | <P> _ { <v> = <N> } ^ { <v> } <t>
z = <P> _ { <v> \in <C> } <C> _ { <v> } | <P> _ { <v> } <t> | <Q> <v> d <v>
z = <Q> _ { <C> } <t> d <v> d <v> | <Q> <X> \cdot d <X> | \oint _ { <C> } <t> d <v> | <v> \in <B>
z = <v> \notin <C> | \forall <v> \in <B> | \exists <v> \in <B> : <z> | <B> ^ { <v> }
z = \forall <G> > 0 , \exists <G> > 0 | \nexists <v> \in <B> | <C> \ni <v>
z = <v> , <v> \in <B> ^ { + } | <C> <S> <C> | <C> <U> <C> = <C> | <C> <U> <C> = \emptyset
z = ( <C> <U> <C> ) <U> <C> | \{ <v> \in <B> \vert <z> \} | <C> <U> <C> <S> <C>
z = \overline{ <C> <U> <C> } = \overline{ <C> } <U> \overline{ <C> } | <v> <L> <v>
z = \neg <v> <L> <v> | \neg ( <v> <L> <v> ) | ( <v> <L> <v> ) <L> <v> | <C> <L> <C>
z = <G> \vdash <G> | <C> \models <G> | \top <L> \neg <v> | \therefore <z> | \because <z>
z = \therefore <v> = <N> | <C> <W> <C> | <v> <W> <v> ^ { 2 } | <v> : <C> <W> <C>
z = <C> + <C> \rightleftharpoons <C> <C> | \angle <C> <C> <C> = <N> ^ { \circ }
z = \measuredangle <C> = <N> ^ { \circ } | \angle <C> = \angle <C>
z = \triangle <C> <C> <C> \cong \triangle <C> <C> <C>
z = \triangle <C> <C> <C> \sim \triangle <C> <C> <C> | <C> <C> \parallel <C> <C>
z = <C> <C> \perp <C> <C> | <v> \parallel <v> | <v> \perp <v> | <v> \nparallel <v>
z = <f> <N> ^ { \circ } = <e> | <N> ^ { \circ } C | <N> \% | <N> \% <O> <N> = <N> | <N> . <N> \%
z = \vec{ <v> } \cdot \vec{ <v> } = <t> | \vec{ <v> } \times \vec{ <v> }
z = \vert \vec{ <v> } \vert = <t> | \vec{ F } = m \vec{ a }
z = \vec{ <C> <C> } <O> \vec{ <C> <C> } = \vec{ <C> <C> } | \ddot{ <v> } + <G> ^ { 2 } <v> = 0
z = \dot{ <v> } = <e> | \hat{ <C> } <G> = <C> <G>
z = i \hbar \frac{ \partial <G> }{ \partial t } = \hat{ <C> } <G>
z = <C> = \frac{ \hbar ^ { 2 } }{ 2 m } | \langle <G> \vert <G> \rangle | \langle <X> \rangle
z = \langle <G> \vert <C> \vert <G> \rangle | \vert <G> \rangle | \mathbb{P} ( <C> )
z = \mathbb{P} ( <C> \vert <C> ) = <t> | \mathbb{E} [ <C> ] | \mathbb{1} _ { <C> }
z = P ( <C> <U> <C> ) | <v> \equiv <v> \mod <N> | <v> \equiv <N> ( \mod <v> ) | <v> \vert <v>
z = <v> \nmid <v> | \gcd ( <v> , <v> ) = <N> | <K> | <K> ( <v> ) | <K> _ { <v> }
z = <K> ( <C> ) <R> <t> | <v> \in <K> | <K> \{ <f> ( <v> ) \} | \ell _ { <N> } | \ell ^ { <v> }
z = \wp ( <v> ) | \aleph _ { 0 } | 2 ^ { \aleph _ { 0 } } | \ell = <e> | \ln <s>
z = \ln ( <e> ) = <t> | \ln <s> + \ln <s> | <v> = \ln <v>
z = \int \frac{ 1 }{ <v> } d <v> = \ln \vert <v> \vert + C | e ^ { i \pi } | e ^ { <t> }
z = <v> \mapsto <t> | <v> _ { 1 } , \ldots , <v> _ { <v> } | <v> : <v> = <N> : <N>
z = \lfloor <t> \rfloor | \lceil <t> \rceil | \lfloor <s> \rfloor <R> \lceil <s> \rceil
z = \parallel <e> \parallel <R> <t> | \det <C> | \det ( <C> ) = <t> | \dim <C> = <v>
z = \ker <C> = \{ 0 \} | \dim \ker <C> | \arg <v> | \Re ( <v> ) | \Im <v> | \& | \# <C> | \$ <N>
z = @ <v> | <v> ; <v> | ( <N> ; <N> ) | [ <N> ; <N> ] | ? | <e> = ? | <N> ? | <v> \checkmark
z = \backslash | <C> \backslash <C> | \square | \square + <N> = <N> | \diamond | <v> \star <v>
z = <v> \ast <v> | \vdots | \ddots | <C> ^ { \dagger } <C> | <C> ^ { \ast }
z = <f> ^ { 2 } <G> + <f> ^ { 2 } <G> = 1 | <f> <G> = \frac{ <f> <G> }{ <f> <G> }
"""


class Everyday:
    """Draws labels, each a list of canonical tokens of the vocabulary `everyday`."""

    def __init__(
        self,
        rng: np.random.Generator,
        alone: float = ALONE,
        listed: float = LISTED,
        mixed: float = MIXED,
    ) -> None:
        self.rng, self.alone, self.listed, self.mixed = rng, alone, listed, mixed
        self.vocabulary = Vocabulary.load("everyday")
        crohme = Vocabulary.load("crohme")
        self.signs = [sign for sign in self.vocabulary.symbols if sign not in crohme]
        self.letters, self.operators = (
            [sign for sign in self.signs if kind(sign) == name] for name in ("letter", "operator")
        )
        self.grammar = Grammar(_RULES, rng)

    def __call__(self) -> list[str]:
        chance = self.rng.random()
        if chance < self.alone:
            return [self.grammar.some(self.signs)]
        if chance < self.alone + self.listed:
            return [self.grammar.some(self.signs) for _ in range(int(self.rng.integers(3, 9)))]
        tokens = normalize(self.grammar.expanded("z"), self.vocabulary)
        return self.exchanged(tokens) if self.rng.random() < self.mixed else tokens

    def exchanged(self, tokens: Sequence[str]) -> list[str]:
        """`tokens` with letters and operators exchanged for signs that CROHME lacks."""
        like = {"letter": self.letters, "operator": self.operators}
        return [
            self.grammar.some(like[kind(token)])
            if kind(token) in like and self.rng.random() < EXCHANGED
            else token
            for token in tokens
        ]


def labels(rng: np.random.Generator, count: int) -> Iterator[str]:
    """`count` labels, among which single signs repeat."""
    draw = Everyday(rng)
    return (" ".join(draw()) for _ in range(count))


def configure(parser: argparse.ArgumentParser) -> None:
    add_options(parser, "EVERYDAY.tsv", 60_000)


def run(arguments: argparse.Namespace) -> int:
    return write_labels(arguments, "everyday", labels)
