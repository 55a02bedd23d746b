"""A target beside the measured figure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A limit, and whether it is kept."""

    name: str
    measured: float
    limit: float
    unit: str
    at_least: bool = False
    """The limit is a lower one."""

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    @property
    def aim(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.limit:g} {self.unit}"

    @property
    def verdict(self) -> str:
        return "met" if self.met else "missed"

    def __str__(self) -> str:
        measured = f"{self.measured:9.1f} {self.unit:3s}"
        return f"{self.name:58s} {self.aim:>12s} {measured} {self.verdict}"
