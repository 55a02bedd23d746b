"""What became of each file of a data set while it was loaded."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KINDS = ("aligned", "disagreeing", "unlabeled", "unreadable", "inkless")
"""What there may be to say about a file or a label: the lists of a `Report`."""
_BECAME = {
    "aligned": "packed: label and ink differ, yet each symbol has its place",
    "disagreeing": "packed, without places for their symbols",
    "unlabeled": "packed, with what they say themselves",
    "unreadable": "left out",
    "inkless": "labels without a file: left out",
}
"""Kind → what became of its formulas."""
AS_PUBLISHED = "the file is empty, as it was published"
"""Why a file is unreadable though nothing is wrong with it."""
SHOWN = 20
"""Files of a kind that are named one by one."""


@dataclass(frozen=True)
class Remark:
    """A file, and what there is to say about it."""

    name: str
    reason: str


@dataclass(frozen=True)
class FileStatus:
    """What became of one file or label; `kind` is a field of `Report`."""

    name: str
    kind: str
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """What became of every file and label; nothing is dropped in silence."""

    agreeing: int
    """Formulas whose own MathML gives the label token for token; of pictures and of ink without
    MathML, those whose label is a formula of the vocabulary."""
    aligned: tuple[Remark, ...] = ()
    """Placed although label and MathML differ, and how."""
    disagreeing: tuple[Remark, ...] = ()
    """Formulas without positions, and why."""
    unlabeled: tuple[Remark, ...] = ()
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
        return self.agreeing + len(self.aligned) + len(self.disagreeing) + len(self.unlabeled)

    @property
    def failed(self) -> tuple[Remark, ...]:
        """Files that could not be read and should have been."""
        return tuple(remark for remark in self.unreadable if remark.reason != AS_PUBLISHED)

    def lines(self) -> Iterator[str]:
        """For people: the counts, what became of each kind, and the first `SHOWN` files of it."""
        yield f"{self.files} files, {self.formulas} formulas"
        yield f"{self.agreeing} agree with their label"
        for name, remarks in self.remarks().items():
            yield f"{len(remarks)} {name}" + (f" ({_BECAME[name]})" if remarks else "")
            if name != "aligned":
                yield from shortened([f"  {remark.name}: {remark.reason}" for remark in remarks])

    def fates(self, formulas: Iterable[str]) -> list[FileStatus]:
        """Of every file and label, in the order of their names; `formulas` are the names of those
        that were loaded."""
        told = {
            remark.name: FileStatus(remark.name, kind, " ".join(remark.reason.split()))
            for kind, remarks in self.remarks().items()
            for remark in remarks
        }
        agreeing = (FileStatus(name, "agreeing") for name in formulas if name not in told)
        return sorted([*told.values(), *agreeing], key=lambda fate: fate.name)

    def remarks(self) -> dict[str, tuple[Remark, ...]]:
        return {kind: getattr(self, kind) for kind in KINDS}

    def to_json(self) -> dict[str, Any]:
        lists = {n: [[r.name, r.reason] for r in rs] for n, rs in self.remarks().items()}
        return {"agreeing": self.agreeing, **lists}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Report":
        lists = {n: tuple(Remark(*r) for r in rs) for n, rs in value.items() if n != "agreeing"}
        return cls(value["agreeing"], **lists)


def shortened(lines: Sequence[str], all_of_them: str = "`data check --fates`") -> Iterator[str]:
    """The first `SHOWN` lines, how many there are besides, and what names `all_of_them`."""
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"  … and {len(lines) - SHOWN} more: {all_of_them} names them all"


class Remarks:
    """What there is to say so far, while a data set is loaded."""

    def __init__(self) -> None:
        self._of: dict[str, list[Remark]] = {kind: [] for kind in KINDS}

    def add(self, kind: str, name: str, reason: str) -> None:
        """`kind` is one of `KINDS`."""
        self._of[kind].append(Remark(name, reason))

    def report(self, formulas: int) -> Report:
        """Of that many formulas, those that nothing was said about agree with their label."""
        said = sum(len(self._of[kind]) for kind in ("aligned", "disagreeing", "unlabeled"))
        return Report(formulas - said, **{kind: tuple(items) for kind, items in self._of.items()})
