"""Results of ablations as JSON and as tables in Markdown."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from namer_edge_runtime.atomic import atomic_file
from namer_edge_runtime.errors import DataError

from ..evaluation.exprate import paired_interval
from .tables import TABLES, Table

FORMAT = "namer-edge-ablations"
NOT_RUN = "not run"


@dataclass(frozen=True)
class Measured:
    """One row on one data set."""

    table: str
    row: str
    kind: str
    """Method: "inference-time", or "trained" with the encoder."""
    data: str
    """File name of the pack."""
    data_sha256: str
    model: str
    """File name of the checkpoint."""
    model_sha256: str
    exprate: float
    exprate_le1: float
    exprate_le2: float
    interval: tuple[float, float]
    """95 % interval of the choice of files."""
    total: int
    protocol: str
    note: str = ""
    """Epochs of training."""
    right: str = ""
    """A digit for each formula of the pack, "1" where it was read exactly."""

    @property
    def key(self) -> tuple[str, ...]:
        """Key under which a later measurement replaces this one."""
        return self.table, self.row, self.kind, self.data


@dataclass
class Results:
    """All measurements so far."""

    path: Path
    measured: list[Measured]

    @classmethod
    def load(cls, path: Path) -> "Results":
        """Results in `path`, empty if it is missing; raises `DataError` for another file."""
        if not path.exists():
            return cls(path, [])
        try:
            value = json.loads(path.read_text("utf-8"))
            if value["format"] != FORMAT:
                raise ValueError(f"format is {value['format']!r}")
            rows = [
                Measured(**{**row, "interval": tuple(row["interval"])}) for row in value["rows"]
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}: no results of ablations ({error}): name another") from None
        return cls(path, rows)

    def add(self, measured: Measured) -> None:
        """Adds a measurement and writes both files."""
        self.measured = [m for m in self.measured if m.key != measured.key]
        self.measured.append(measured)
        value: dict[str, Any] = {"format": FORMAT, "rows": [asdict(m) for m in self.measured]}
        with atomic_file(self.path, "w") as file:
            json.dump(value, file, indent=1)
        with atomic_file(self.path.with_suffix(".md"), "w") as file:
            file.write(self.markdown())

    def lines(self, name: str) -> list[str]:
        """One table in Markdown: the paper's figures, then a column for each method."""
        table = TABLES[name]
        mine = [m for m in self.measured if m.table == name]
        columns = list(dict.fromkeys((m.kind, m.data) for m in mine))
        heads = [f"{kind}, {Path(data).stem}" for kind, data in columns]
        rows = [[row.name, _paper(table, row.name)] for row in table.rows]
        for row in rows:
            for column in columns:
                found = [m for m in mine if m.row == row[0] and (m.kind, m.data) == column]
                row.append(_figure(found[0]) if found else NOT_RUN)
            if not columns:
                row.append(NOT_RUN)
        sets = " / ".join(next(iter(table.rows)).paper)
        titles = ["", f"paper, {sets}", *(heads or ["ours"])]
        return [
            f"## {table.title}",
            "",
            *_grid([titles, *rows]),
            "",
            *self._comparison(name),
        ]

    def _comparison(self, name: str) -> list[str]:
        """Each row against the paper's, formula by formula, over all data sets that both have read
        after the same schedule; no order is asked for."""
        table = TABLES[name]
        mine = [m for m in self.measured if m.table == name and m.right]
        lines = []
        for kind in dict.fromkeys(m.kind for m in mine):
            base = [m for m in mine if (m.row, m.kind) == (table.paper_row.name, kind)]
            for row in table.rows:
                if row.name == table.paper_row.name:
                    continue
                others = [m for m in mine if (m.row, m.kind) == (row.name, kind)]
                pairs = [(a, b) for a in base for b in others if _comparable(a, b)]
                if pairs:
                    lines.append([row.name, kind, *_difference(pairs)])
        if not lines:
            return []
        titles = ["", "", f"minus {table.paper_row.name}", "formulas", "lost", "won"]
        return [*_grid([titles, *lines]), ""]

    def markdown(self) -> str:
        used = dict.fromkeys((m.model, m.model_sha256, m.protocol) for m in self.measured)
        models = [f"- `{model}`, SHA-256 {sha[:12]}…; {protocol}." for model, sha, protocol in used]
        return "\n".join([*HEADING, *(line for n in TABLES for line in self.lines(n)), *models, ""])


HEADING = (
    "# The paper's ablations",
    "",
    "Written by `namer-edge ablate`, which keeps the numbers beside it as JSON. ExpRate in %,",
    "in brackets the 95 % interval of the choice of files. *Inference-time* columns come from one",
    "trained model that is read with less of it, in one pass; heads that it was trained with are",
    "then merely not asked. *Trained* columns are runs of their own, with the epochs they had.",
    "*Nodes by eq. 4*: cells become nodes where a class wins, and nowhere else, as in the paper.",
    "*Minus* the paper's row: points, the same formulas read by both, with a paired 95 % interval.",
    "",
)


def _grid(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown, its head first."""
    return [f"| {' | '.join(cells)} |" for cells in (rows[0], ["---"] * len(rows[0]), *rows[1:])]


def _comparable(one: Measured, other: Measured) -> bool:
    """Whether two rows read the same formulas after the same schedule."""
    return (one.data_sha256, one.note, one.total) == (other.data_sha256, other.note, other.total)


def _difference(pairs: Sequence[tuple[Measured, Measured]]) -> list[str]:
    """Points of ExpRate by which the second of each pair is above the first, all formulas pooled,
    with the 95 % interval; then which formulas, and how many only one of them reads right."""
    flips = [a + b for one, other in pairs for a, b in zip(one.right, other.right, strict=True)]
    lost, won, total = flips.count("10"), flips.count("01"), len(flips)
    low, high = paired_interval(won, lost, total)
    sets = " + ".join(Path(one.data).stem for one, _ in pairs)
    gain = 100 * (won - lost) / total
    return [f"{gain:+.2f} ({low:+.2f} to {high:+.2f})", f"{total}, {sets}", str(lost), str(won)]


def _paper(table: Table, row: str) -> str:
    return " / ".join(f"{figure:.2f}" for figure in table.row(row).paper.values())


def _figure(measured: Measured) -> str:
    low, high = measured.interval
    note = f"; {measured.note}" if measured.note else ""
    return f"{measured.exprate:.2f} ({low:.1f} to {high:.1f}){note}"


def text(results: Results, names: Sequence[str]) -> str:
    """Tables for the terminal."""
    return "\n".join(line for name in names for line in results.lines(name))
