"""Label files: names of formulas and their labels."""

import re
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from namer_edge_runtime.bulk.input_files import INSIDE, LISTED
from namer_edge_runtime.errors import DataError, LatexError
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.formula.vocabulary import CELL, ROW, Vocabulary

_YES_NO = {"yes": True, "no": False}
_HEADINGS = (
    {"image", "file", "filename", "picture", "path", "id", "key", "ink"},
    {"latex", "label", "formula", "tex", "tokens", "truth", "text", "gt", "caption"},
)
"""Names of the first and second column in headings of other tools."""
_NOT_ONE_TOKEN = re.compile(
    # A letter in a style, a sign with a stroke through it and an environment are one token each.
    r"(?!\\math[a-z]+\{[A-Za-z1]\}$|\\not\\[a-z]+$|\\(?:begin|end)\{[A-Za-z]+\}$)"
    r"(?:[^\\].|\\[^a-zA-Z].|\\[a-zA-Z]+[^a-zA-Z])"
)


@dataclass(frozen=True)
class Label:
    """One line of a label file."""

    name: str
    latex: str
    in_vocabulary: bool = True


def read_labels(path: str | Path) -> list[Label]:
    """Reads lines `name TAB label`, with more columns under a heading `name … in_…vocabulary`.

    Only with a heading (its first column is `name`) is the third column read: `yes` or `no`,
    whether the vocabulary can express the label. A heading of other tools, such as `image TAB
    latex`, is skipped and reported on standard error. Raises `DataError` for a missing file, a line
    without a label or with another third column, and two different labels for one name.
    """
    try:
        with Path(path).open(encoding="utf-8-sig") as file:
            lines = [line.rstrip("\n") for line in file]
    except OSError as error:
        raise DataError(f"cannot read the label file {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"the label file {path} is not UTF-8 text: {error}") from error
    rows = [(number, line.split("\t")) for number, line in enumerate(lines, 1) if line.strip()]
    headed = bool(rows) and rows[0][1][0] == "name"
    foreign = not headed and bool(rows) and _is_heading(rows[0][1])
    if foreign:
        heading = " TAB ".join(rows[0][1])
        print(f"{path}: its first line is taken for a heading: {heading}", file=sys.stderr)
    labels: dict[str, Label] = {}
    for number, row in rows[headed or foreign :]:
        if len(row) < 2:
            raise DataError(f"{path}, line {number}: expected `name TAB label`, found {row[0]!r}")
        known = _YES_NO.get(row[2].strip().lower()) if headed and len(row) > 2 else True
        if known is None:
            raise DataError(
                f"{path}, line {number}: the third column says {row[2]!r}: write yes where the "
                "label is within the vocabulary, else no"
            )
        label = Label(row[0], row[1], known)
        if labels.setdefault(label.name, label) != label:
            raise DataError(f"{path}, line {number}: {label.name} has two different labels")
    if not labels:
        raise DataError(f"the label file {path} has no lines")
    return list(labels.values())


def _is_heading(row: Sequence[str]) -> bool:
    words = [word.strip().lower() for word in row[:2]]
    return len(words) == 2 and all(w in known for w, known in zip(words, _HEADINGS, strict=True))


def labels_by_name(path: str | Path) -> dict[str, Label]:
    """Labels of a file by bare name. Raises `DataError` as `read_labels` does, and for two labels
    of names that differ in folder or ending alone."""
    named: dict[str, Label] = {}
    for label in read_labels(path):
        other = named.setdefault(bare(label.name), label)
        if other.latex != label.latex:
            raise DataError(
                f"{path}: {other.name} and {label.name} are told apart by folder or ending alone, "
                "and have two labels: give the files names of their own"
            )
    return named


def check_unused(name: str, names: Collection[str]) -> None:
    """Raises `DataError` for a second formula of one name, which makes its label ambiguous."""
    if name in names:
        raise DataError(
            f"two formulas are called {name}, in two folders or with two endings: labels go by "
            "the names of files, so give each a name of its own"
        )


def bare(name: str) -> str:
    """The name of a file without its folder, zip and known ending."""
    path = PurePosixPath(name.replace(INSIDE, "/"))
    return path.stem if path.suffix.lower() in LISTED else path.name


def are_tokens(words: Sequence[str]) -> bool:
    """Whether each word is one LaTeX token; `a+b` is three without spaces."""
    return not any(_NOT_ONE_TOKEN.match(word) for word in words)


def label_error(tokens: Sequence[str], vocabulary: Vocabulary) -> str | None:
    """Why these tokens are no formula of the vocabulary; None if they are one."""
    if not are_tokens(tokens):
        return "the label is not tokens with spaces between them"
    try:
        nodes = to_nodes(tokens, vocabulary)
        for node in nodes:
            if node.token not in vocabulary.opens_rows | {CELL, ROW}:
                vocabulary.id(node.token)
    except LatexError as error:
        return str(error)
    return None if nodes else "the label is empty"


def canonical(path: str | Path, vocabulary: Vocabulary) -> list[list[str]]:
    """Labels of a file as canonical tokens, out-of-vocabulary symbols included; labels that are no
    formulas under this vocabulary's grammar are left out."""
    labels = []
    for label in read_labels(path):
        try:
            tokens = normalize(label.latex, vocabulary, strict=False)
            if to_nodes(tokens, vocabulary):
                labels.append(tokens)
        except LatexError:
            continue
    return labels
