"""CROHME: ink, published label, and the exact position of every visual token of the label."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.errors import InkError, LatexError
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.inkml import Ink, iterate_ink
from namer_edge_runtime.ink.strokes import Strokes

from .alignment import align
from .labels import read_labels
from .math_ink import InkToken, math_tokens
from .placement import INKLESS, place

_BRACKETS = frozenset("{}[]")


@dataclass(frozen=True)
class Formula:
    """One written formula with V visual nodes (symbols and relations, in path order, no `}`)."""

    name: str
    strokes: Strokes
    """float32 [points, 2] each, (x, y) in the ink's own unit, y down."""
    symbols: NDArray[np.int32]
    """[strokes]: the visual node that each stroke belongs to; -1 where it belongs to none."""
    tokens: tuple[str, ...]
    """The label in canonical form."""
    positions: NDArray[np.float32]
    """[V, 2] (x, y) by the rules of `placement`; [0, 2] where label and ink could not be aligned,
    so that the formula can be evaluated but not trained on."""
    boxes: NDArray[np.float32]
    """[V, 4] x0, y0, x1, y1 of each node's own ink, NaN for `^ _ \\limits`; [0, 4] as above."""

    @property
    def placed(self) -> bool:
        """Whether every visual node has a position."""
        return len(self.positions) > 0


@dataclass(frozen=True)
class Remark:
    """A file, and what there is to say about it."""

    name: str
    reason: str


@dataclass(frozen=True)
class Report:
    """What became of every file and label; nothing is dropped in silence."""

    agreeing: int
    """Formulas whose own MathML gives the label token for token."""
    aligned: tuple[Remark, ...] = ()
    """Placed although label and MathML differ, and how."""
    disagreeing: tuple[Remark, ...] = ()
    """Formulas without positions, and why."""
    unlabelled: tuple[Remark, ...] = ()
    """Formulas that the label file lacks; their tokens are those of their MathML, if any."""
    unreadable: tuple[Remark, ...] = ()
    """Files that could not be read; they are no formulas, but count as wrong in a test set."""
    inkless: tuple[Remark, ...] = ()
    """Labels for which there is no file."""

    @property
    def files(self) -> int:
        return self.formulas + len(self.unreadable)

    @property
    def formulas(self) -> int:
        return self.agreeing + len(self.aligned) + len(self.disagreeing) + len(self.unlabelled)

    def lines(self) -> Iterator[str]:
        """For people: the counts, then every file that there is something to say about."""
        yield f"{self.files} files, {self.formulas} formulas"
        yield f"{self.agreeing} agree with their label"
        for name, remarks in self.remarks().items():
            yield f"{len(remarks)} {name}"
            if name != "aligned":
                yield from (f"  {remark.name}: {remark.reason}" for remark in remarks)

    def remarks(self) -> dict[str, tuple[Remark, ...]]:
        names = ("aligned", "disagreeing", "unlabelled", "unreadable", "inkless")
        return {name: getattr(self, name) for name in names}

    def to_json(self) -> dict[str, Any]:
        lists = {n: [[r.name, r.reason] for r in rs] for n, rs in self.remarks().items()}
        return {"agreeing": self.agreeing, **lists}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Report":
        lists = {n: tuple(Remark(*r) for r in rs) for n, rs in value.items() if n != "agreeing"}
        return cls(value["agreeing"], **lists)


@dataclass(frozen=True)
class CrohmeSet:
    """All formulas that could be read, in the order of their names, and the report on the rest."""

    formulas: list[Formula]
    report: Report


def load_crohme(
    ink: str | Path, labels: str | Path | None = None, vocabulary: Vocabulary | None = None
) -> CrohmeSet:
    """Load a folder, zip or file of InkML with its label file.

    Where a label is published, it is what `tokens` holds, whether or not the ink agrees; else the
    tokens are those of the file's own MathML. Raises `InkError` or `DataError` where `ink` or
    `labels` itself cannot be read; a single bad file goes into the report instead.
    """
    vocabulary = vocabulary or Vocabulary.load("crohme")
    published = read_labels(labels) if labels is not None else {}
    formulas: list[Formula] = []
    agreeing = 0
    remarks: dict[str, list[Remark]] = {
        name: [] for name in ("aligned", "disagreeing", "unlabelled", "unreadable", "inkless")
    }
    found = set()
    for name, content in iterate_ink(ink):
        found.add(name)
        if isinstance(content, InkError):
            remarks["unreadable"].append(Remark(name, str(content).removeprefix(f"{name}: ")))
            continue
        label = published.get(name)
        formula, verdict, reason = _formula(content, label, vocabulary)
        formulas.append(formula)
        if label is None:
            remarks["unlabelled"].append(Remark(name, reason or "read from its MathML"))
        elif verdict == "agreeing":
            agreeing += 1
        else:
            remarks[verdict].append(Remark(name, reason))
    remarks["inkless"] += [Remark(n, "no file") for n in sorted(published.keys() - found)]
    report = Report(agreeing, **{name: tuple(items) for name, items in remarks.items()})
    return CrohmeSet(formulas, report)


def _formula(
    ink: Ink, label: tuple[str, ...] | None, vocabulary: Vocabulary
) -> tuple[Formula, str, str]:
    """The formula, a verdict that is a field of `Report`, and the reason for it."""
    written = math_tokens(ink, vocabulary)
    reading = tuple(token.token for token in written)
    tokens = reading if label is None else label
    inked = [token for token in written if token.strokes or _is_inked(token, written)]
    try:
        nodes = to_nodes(tokens, vocabulary)
        visual = [node.token for node in nodes if not node.ending]
        for token in visual:
            vocabulary.id(token)
    except LatexError as error:
        return _without_positions(ink, tokens, str(error))
    if not visual:
        return _without_positions(ink, tokens, "no MathML and no label")
    targets = [number for number, token in enumerate(visual) if token not in INKLESS]
    alignment = align([visual[number] for number in targets], inked)
    if isinstance(alignment, str):
        return _without_positions(ink, tokens, alignment)
    owners = np.full(len(ink.strokes), -1, np.int32)
    groups: list[list[NDArray[np.float32]]] = [[] for _ in visual]
    for number, strokes in zip(targets, alignment.strokes, strict=True):
        owners[list(strokes)] = number
        groups[number] = [ink.strokes[stroke] for stroke in strokes]
    placement = place(nodes, groups)
    formula = Formula(ink.name, ink.strokes, owners, tokens, placement.positions, placement.boxes)
    if reading == tokens:
        return formula, "agreeing", ""
    reason = "; ".join(alignment.differences) or "another structure of the same symbols"
    return formula, "aligned", reason


def _is_inked(token: InkToken, written: list[InkToken]) -> bool:
    """Whether a token without strokes is a symbol that should have some."""
    return token.token not in INKLESS and (token.token not in _BRACKETS or bool(token.text))


def _without_positions(ink: Ink, tokens: tuple[str, ...], reason: str) -> tuple[Formula, str, str]:
    owners = np.full(len(ink.strokes), -1, np.int32)
    positions, boxes = np.zeros((0, 2), np.float32), np.zeros((0, 4), np.float32)
    formula = Formula(ink.name, ink.strokes, owners, tokens, positions, boxes)
    return formula, "disagreeing", reason
