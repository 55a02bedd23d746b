"""Tables of the paper's ablations: rows, their settings and published figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field

SETS = ("2014", "2016", "2019")
PAPER = "paper-crohme"


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    name: str
    paper: Mapping[str, float]
    """CROHME test set → ExpRate in percent."""
    config: str = PAPER
    """The packaged configuration of this row."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Differences from `paper-crohme` by key of the configuration."""


@dataclass(frozen=True)
class Table:
    """A table of the paper."""

    title: str
    rows: tuple[Row, ...]
    at_inference: bool
    """Whether one trained model with parts disabled gives its rows."""

    @property
    def paper_row(self) -> Row:
        """The row that is the paper's own model, with which the others are compared."""
        return next(row for row in self.rows if row.config == PAPER)

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)


def _edges(left: float, right: float, figure: float) -> Row:
    name = f"{left:g}:{right:g}"
    if left == right:
        return Row(name, {"2014": figure})
    config = f"paper-edges-{left:g}-{right:g}"
    return Row(name, {"2014": figure}, config, {"left_weight": left, "right_weight": right})


def _heads(name: str, config: str, *figures: float) -> Row:
    paper = dict(zip(SETS, figures, strict=True))
    if name == "LCH + RCH + SCH":
        return Row(name, paper)
    parts = {"SCH": "self", "LCH": "left", "RCH": "right"}
    there = tuple(part for head, part in parts.items() if head in name)
    return Row(name, paper, config, {"pgd_parts": there})


def _window(cells: int, figure: float) -> Row:
    name, paper = f"{cells} x {cells}", {"2014": figure}
    if cells == 5:
        return Row(name, paper)
    return Row(name, paper, f"paper-window-{cells}", {"window": cells})


def _teacher(name: str, figure: float) -> Row:
    paper, weights = {"2014": figure}, f"runs/paper-{name.lower()}/best.safetensors"
    config = PAPER if name == "DWAP" else f"paper-teacher-{name.lower()}"
    return Row(name, paper, config, {"teacher": weights})


TABLES = {
    "edges": Table(
        "Table S3: weights of an edge, L2R:R2L",
        (
            _edges(1, 0, 58.88),
            _edges(1, 0.5, 59.43),
            _edges(1, 1, 60.51),
            _edges(0.5, 1, 59.13),
            _edges(0, 1, 57.26),
        ),
        at_inference=True,
    ),
    "heads": Table(
        "Table 6: heads of PGD",
        (
            _heads("LCH", "paper-heads-l", 55.03, 54.84, 57.13),
            _heads("RCH", "paper-heads-r", 54.62, 55.01, 56.38),
            _heads("LCH + RCH", "paper-heads-lr", 55.94, 56.32, 58.38),
            _heads("LCH + SCH", "paper-heads-ls", 58.88, 58.15, 60.22),
            _heads("RCH + SCH", "paper-heads-rs", 57.26, 57.98, 58.97),
            _heads("LCH + RCH + SCH", PAPER, 60.51, 60.24, 61.72),
        ),
        at_inference=True,
    ),
    "window": Table(
        "Table 5: window of the matching, cells",
        (_window(3, 59.74), _window(5, 60.51), _window(7, 60.35)),
        at_inference=False,
    ),
    "teachers": Table(
        "Table 4: whose attention gives VAT's position estimates",
        (
            _teacher("DWAP", 60.51),
            _teacher("BTTR", 60.65),
            _teacher("CAN", 60.55),
            _teacher("CoMER", 60.35),
        ),
        at_inference=False,
    ),
}
