"""Alignment of published labels with ink whose own MathML differs.

Labels and MathML of CROHME differ for a few hundred files in ways that leave no doubt about the
ink: dots written one by one, `\\cdot` marked as `.`, a fraction bar marked as `-`, a function
name marked letter by letter, zeros that the label leaves out (`2.0` labeled `2`), groups in
another order or another structure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .mathml_labels import InkToken

_ALIKE = {
    "\\cdots": "\\ldots",
    "\\cdot": ".",
    "\\frac": "-",
}
_LETTERS = {"\\tan": ("tan", "tg"), "\\ldots": ("...", ".."), "\\cdots": ("...", "..")}
_CUT = frozenset((".", "0"))
"""Tokens of a number that a label may leave out."""


@dataclass(frozen=True)
class Alignment:
    """Strokes of each inked token of the label, and the differences of label and ink."""

    strokes: tuple[tuple[int, ...], ...]
    differences: tuple[str, ...]


def align(label: Sequence[str], ink: Sequence[InkToken]) -> Alignment | str:
    """Ink of each inked token of `label` (no brackets of arguments, no `^ _ \\limits`).

    `ink` are the inked tokens of the file's MathML in reading order. Returns the reason as text if
    a token of the label has no ink or meaningful ink is left over.
    """
    matched = _common(label, ink)
    differences: list[str] = []
    missing = [i for i in range(len(label)) if i not in matched]
    rest = [j for j in range(len(ink)) if j not in matched.values()]
    strokes = {i: ink[j].strokes for i, j in matched.items()}
    for i in list(missing):
        run = _spelled(label[i], ink, rest)
        if run:
            strokes[i] = tuple(sorted(s for j in run for s in ink[j].strokes))
            rest = [j for j in rest if j not in run]
            missing.remove(i)
            differences.append(f"{label[i]} marked as {' '.join(ink[j].token for j in run)}")
    for i in list(missing):
        j = next((j for j in rest if _alike(label[i], ink[j])), None)
        if j is not None:
            strokes[i], matched[i] = ink[j].strokes, j
            rest.remove(j)
            missing.remove(i)
            differences.append(f"{label[i]} in another place")
    for i, j in sorted(matched.items()):
        if label[i] != ink[j].token:
            differences.append(f"{label[i]} marked as {ink[j].token}")
    if missing:
        tokens = " ".join(label[i] for i in missing)
        return f"no symbol in the ink for {tokens}"
    if not {ink[j].token for j in rest} <= _CUT:
        tokens = " ".join(ink[j].token for j in rest)
        return f"symbols in the ink that the label lacks: {tokens}"
    if rest:
        differences.append(f"{' '.join(ink[j].token for j in rest)} left out of the label")
    if not all(strokes.values()):
        token = next(label[i] for i in sorted(strokes) if not strokes[i])
        return f"no strokes for {token}"
    return Alignment(tuple(strokes[i] for i in range(len(label))), tuple(differences))


def _alike(token: str, ink: InkToken) -> bool:
    key = _ALIKE.get(token, token)
    return key in (_ALIKE.get(ink.token, ink.token), _ALIKE.get(ink.text, ink.text))


def _common(label: Sequence[str], ink: Sequence[InkToken]) -> dict[int, int]:
    """Longest common subsequence: place in the label → place in the ink."""
    if len(label) == len(ink) and all(map(_alike, label, ink)):
        return {i: i for i in range(len(label))}
    rows, columns = len(label), len(ink)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            if _alike(label[i], ink[j]):
                best[i][j] = best[i + 1][j + 1] + 1
            else:
                best[i][j] = max(best[i + 1][j], best[i][j + 1])
    matched: dict[int, int] = {}
    i = j = 0
    while i < rows and j < columns:
        if _alike(label[i], ink[j]):
            matched[i] = j
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return matched


def _spelled(token: str, ink: Sequence[InkToken], rest: Sequence[int]) -> tuple[int, ...]:
    """A run of adjacent unmatched ink tokens that spells `token`, or ()."""
    for spelling in _LETTERS.get(token, (token.lstrip("\\"),)):
        for start in range(len(rest) - len(spelling) + 1):
            run = tuple(rest[start : start + len(spelling)])
            written = "".join(ink[j].token for j in run)
            if len(run) > 1 and written.lower() == spelling and run[-1] - run[0] == len(run) - 1:
                return run
    return ()
