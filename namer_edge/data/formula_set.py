"""The result of loading a data set."""

from dataclasses import dataclass

from .formula import Formula
from .report import Report


@dataclass(frozen=True)
class FormulaSet:
    """All readable formulas in the order of their names, and a report on every file."""

    formulas: list[Formula]
    report: Report
