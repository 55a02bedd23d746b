"""Files that appear whole or not at all, whatever happens to who writes them."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from namer_edge_runtime.atomic import atomic_file, atomic_folder
from namer_edge_runtime.bulk.journal import Journal
from namer_edge_runtime.errors import UsageError
from namer_edge_runtime.file_lock import exclusive
from namer_edge_runtime.model_file import ModelFile

from .drawing import picture, png

WRITER = """
import sys, time
from pathlib import Path
from namer_edge_runtime.atomic import atomic_file, atomic_folder
path = Path(sys.argv[2])
if sys.argv[1] == "file":
    with atomic_file(path) as file:
        file.write(b"new")
        file.flush()
        print("ready", flush=True)
        time.sleep(60)
else:
    with atomic_folder(path) as folder:
        (folder / "new").write_bytes(b"new")
        print("ready", flush=True)
        time.sleep(60)
"""


def start(code: str, *arguments: str | Path) -> subprocess.Popen[str]:
    """Another process, once it has said that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def fail_after_half(file: IO[bytes]) -> None:
    file.write(b"half")
    file.flush()
    raise ZeroDivisionError


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with atomic_file(path) as file:
        file.write(b"new, and longer")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new, and longer"
    assert os.listdir(tmp_path) == ["out"]


def test_a_write_that_fails_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), atomic_file(path) as file:
        fail_after_half(file)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_the_next_write_removes_what_a_killed_one_left(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "out"
    for _ in range(3):
        kill(start(WRITER, kind, path))
    living = start(WRITER, kind, path)
    assert len(os.listdir(tmp_path)) == 1  # it removed those of the dead
    if kind == "file":
        with atomic_file(path) as file:
            file.write(b"last")
    else:
        with atomic_folder(path) as folder:
            (folder / "last").touch()
    assert len(os.listdir(tmp_path)) == 2  # the living writer's stays
    kill(living)


def test_a_folder_whose_writer_was_killed_between_its_renames_is_put_back(tmp_path: Path) -> None:
    path = tmp_path / "model"
    process = start(WRITER, "folder", path)
    kill(process)
    (part,) = tmp_path.iterdir()
    part.rename(part.with_suffix(".old"))
    with pytest.raises(ZeroDivisionError), atomic_folder(path):
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == ["model"]
    assert (path / "new").read_bytes() == b"new"


JOURNAL = """
import sys, time
from pathlib import Path
from namer_edge_runtime.bulk.journal import Journal
journal = Journal(Path(sys.argv[1]), {"model": 1})
journal.add({"source": "a"})
print("ready", flush=True)
time.sleep(60)
"""


def test_two_runs_do_not_write_one_journal(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    first = start(JOURNAL, output)
    before = (tmp_path / "out.jsonl.journal").read_bytes()
    with pytest.raises(UsageError, match=r"out\.jsonl\.journal is being written by another run"):
        Journal(output, {"model": 1})
    assert (tmp_path / "out.jsonl.journal").read_bytes() == before
    kill(first)
    journal = Journal(output, {"model": 1}, resume=True)  # the system has released the lock
    assert journal.take("a")
    journal.finish(["a"])
    assert output.read_text() == '{"source": "a"}\n'
    assert os.listdir(tmp_path) == ["out.jsonl"]


def test_two_runs_do_not_train_in_one_folder(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from namer_edge_runtime.file_lock import exclusive\n"
        "with exclusive(Path(sys.argv[1])):\n    print('ready', flush=True)\n    time.sleep(60)"
    )
    first = start(code, tmp_path / "run")
    with pytest.raises(UsageError, match="another run writes into"), exclusive(tmp_path / "run"):
        pass
    kill(first)
    with exclusive(tmp_path / "run"):
        pass
    assert not (tmp_path / "run").exists()  # nothing was written


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of file sizes there")
@pytest.mark.parametrize(
    "output",
    [
        lambda folder: ["--jsonl", folder / "out"],
        lambda folder: ["--draw", folder / "out.png"],
        lambda folder: ["--show-steps", folder / "out.png"],
    ],
)
def test_a_full_disk_names_its_file_and_leaves_the_old_one(
    tiny_model: ModelFile, tmp_path: Path, output: Callable[[Path], list[str | Path]]
) -> None:
    (tmp_path / "in.png").write_bytes(png(picture("1 - 1")))
    folder = tmp_path / "full"
    folder.mkdir()
    option, target = output(folder)
    Path(target).write_bytes(b"old")
    code = (
        "import resource, signal, sys\nfrom namer_edge_runtime.command import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\nsys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", code, "recognize", tmp_path / "in.png"),
            *("--model", tiny_model.path, option, target),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert str(target) in done.stderr
    assert "File too large" in done.stderr
    assert Path(target).read_bytes() == b"old"
    assert set(os.listdir(folder)) <= {Path(target).name, f"{Path(target).name}.journal"}
