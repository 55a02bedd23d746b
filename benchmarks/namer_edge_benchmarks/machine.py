"""The machine of a measurement, without which its times say nothing."""

import os
import platform
import shutil
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from namer_edge_runtime.diagnostics.health import EXTRA_PACKAGES, PACKAGES, installed_version
from namer_edge_runtime.diagnostics.int8_sums import sums_here
from namer_edge_runtime.engine.cpus import usable_cpus
from namer_edge_runtime.engine.int8_sums import (
    SATURATED,
    WITHOUT,
    cpu_flags,
    int8_unit,
    processor,
)


@dataclass(frozen=True)
class Machine:
    """Hardware, system and versions at one moment."""

    processor: str
    usable_cpus: int
    features: list[str]
    """Processor features that int8 and vector code depend on."""
    int8_unit: str
    """The features that multiply int8 in one step, or "none", or "unknown"."""
    int8_sums: dict[str, str]
    """Engine → "exact" or "saturated", what its sums of int8 are on this processor."""
    gpu: str | None
    system: str
    python: str
    versions: dict[str, str | None]
    revision: str | None
    """Git commit, with "-dirty" where files differed; None outside a clone."""
    load: float | None
    """Processes that wanted to run in the last minute, ours included: beyond `usable_cpus` the
    machine was shared, and only ratios of one run hold."""
    time: str

    @classmethod
    def here(cls) -> "Machine":
        return cls(
            processor=processor(),
            usable_cpus=usable_cpus(),
            features=cpu_flags(),
            int8_unit=int8_unit(),
            int8_sums=sums_here(),
            gpu=output_of(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]),
            system=platform.platform(),
            python=platform.python_version(),
            versions={name: installed_version(name) for name in (*PACKAGES, *EXTRA_PACKAGES)},
            revision=_revision(),
            load=round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        """One line for people, and a second where int8 figures cannot be trusted."""
        sums = ", ".join(f"{sums} in {engine}" for engine, sums in self.int8_sums.items())
        warning = f"\n\n**{WITHOUT}**" if SATURATED in self.int8_sums.values() else ""
        versions = ", ".join(f"{name} {v}" for name, v in self.versions.items() if v)
        features = " ".join(self.features) or "features unknown"
        return (
            f"{self.processor} ({features}), {self.usable_cpus} CPUs, load {self.load}, "
            f"int8 unit {self.int8_unit}, int8 sums {sums}, "
            f"GPU {self.gpu or 'none'}; {self.system}, Python {self.python}, {versions}; "
            f"revision {self.revision or 'unknown'}; {self.time}{warning}"
        )


def _revision() -> str | None:
    git = ["git", "-C", str(Path(__file__).parent)]
    # A package installed inside somebody else's clone is not of that clone's revision.
    if output_of([*git, "ls-files", "--error-unmatch", Path(__file__).name]) is None:
        return None
    revision = output_of([*git, "rev-parse", "--short=12", "HEAD"])
    changed = output_of([*git, "status", "--porcelain", "--untracked-files=no"])
    return f"{revision}-dirty" if revision and changed else revision


def output_of(command: list[str]) -> str | None:
    """Output of a program; None where it is missing, failed or printed nothing."""
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    return done.stdout.strip() or None if done.returncode == 0 else None
