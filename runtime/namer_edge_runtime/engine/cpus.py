"""How many processors this process may use: in a container, fewer than the machine has."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

GROUPS = "sys/fs/cgroup"


def usable_cpus(root: Path = Path("/")) -> int:
    """Number of processors by affinity, limited by the quotas of the control groups (v1 or v2).

    A share of a processor does not count: with one thread too many, all of them would stand still
    whenever the time of a period (0.1 s) is used up. `root` is where the file system begins.
    """
    has_affinity = hasattr(os, "sched_getaffinity")
    cpus = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return max(1, min([cpus, *map(int, _quotas(root))]))


def _quotas(root: Path) -> Iterator[float]:
    """Processors' worth of time of each control group that this process is in, where limited."""
    for folder in _folders(root):
        try:
            if (folder / "cpu.max").exists():
                quota, period = (folder / "cpu.max").read_text("utf-8").split()
            else:
                quota = (folder / "cpu.cfs_quota_us").read_text("utf-8")
                period = (folder / "cpu.cfs_period_us").read_text("utf-8")
            if quota != "max" and float(quota) > 0 and float(period) > 0:
                yield float(quota) / float(period)
        except (OSError, ValueError):
            continue  # no such group, as inside a container, or none that we may know of


def _folders(root: Path) -> Iterator[Path]:
    """Folders of this process's control group and of its parents, each of which may have a
    limit."""
    try:
        lines = (root / "proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        group = PurePosixPath(path.lstrip("/"))
        for own in (group, *group.parents):
            yield root / GROUPS / controllers / own
