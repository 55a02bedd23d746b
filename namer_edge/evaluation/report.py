"""The report of an evaluation, as JSON and as text."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..data.report import shortened
from .confusion import Confusion, confusions
from .exprate import Prediction, Rate, by_length, by_structure, rate, wilson_interval


@dataclass(frozen=True)
class Unreadable:
    """A labeled file that counts as wrong because it has no answer."""

    name: str
    reason: str


@dataclass(frozen=True)
class Report:
    """Rates in percent with their protocol."""

    protocol: str
    overall: Rate
    interval: tuple[float, float]
    """95 % Wilson interval of ExpRate in percent."""
    by_length: Mapping[str, Rate]
    by_structure: Mapping[str, Rate]
    confusions: tuple[Confusion, ...]
    unreadable: tuple[Unreadable, ...]

    @classmethod
    def of(cls, readings: Sequence[Prediction], protocol: str) -> "Report":
        """The report on readings that were paired by `protocol`."""
        overall = rate(readings)
        return cls(
            protocol=protocol,
            overall=overall,
            interval=wilson_interval(overall),
            by_length=by_length(readings),
            by_structure=by_structure(readings),
            confusions=tuple(confusions(readings)),
            unreadable=tuple(Unreadable(r.name, r.reason) for r in readings if r.read is None),
        )

    def to_json(self) -> dict[str, Any]:
        """JSON with percentages rounded to two decimals; `unreadable` is a count."""
        return {
            **_rates(self.overall),
            "total": self.overall.total,
            "exact": self.overall.exact,
            "unreadable": len(self.unreadable),
            "protocol": self.protocol,
            "interval": [round(bound, 2) for bound in self.interval],
            "by_length": _groups(self.by_length),
            "by_structure": _groups(self.by_structure),
            "confusions": [asdict(confusion) for confusion in self.confusions],
            "unreadable_files": [asdict(file) for file in self.unreadable],
        }

    def text(self, top: int = 15) -> str:
        """The report for a terminal, with the `top` most frequent confusions."""
        low, high = self.interval
        overall = self.overall
        lines = [
            f"ExpRate {overall.exprate:.2f} % exact ({overall.exact}/{overall.total}; "
            f"95 % interval {low:.1f} to {high:.1f}), <=1 {overall.exprate_le1:.2f}, "
            f"<=2 {overall.exprate_le2:.2f}, without an answer {len(self.unreadable)}",
            f"protocol: {self.protocol}",
            "",
            *_table("tokens of the label", self.by_length),
            "",
            *_table("label holds", self.by_structure),
        ]
        if self.confusions:
            lines += ["", "most frequent errors (count, files)"]
            lines += [f"  {c.count:5d} {c.files:5d}  {_describe(c)}" for c in self.confusions[:top]]
        if self.unreadable:
            lines += ["", "no answer, counted as wrong"]
            files = [f"  {file.name}: {file.reason}" for file in self.unreadable]
            lines += shortened(files, "--json")
        return "\n".join(lines)


def _rates(measured: Rate) -> dict[str, float]:
    return {
        "exprate": round(measured.exprate, 2),
        "exprate_le1": round(measured.exprate_le1, 2),
        "exprate_le2": round(measured.exprate_le2, 2),
    }


def _groups(groups: Mapping[str, Rate]) -> dict[str, Any]:
    return {name: {**_rates(group), "total": group.total} for name, group in groups.items()}


def _table(heading: str, groups: Mapping[str, Rate]) -> list[str]:
    lines = [f"{heading:20s} {'files':>6s} {'exact':>7s} {'<=1':>7s} {'<=2':>7s}"]
    for name, group in groups.items():
        lines.append(
            f"{name:20s} {group.total:6d} {group.exprate:7.2f} "
            f"{group.exprate_le1:7.2f} {group.exprate_le2:7.2f}"
        )
    return lines


def _describe(confusion: Confusion) -> str:
    if confusion.kind == "deletion":
        return f"{confusion.label}  missed"
    if confusion.kind == "insertion":
        return f"{confusion.read}  added"
    return f"{confusion.label}  read as  {confusion.read}"
