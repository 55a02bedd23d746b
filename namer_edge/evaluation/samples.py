"""Inputs of an evaluation, with their own labels if they have any."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from namer_edge_runtime.bulk.input_files import Source, sources
from namer_edge_runtime.errors import DataError, InkError, LatexError

from ..data.labels import Label


@dataclass(frozen=True)
class Sample:
    """One input and its own label."""

    source: Source
    label: Label | None = None


def file_samples(path: Path, *, own_labels: bool) -> Iterator[Sample]:
    """Pictures and InkML of a folder, zip or file; with `own_labels` InkML's truth is the label.

    A truth that is no LaTeX makes the sample an error, so that the file counts as wrong. Pictures
    and files without a truth have no label. Raises `DataError` for a missing path.
    """
    for source in sources([path]):
        yield _with_truth(source) if own_labels else Sample(source)


def _with_truth(source: Source) -> Sample:
    from namer_edge_runtime.formula.tokens import normalize
    from namer_edge_runtime.ink.inkml import read_inkml

    name = source.name
    unknown = Label(name, "")
    if source.error is not None:
        return Sample(source, unknown)
    if not name.lower().endswith(".inkml"):
        return Sample(source)
    try:
        ink = read_inkml(source.value, name)
    except InkError as error:
        return Sample(Source(name, error=error), unknown)
    if ink.truth is None:
        return Sample(Source(name, ink))
    try:
        # Symbols beyond the vocabulary are never read right, but count.
        tokens = normalize(ink.truth, strict=False)
    except LatexError as error:
        wrong = DataError(f"{name}: the truth {ink.truth!r} is not LaTeX: {error}")
        return Sample(Source(name, error=wrong), unknown)
    return Sample(Source(name, ink), Label(name, " ".join(tokens)))


def pack_samples(path: Path) -> list[Sample]:
    """The formulas of a pack with its labels, and its unreadable files and labels without ink.

    Formulas that the pack's label file lacks have no label, unless it lacks all: then the pack was
    made without labels, and the tokens of their MathML count.
    """
    from ..data.pack import load_pack

    pack = load_pack(path)
    report = pack.report
    unlabeled = {remark.name for remark in report.unlabeled}
    if len(unlabeled) == len(pack.formulas):
        unlabeled = set()
    samples = [
        Sample(
            Source(formula.name, formula.source),
            None if formula.name in unlabeled else Label(formula.name, " ".join(formula.tokens)),
        )
        for formula in pack.formulas
    ]
    for remark in (*report.unreadable, *report.inkless):
        error = InkError(f"{remark.name}: {remark.reason}")
        samples.append(Sample(Source(remark.name, error=error), Label(remark.name, "")))
    return samples
