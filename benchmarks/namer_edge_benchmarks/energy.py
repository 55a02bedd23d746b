"""Energy that the processor took, where Linux reports it (RAPL) and lets us read it."""

from pathlib import Path

DOMAINS = Path("/sys/class/powercap")


def read_energy(folder: Path = DOMAINS) -> dict[str, int]:
    """Microjoules so far of each processor package; empty where the system does not tell."""
    counters = {}
    for domain in sorted(folder.glob("intel-rapl:?")):
        try:
            counters[domain.name] = int((domain / "energy_uj").read_text("utf-8"))
        except (OSError, ValueError):
            return {}
    return counters


def joules(before: dict[str, int], after: dict[str, int]) -> float | None:
    """What all packages took in between, other programs' share included; None where nothing was
    told, or a counter began again."""
    spent = [after.get(name, -1) - start for name, start in before.items()]
    return sum(spent) / 1e6 if spent and min(spent) >= 0 else None
