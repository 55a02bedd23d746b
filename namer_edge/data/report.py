"""Report on a loaded data set: the status of each file and label."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KINDS = ("aligned", "disagreeing", "unlabeled", "unreadable", "inkless")
"""Kinds of remarks on a file or label: the lists of a `Report`."""
_OUTCOME = {
    "aligned": "packed: label and ink differ, yet each symbol has its place",
    "disagreeing": "packed, without places for their symbols",
    "unlabeled": "packed, with what they say themselves",
    "unreadable": "left out",
    "inkless": "labels without a file: left out",
}
"""Kind → what happens to its formulas."""
AS_PUBLISHED = "the file is empty, as it was published"
"""Reason of an unreadable file that is no failure."""
SHOWN = 20
"""Most files of a kind that are listed."""


@dataclass(frozen=True)
class Remark:
    """A file and a remark on it."""

    name: str
    reason: str


@dataclass(frozen=True)
class FileStatus:
    """Status of a file or label; `kind` is a field of `Report`."""

    name: str
    kind: str
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """Status of every file and label of a data set."""

    agreeing: int
    """Formulas whose own MathML gives the label token for token; of pictures and of ink without
    MathML, those whose label is a formula of the vocabulary."""
    aligned: tuple[Remark, ...] = ()
    """Formulas with positions although label and MathML differ, and how."""
    disagreeing: tuple[Remark, ...] = ()
    """Formulas without positions, and why."""
    unlabeled: tuple[Remark, ...] = ()
    """Formulas that the label file lacks; their tokens are those of their MathML, if any."""
    unreadable: tuple[Remark, ...] = ()
    """Files that could not be read; they are no formulas, but count as wrong in a test set."""
    inkless: tuple[Remark, ...] = ()
    """Labels without a file."""

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
        """Text for people: counts, and the first `SHOWN` files of each kind."""
        yield f"{self.files} files, {self.formulas} formulas"
        yield f"{self.agreeing} agree with their label"
        for name, remarks in self.remarks().items():
            yield f"{len(remarks)} {name}" + (f" ({_OUTCOME[name]})" if remarks else "")
            if name != "aligned":
                yield from shortened([f"  {remark.name}: {remark.reason}" for remark in remarks])

    def statuses(self, formulas: Iterable[str]) -> list[FileStatus]:
        """Status of every file and label by name; `formulas` are the names of the loaded ones."""
        remarked = {
            remark.name: FileStatus(remark.name, kind, " ".join(remark.reason.split()))
            for kind, remarks in self.remarks().items()
            for remark in remarks
        }
        agreeing = (FileStatus(name, "agreeing") for name in formulas if name not in remarked)
        return sorted([*remarked.values(), *agreeing], key=lambda status: status.name)

    def remarks(self) -> dict[str, tuple[Remark, ...]]:
        return {kind: getattr(self, kind) for kind in KINDS}

    def to_json(self) -> dict[str, Any]:
        lists = {n: [[r.name, r.reason] for r in rs] for n, rs in self.remarks().items()}
        return {"agreeing": self.agreeing, **lists}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Report":
        lists = {
            n.replace("unlabelled", "unlabeled"): tuple(Remark(*r) for r in rs)  # the former name
            for n, rs in value.items()
            if n != "agreeing"
        }
        return cls(value["agreeing"], **lists)


def shortened(lines: Sequence[str], all_of_them: str = "`data check --fates`") -> Iterator[str]:
    """The first `SHOWN` lines, the number of further ones, and how to list `all_of_them`."""
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"  … and {len(lines) - SHOWN} more: {all_of_them} names them all"


class Remarks:
    """Collects remarks while a data set is loaded."""

    def __init__(self) -> None:
        self._of: dict[str, list[Remark]] = {kind: [] for kind in KINDS}

    def add(self, kind: str, name: str, reason: str) -> None:
        """`kind` is one of `KINDS`."""
        self._of[kind].append(Remark(name, reason))

    def report(self, formulas: int) -> Report:
        """The report on that many formulas; those without a remark agree with their label."""
        remarked = sum(len(self._of[kind]) for kind in ("aligned", "disagreeing", "unlabeled"))
        return Report(
            formulas - remarked, **{kind: tuple(items) for kind, items in self._of.items()}
        )
