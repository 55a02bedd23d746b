"""CROHME: ink, published labels, and the exact position of every visual token."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from namer_edge_runtime.errors import DataError, InkError, LatexError
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.inkml import EMPTY, Ink, iterate_ink
from namer_edge_runtime.ink.strokes import Strokes

from .alignment import align
from .formula import Formula, unplaced
from .formula_set import FormulaSet
from .labels import check_unused, labels_by_name
from .mathml_labels import math_tokens
from .placement import INKLESS, place
from .report import AS_PUBLISHED, Remarks

PUBLISHED_EMPTY = frozenset({"MfrDB3088"})
"""Files of CROHME's training set that are empty as published."""


def load_crohme(
    ink: str | Path,
    labels: str | Path | None = None,
    vocabulary: Vocabulary | None = None,
    *,
    progress: bool = False,
) -> FormulaSet:
    """Loads a folder, zip or file of InkML with its label file.

    `tokens` are the published label, even if the ink disagrees, or, without one, those of the
    file's own MathML. Raises `InkError` or `DataError` if `ink` or `labels` itself cannot be read;
    a single bad file goes into the report instead. `progress` shows a bar on a terminal.
    """
    vocabulary = vocabulary or Vocabulary.load("crohme")
    named = labels_by_name(labels) if labels is not None else {}
    published = {name: tuple(label.latex.split()) for name, label in named.items()}
    formulas: list[Formula] = []
    remarks = Remarks()
    found: set[str] = set()
    files = tqdm(iterate_ink(ink), unit=" files", disable=None if progress else True)
    for name, content in files:
        check_unused(name, found)
        found.add(name)
        if isinstance(content, InkError):
            reason = str(content).removeprefix(f"{name}: ")
            known = name in PUBLISHED_EMPTY and reason == EMPTY
            remarks.add("unreadable", name, AS_PUBLISHED if known else reason)
            continue
        label = published.get(name)
        aligned = _align_label(content, label, vocabulary)
        formulas.append(aligned.formula)
        if label is None:
            remarks.add("unlabeled", name, aligned.reason or "read from its MathML")
        elif aligned.verdict != "agreeing":
            remarks.add(aligned.verdict, name, aligned.reason)
    for name in sorted(published.keys() - found):
        remarks.add("inkless", name, "no file")
    return FormulaSet(formulas, remarks.report(len(formulas)))


@dataclass(frozen=True)
class _Aligned:
    formula: Formula
    verdict: str
    """A field of `Report`."""
    reason: str = ""


def _align_label(ink: Ink, label: tuple[str, ...] | None, vocabulary: Vocabulary) -> _Aligned:
    written = math_tokens(ink, vocabulary)
    reading = tuple(token.token for token in written)
    tokens = reading if label is None else label
    try:
        nodes = to_nodes(tokens, vocabulary)
        visual = [node.token for node in nodes if not node.ending]
        for token in visual:
            vocabulary.id(token)
    except LatexError as error:
        return _without_positions(ink, tokens, str(error))
    if not visual:
        return _without_positions(ink, tokens, "neither label nor MathML")
    targets = [number for number, token in enumerate(visual) if token not in INKLESS]
    alignment = align([visual[number] for number in targets], [t for t in written if t.inked])
    if isinstance(alignment, str):
        return _without_positions(ink, tokens, alignment)
    owners = np.full(len(ink.strokes), -1, np.int32)
    groups: list[Strokes] = [[] for _ in visual]
    for number, strokes in zip(targets, alignment.strokes, strict=True):
        owners[list(strokes)] = number
        groups[number] = [ink.strokes[stroke] for stroke in strokes]
    try:
        placement = place(nodes, groups)
    except DataError as error:
        return _without_positions(ink, tokens, str(error))
    formula = Formula(ink.name, ink.strokes, owners, tokens, placement.positions, placement.boxes)
    if reading == tokens:
        return _Aligned(formula, "agreeing")
    differences = "; ".join(alignment.differences)
    return _Aligned(formula, "aligned", differences or "another structure of the same symbols")


def _without_positions(ink: Ink, tokens: tuple[str, ...], reason: str) -> _Aligned:
    return _Aligned(unplaced(ink.name, tokens, ink.strokes), "disagreeing", reason)
