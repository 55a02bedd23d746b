"""Files that appear whole or not at all, whatever happens to who writes them."""

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from namer_edge_runtime import atomic
from namer_edge_runtime.atomic import atomic_file, atomic_folder
from namer_edge_runtime.bulk.journal import Journal
from namer_edge_runtime.errors import UsageError
from namer_edge_runtime.file_lock import exclusive
from namer_edge_runtime.model_file import ModelFile

from .conftest import Run
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
    process.kill()
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
    (part,) = tmp_path.iterdir()  # it removed those of the dead
    os.utime(part, (0, 0))  # however long it takes, and whatever its clock says
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


def test_two_runs_do_not_write_one_journal(recognize: Run, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    first = start(JOURNAL, output)
    code, _, errors = recognize(tmp_path, "--jsonl", output)
    assert code == 2
    assert "is being written by another run: wait for it, or give another output" in errors
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
    told = rf"another run \(process {first.pid} on .*\) writes .*run"
    with pytest.raises(UsageError, match=told), exclusive(tmp_path / "run"):
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked there")
def test_a_lock_ends_with_its_process_whatever_that_has_forked(tmp_path: Path) -> None:
    """As the processes that draw pictures, which outlive a killed training for some seconds."""
    code = (
        "import os, sys, time\nfrom pathlib import Path\n"
        "from namer_edge_runtime.file_lock import exclusive\n"
        "with exclusive(Path(sys.argv[1])):\n    child = os.fork()\n"
        "    if child: print(child, flush=True)\n    time.sleep(60)"
    )
    first = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, text=True
    )
    assert first.stdout is not None
    child = int(first.stdout.readline())
    try:
        kill(first)
        with exclusive(tmp_path):
            os.kill(child, 0)  # is still there
    finally:
        os.kill(child, 9)


def test_a_file_system_without_locks_refuses_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", refuse)
    with exclusive(tmp_path / "run"):
        pass
    Journal(tmp_path / "out", {}).finish([])
    assert (tmp_path / "out").exists()


def test_a_place_that_cannot_be_reserved_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot write .*file"), exclusive(tmp_path / "file"):
        pass
    with exclusive(tmp_path / "file", is_folder=False):
        assert len(os.listdir(tmp_path)) == 2
    assert os.listdir(tmp_path) == ["file"]


LOOP = """
import sys
from pathlib import Path
from namer_edge_runtime.atomic import atomic_file, atomic_folder
folder, number = Path(sys.argv[1]), 0
print("ready", flush=True)
while True:
    number += 1
    with atomic_file(folder / "file") as file:
        file.write(b"%d" % number * 100000)
    with atomic_folder(folder / "folder") as new:
        for name in "abc":
            (new / name).write_bytes(b"%d" % number)
"""


def test_kills_at_any_time_leave_whole_files_and_nothing_else(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for _ in range(8):
        process = start(LOOP, tmp_path)
        time.sleep(random.uniform(0, 0.05))
        kill(process)
        with pytest.raises(ZeroDivisionError), atomic_folder(tmp_path / "folder"):
            raise ZeroDivisionError  # puts back what a kill between two renames has left
        if (tmp_path / "file").exists():
            data = (tmp_path / "file").read_bytes()
            assert data == data[: len(data) // 100000] * 100000
        if (tmp_path / "folder").exists():
            contents = [item.read_bytes() for item in (tmp_path / "folder").iterdir()]
            assert len(contents) == 3
            assert len(set(contents)) == 1
    with atomic_file(tmp_path / "file") as file:
        file.write(b"last")
    assert set(os.listdir(tmp_path)) <= {"file", "folder"}


def test_windows_looks_up_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signal 0 would end it there."""
    path = tmp_path / "out"
    kill(start(WRITER, "file", path))
    (leftover,) = tmp_path.iterdir()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(os, "kill")
    with atomic_file(path):
        pass
    assert leftover.exists()
    os.utime(leftover, (0, 0))
    with atomic_file(path):
        pass
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_windows_waits_for_who_reads_what_is_to_be_replaced(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = [PermissionError(13, "Access is denied") for _ in range(3)]
    replace = Path.replace

    def busy(self: Path, target: Path) -> Path:
        if refusals:
            raise refusals.pop()
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", busy)
    monkeypatch.setattr(sys, "platform", "win32")
    path = tmp_path / "out"
    for content in (b"old", b"new"):
        if kind == "file":
            with atomic_file(path) as file:
                file.write(content)
        else:
            with atomic_folder(path) as folder:
                (folder / "part").write_bytes(content)
    assert not refusals
    assert (path if kind == "file" else path / "part").read_bytes() == b"new"
    refusals += [PermissionError(13, "Access is denied") for _ in range(99)]
    monkeypatch.setattr(atomic, "SWAP_TRIES", 2)
    with pytest.raises(UsageError, match="Access is denied"), atomic_file(tmp_path / "other"):
        pass
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["--version"], ["recognize", "in.png"]])
def test_a_full_standard_output_is_named(
    words: list[str], unbuffered: str, tiny_model: ModelFile, tmp_path: Path
) -> None:
    (tmp_path / "in.png").write_bytes(png(picture("1")))
    model = ["--model", str(tiny_model.path)] if words[0] == "recognize" else []
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "namer_edge_runtime.command", *words, *model],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "namer-edge: error: standard output: No space left on device\n"
