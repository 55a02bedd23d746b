"""What is to be written: labels of training sets and lists, symbols exchanged within their kind.

CROHME's training labels hold 5,031 times `x` and 106 times `P`; in its test set of 2013 `P` is as
frequent as `c`. Exchanged evenly, all letters are learned as well as the frequent ones.
"""

from collections.abc import Sequence

import numpy as np

from namer_edge_runtime.formula.vocabulary import SCRIPTS, Vocabulary

from .symbols import OOV

BRACKETS = frozenset("{}[]")
SCRIPTED = 0.15
"""How often a letter of a varied label gets a script that it had not."""
ALONE = 0.2
"""How many of the strangers stand alone."""

GREEK = frozenset(
    (
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
        *("lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
        *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
    )
)
OPERATORS = frozenset(
    (
        *("+", "-", "=", "<", ">", "/", "\\times", "\\div", "\\pm", "\\cdot"),
        *("\\leq", "\\geq", "\\neq", "\\in", "\\rightarrow"),
    )
)
KINDS = {"letter": 0.5, "digit": 0.3, "operator": 0.15}
"""Kind → how often a symbol of it becomes another one where a label is varied."""


def kind(token: str) -> str:
    """ "letter", "digit", "operator" (between two terms), or "" for what keeps its place."""
    if (len(token) == 1 and token.isalpha()) or token.lstrip("\\") in GREEK:
        return "letter"
    if len(token) == 1 and token.isdigit():
        return "digit"
    return "operator" if token in OPERATORS else ""


def with_stranger(tokens: Sequence[str], rng: np.random.Generator) -> list[str]:
    """A letter or digit exchanged for an unknown sign, wherever it stands; now and then, and where
    there is none, the sign alone."""
    known = sorted({token for token in tokens if kind(token) in ("letter", "digit")})
    if not known or rng.random() < ALONE:
        return [OOV]
    strange = known[int(rng.integers(len(known)))]
    return [OOV if token == strange else token for token in tokens]


class LabelSampler:
    """Canonical labels to write: from `own`, and every third one from `others` where there are any.

    A symbol of `others` without a class becomes some letter.
    """

    def __init__(
        self,
        own: Sequence[Sequence[str]],
        others: Sequence[Sequence[str]],
        vocabulary: Vocabulary,
        vary: float,
    ) -> None:
        self.own, self.others = own, others
        self.vary, self.vocabulary = vary, vocabulary
        self.like = {name: [t for t in vocabulary.symbols if kind(t) == name] for name in KINDS}

    def __call__(self, rng: np.random.Generator) -> list[str]:
        labels = self.others if self.others and rng.random() < 1 / 3 else self.own
        tokens = labels[int(rng.integers(len(labels)))]
        varied = rng.random() < self.vary
        exchanged: dict[str, str] = {}  # the same symbol becomes the same, as an x stays an x
        for token in sorted(set(tokens) - BRACKETS):
            name = kind(token)
            if token not in self.vocabulary:
                name = "letter"
            elif not (varied and name and rng.random() < KINDS[name]):
                continue
            if self.like[name]:
                exchanged[token] = self._some(name, rng)
        words = [exchanged.get(token, token) for token in tokens]
        return self._subscripted(words, rng) if varied else words

    def _some(self, name: str, rng: np.random.Generator) -> str:
        return self.like[name][int(rng.integers(len(self.like[name])))]

    def _subscripted(self, tokens: Sequence[str], rng: np.random.Generator) -> list[str]:
        """Some letters that have no script get one of a letter or a digit."""
        words: list[str] = []
        for token, after in zip(tokens, (*tokens[1:], ""), strict=True):
            words.append(token)
            if kind(token) == "letter" and after not in SCRIPTS and rng.random() < SCRIPTED:
                relation = "^" if rng.random() < 0.3 else "_"
                words += [relation, "{", self._some(("letter", "digit")[rng.integers(2)], rng), "}"]
        return words
