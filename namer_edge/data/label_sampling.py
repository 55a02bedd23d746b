"""Label sampling for synthesis: labels of the training set and of lists, symbols varied by kind.

CROHME's training labels hold 5,031 times `x` and 106 times `P`; in its test set of 2013 `P` is as
frequent as `c`. Exchanging letters uniformly trains rare ones as well as frequent ones.
"""

from collections.abc import Sequence

import numpy as np

from namer_edge_runtime.formula.vocabulary import SCRIPTS, Vocabulary

from .symbols import OOV

BRACKETS = frozenset("{}[]")
SCRIPTED = 0.15
"""Probability that a letter of a varied label without a script gets one."""
ALONE = 0.2
"""Share of the labels with an out-of-vocabulary sign that consist of it alone."""

GREEK = frozenset(
    (
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
        *("lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
        *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
        *("varepsilon", "varphi", "vartheta", "varpi", "varsigma", "upsilon", "Upsilon", "ell"),
    )
)
OPERATORS = frozenset(
    (
        *("+", "-", "=", "<", ">", "/", "\\times", "\\div", "\\pm", "\\cdot"),
        *("\\leq", "\\geq", "\\neq", "\\in", "\\rightarrow"),
        *(
            "\\approx",
            "\\sim",
            "\\simeq",
            "\\cong",
            "\\equiv",
            "\\propto",
            "\\ll",
            "\\gg",
            "\\prec",
        ),
        *(
            "\\succ",
            "\\preceq",
            "\\succeq",
            "\\perp",
            "\\parallel",
            "\\vdash",
            "\\models",
            "\\doteq",
        ),
        *("\\lesssim", "\\gtrsim", "\\triangleq", "\\notin", "\\nmid", "\\nparallel", "\\nleq"),
        *(
            "\\nsubseteq",
            "\\ngeq",
            "\\ncong",
            "\\nsim",
            "\\wedge",
            "\\vee",
            "\\cup",
            "\\cap",
            "\\mp",
        ),
        *("\\subset", "\\supset", "\\subseteq", "\\supseteq", "\\subsetneq", "\\supsetneq", "\\ni"),
        *("\\setminus", "\\oplus", "\\otimes", "\\ominus", "\\odot", "\\circ", "\\star", "\\ast"),
        *("\\leftarrow", "\\leftrightarrow", "\\Rightarrow", "\\Leftarrow", "\\Leftrightarrow"),
        *("\\uparrow", "\\downarrow", "\\mapsto", "\\hookrightarrow", "\\rightleftharpoons"),
        *("\\rightharpoonup", "\\nearrow", "\\searrow", ":", "\\bullet"),
    )
)
KINDS = {"letter": 0.5, "digit": 0.3, "operator": 0.15}
"""Kind → probability that a symbol of a varied label becomes another one of its kind."""


def kind(token: str) -> str:
    """ "letter", "digit", "operator" (between two terms), or "" for all other symbols."""
    if (len(token) == 1 and token.isalpha()) or token.lstrip("\\") in GREEK:
        return "letter"
    if len(token) == 1 and token.isdigit():
        return "digit"
    return "operator" if token in OPERATORS else ""


def with_oov(tokens: Sequence[str], rng: np.random.Generator) -> list[str]:
    """`tokens` with all occurrences of a letter or digit replaced by `OOV`; by chance, or without
    letters and digits, `OOV` alone."""
    known = sorted({token for token in tokens if kind(token) in ("letter", "digit")})
    if not known or rng.random() < ALONE:
        return [OOV]
    replaced = known[int(rng.integers(len(known)))]
    return [OOV if token == replaced else token for token in tokens]


class LabelSampler:
    """Samples canonical labels: a `share` from `others`, if any, the rest from the training set.

    A symbol of `others` that the vocabulary lacks becomes a random letter.
    """

    def __init__(
        self,
        training_labels: Sequence[Sequence[str]],
        others: Sequence[Sequence[str]],
        vocabulary: Vocabulary,
        vary: float,
        share: float = 1 / 3,
    ) -> None:
        self.training_labels, self.others = training_labels, others
        self.vary, self.vocabulary, self.share = vary, vocabulary, share
        self.like = {name: [t for t in vocabulary.symbols if kind(t) == name] for name in KINDS}

    def __call__(self, rng: np.random.Generator) -> list[str]:
        listed = self.others and (not self.training_labels or rng.random() < self.share)
        labels = self.others if listed else self.training_labels
        tokens = labels[int(rng.integers(len(labels)))]
        varied = rng.random() < self.vary
        exchanged: dict[str, str] = {}  # all occurrences of a symbol become the same one
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
        """Gives some letters without a script one that is a letter or a digit."""
        words: list[str] = []
        for token, after in zip(tokens, (*tokens[1:], ""), strict=True):
            words.append(token)
            if kind(token) == "letter" and after not in SCRIPTS and rng.random() < SCRIPTED:
                relation = "^" if rng.random() < 0.3 else "_"
                words += [relation, "{", self._some(("letter", "digit")[rng.integers(2)], rng), "}"]
        return words
