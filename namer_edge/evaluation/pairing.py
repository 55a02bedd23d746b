"""Pairing of answers with labels, and the protocol of their comparison."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from namer_edge_runtime.errors import LatexError

from ..data.labels import Label, are_tokens, bare
from .exprate import Prediction

STRICT = "strict canonical tokens"
LOOSE = "loose: label and answer normalized, \\limits dropped"
ALL_FILES = "all files"


@dataclass(frozen=True)
class Answer:
    """A recognizer's answer to one input: canonical LaTeX, or the error."""

    source: str
    """File name or path; `ARCHIVE::MEMBER` inside a zip."""
    canonical: str = ""
    error: str = ""


@dataclass(frozen=True)
class Paired:
    """Every label with its answer, and the inputs left over."""

    readings: tuple[Prediction, ...]
    protocol: str
    """Protocol: how tokens are compared and which labels count; stated with every rate."""
    unlabeled: tuple[str, ...]
    """Inputs without a counted label, which do not count."""
    repeated: tuple[str, ...]
    """Inputs with the file name of a later one, which counts instead."""
    by_source: Mapping[str, Prediction]
    """The reading of each input that a counted label names."""

    def notes(self) -> list[str]:
        """Notes for people on the numbers."""
        notes = []
        if self.unlabeled:
            notes.append(
                f"{len(self.unlabeled)} inputs have no label and count nowhere: "
                + _some(self.unlabeled)
            )
        if self.repeated:
            notes.append(
                f"{len(self.repeated)} inputs share their name with a later one, which "
                "counts in their place: " + _some(self.repeated)
            )
        raw = [r.name for r in self.readings if not are_tokens(r.label)]
        if raw:
            notes.append(
                f"{len(raw)} labels are not space-separated tokens and cannot be matched "
                f"exactly (--loose normalizes them): {_some(raw)}"
            )
        return notes


def pair(
    labels: Iterable[Label],
    answers: Iterable[Answer],
    *,
    loose: bool = False,
    all_rows: bool = False,
) -> Paired:
    """Pairs each label with the answer of its file name, with or without the ending.

    A label without an answer is wrong. Labels beyond the vocabulary count only with `all_rows`.

    Strict comparison takes labels and answers as space-separated tokens, unchanged. Loose
    comparison is for labels without a published form (photos, drawings): both sides are normalized
    to canonical LaTeX without `\\limits`; a label that is no LaTeX is wrong.
    """
    labels = list(labels)
    counted = [label for label in labels if all_rows or label.in_vocabulary]
    found: dict[str, Answer] = {}
    by_name: dict[str, Answer] = {}
    repeated: list[str] = []
    for answer in answers:
        name = _file_name(answer.source)
        if name in by_name:
            repeated.append(by_name[name].source)
        by_name[name] = answer
        found[name] = found[bare(name)] = answer
    readings: list[Prediction] = []
    by_source: dict[str, Prediction] = {}
    for label in counted:
        match = found.get(label.name) or found.get(bare(label.name))
        readings.append(reading(label, match, loose))
        if match is not None:
            by_source[match.source] = readings[-1]
    rows = ALL_FILES
    if len(counted) < len(labels):
        rows = f"the {len(counted)} of {len(labels)} files marked as within the vocabulary"
    return Paired(
        readings=tuple(readings),
        protocol=protocol_name(loose, rows),
        unlabeled=tuple(a.source for a in by_name.values() if a.source not in by_source),
        repeated=tuple(repeated),
        by_source=by_source,
    )


def protocol_name(loose: bool, counted: str = ALL_FILES) -> str:
    """The protocol of a rate: how tokens are compared, and which files count."""
    return f"{LOOSE if loose else STRICT}, {counted}"


def _some(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _file_name(source: str) -> str:
    return Path(source.replace("::", "/")).name


def reading(label: Label, answer: Answer | None, loose: bool) -> Prediction:
    """A label and its answer as comparable tokens."""
    try:
        reference = _tokens(label.latex, loose)
    except LatexError as error:
        return Prediction(label.name, (), None, f"the label is not LaTeX: {error}")
    if answer is None:
        return Prediction(label.name, reference, None, "no such file among the inputs")
    if answer.error:
        return Prediction(label.name, reference, None, answer.error)
    try:
        read = _tokens(answer.canonical, loose)
    except LatexError:  # compared token for token
        read = tuple(token for token in answer.canonical.split() if token != "\\limits")
    return Prediction(label.name, reference, read)


def _tokens(latex: str, loose: bool) -> tuple[str, ...]:
    if not loose:
        return tuple(latex.split())
    from namer_edge_runtime.formula.tokens import normalize

    return tuple(token for token in normalize(latex) if token != "\\limits")
