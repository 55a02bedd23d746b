"""The same bulk reading on a Ray cluster, a local one here."""

import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import cv2
import pytest

from namer_edge_runtime.bulk.input_files import sources
from namer_edge_runtime.bulk.run import recognize_all
from namer_edge_runtime.errors import EngineError
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result

from .drawing import picture

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'namer-edge[ray]'")
COUNT = 48


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    try:
        ray.init(
            num_cpus=2,
            object_store_memory=100_000_000,
            log_to_driver=False,
            include_dashboard=False,
            logging_level=logging.ERROR,
        )
    except Exception as error:  # Ray gives its own processes half a minute, whatever else runs
        if "timed out during startup" not in str(error):
            raise
        pytest.skip("Ray did not start in its time: the machine is too busy")
    yield
    ray.shutdown()


def workers() -> list[int]:
    """Processes of this cluster that read formulas: descendants of this one."""
    parents, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
            names[int(folder.name)] = (folder / "cmdline").read_text()
        except OSError:
            continue  # gone meanwhile
        parents[int(folder.name)] = int(words[1])

    def ours(process: int) -> bool:
        while process > 1:
            if process == os.getpid():
                return True
            process = parents.get(process, 0)
        return False

    return [p for p, name in names.items() if "_Reader" in name and ours(p)]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.usefixtures("cluster")
def test_a_worker_killed_half_way_loses_and_doubles_nothing(
    tiny_model: ModelFile, tmp_path: Path
) -> None:
    from namer_edge_runtime.bulk.ray import recognize_on_ray

    for number in range(COUNT):
        said = " ".join("1-"[bit == "1"] for bit in f"{number:06b}")
        cv2.imwrite(str(tmp_path / f"{number:03}.png"), picture(said))
    (tmp_path / "020bad.png").write_bytes(b"no picture")
    recognizer = Recognizer.from_pretrained(tiny_model.path, threads=1)
    expected = list(recognize_all(recognizer, sources([tmp_path])))
    killed: list[int] = []
    found = []
    options = {"name_or_path": str(tiny_model.path)}
    for outcome in recognize_on_ray(options, sources([tmp_path]), batch_size=2):
        found.append(outcome)
        if not killed and len(found) >= 2:
            killed = workers()
            for process in killed:
                os.kill(process, signal.SIGKILL)
    assert killed, "no worker was found to kill"
    assert [o.source for o in found] == [o.source for o in expected]  # all, once, in order
    for one, other in zip(expected, found, strict=True):
        if isinstance(one.answer, Result):
            assert isinstance(other.answer, Result)
            assert one.answer.canonical == other.answer.canonical
        else:
            assert (one.source, one.message) == (other.source, other.message)


@pytest.mark.usefixtures("cluster")
def test_workers_that_cannot_open_the_model_say_why(tmp_path: Path) -> None:
    from namer_edge_runtime.bulk.ray import recognize_on_ray

    cv2.imwrite(str(tmp_path / "a.png"), picture("1"))
    with pytest.raises(EngineError, match="no model 'nowhere'"):
        list(recognize_on_ray({"name_or_path": "nowhere"}, sources([tmp_path])))
