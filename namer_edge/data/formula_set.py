"""What every loader of a data set gives."""

from dataclasses import dataclass

from .formula import Formula
from .report import Report


@dataclass(frozen=True)
class FormulaSet:
    """All formulas that could be read, in the order of their names, and the report on the rest."""

    formulas: list[Formula]
    report: Report
