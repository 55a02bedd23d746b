"""How many threads a process takes that has not been told."""

import os
from pathlib import Path

import pytest

from namer_edge_runtime.engine.cpus import usable_cpus

affinity = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="no affinity on this system"
)


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)


def container(root: Path, group: str, files: dict[str, str]) -> Path:
    """A file system in which this process is in these control groups."""
    for name, text in {"proc/self/cgroup": group, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@affinity
def test_those_of_its_affinity() -> None:
    allowed = os.sched_getaffinity(0)
    assert 1 <= usable_cpus() <= len(allowed)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert usable_cpus() == 1
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("quota", "cpus"),
    [("max 100000", 16), ("200000 100000", 2), ("250000 100000", 2), ("50000 100000", 1), ("", 16)],
)
def test_those_that_a_container_has_time_for(quota: str, cpus: int, tmp_path: Path) -> None:
    root = container(tmp_path, "0::/\n", {"sys/fs/cgroup/cpu.max": quota + "\n"})
    assert usable_cpus(root) == cpus


@pytest.mark.usefixtures("many")
def test_the_tightest_of_the_groups_that_it_is_in(tmp_path: Path) -> None:
    groups = {
        "sys/fs/cgroup/a/cpu.max": "300000 100000",
        "sys/fs/cgroup/a/b/cpu.max": "400000 100000",
        "sys/fs/cgroup/other/cpu.max": "100000 100000",
    }
    assert usable_cpus(container(tmp_path, "0::/a/b\n", groups)) == 3


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(("quota", "cpus"), [("-1", 16), ("600000", 6)])
def test_older_control_groups(quota: str, cpus: int, tmp_path: Path) -> None:
    # Without a name space of its own, a container sees the path outside, and its files at the root.
    root = container(
        tmp_path,
        "3:cpuset:/docker/1\n2:cpu,cpuacct:/docker/1\n1:memory:/docker/1\n",
        {
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": quota + "\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
    )
    assert usable_cpus(root) == cpus


@pytest.mark.usefixtures("many")
def test_without_control_groups(tmp_path: Path) -> None:
    assert usable_cpus(tmp_path) == 16
