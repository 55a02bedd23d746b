"""What `namer-edge recognize` does where a place is no plain file that may be used."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import pytest

from namer_edge_runtime import command
from namer_edge_runtime.model_file import ModelFile

from .conftest import Run
from .drawing import picture, png, save_inputs


def test_a_link_is_written_through_and_what_is_no_file_stays(
    recognize: Run, tmp_path: Path
) -> None:
    page, target, link, pipe = (tmp_path / name for name in ("a.png", "real", "link", "pipe"))
    page.write_bytes(png(picture("1")))
    link.symlink_to(target)
    assert recognize(page, "--jsonl", link)[0] == 0
    assert link.is_symlink()
    assert json.loads(target.read_text())["canonical"] == "1"
    os.mkfifo(pipe)
    for option in ("--jsonl", "--draw"):
        code, _, errors = recognize(page, option, pipe)
        assert code == 2
        assert f"cannot write {pipe}: it is no file" in errors
        assert pipe.is_fifo()


@pytest.mark.parametrize(("option", "name"), [("--draw", "o.txt"), ("--show-steps", "o.jpg")])
def test_a_picture_is_not_written_under_another_kinds_name(
    recognize: Run, tmp_path: Path, option: str, name: str
) -> None:
    save_inputs(tmp_path / "in")
    code, _, errors = recognize(tmp_path / "in" / "a.png", option, tmp_path / name)
    assert code == 2
    assert "a PNG file is written: end its name in .png" in errors
    assert not (tmp_path / name).exists()


def test_nothing_that_is_read_or_written_otherwise_is_replaced(
    recognize: Run, tmp_path: Path
) -> None:
    save_inputs(tmp_path / "in")
    page, other = tmp_path / "in" / "a.png", tmp_path / "b.png"
    before = page.read_bytes()
    os.link(page, tmp_path / "A.PNG")  # as a system sees it that ignores case
    for line in (
        (page, "--draw", tmp_path / "A.PNG"),
        (page, "--draw", page),
        (page, "--show-steps", page),
        (page, "--jsonl", page),
        (tmp_path / "in", "--jsonl", page),
        (page, "--draw", other, "--show-steps", other),
    ):
        code, _, errors = recognize(*line)
        assert code == 2
        assert "would be lost" in errors
    assert page.read_bytes() == before
    assert not other.exists()
    assert recognize(tmp_path / "in", "--jsonl", tmp_path / "in" / "new.jsonl")[0] == 0


def test_an_open_stream_is_not_replaced(tiny_model: ModelFile, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(picture("1")))
    command_line = [
        *(sys.executable, "-m", "namer_edge_runtime.command", "recognize", tmp_path / "a.png"),
        *("--model", tiny_model.path, "--jsonl", "/dev/stdout"),
    ]
    log = tmp_path / "log"
    with log.open("w") as file:
        file.write("header\n")
        file.flush()
        done = subprocess.run(
            command_line, check=False, stdout=file, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert "- is standard output" in done.stderr
    assert log.read_text() == "header\n"


def test_what_may_not_be_looked_into_is_an_input_that_failed(
    recognize: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_inputs(tmp_path / "in")
    count = len(list((tmp_path / "in").iterdir()))
    (tmp_path / "in" / "shut").mkdir()
    scandir = os.scandir

    def refusing(path: str) -> Any:  # root may look into all folders, so the mode would not do
        if Path(path).name == "shut":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    code, output, errors = recognize(tmp_path / "in", "n" * 300, tmp_path / "in" / "a.png")
    assert code == 1
    assert f"2 of {count + 3} inputs failed" in errors
    assert f"{tmp_path}/in/shut: cannot be opened (Permission denied)" in errors
    assert f"{'n' * 300}: cannot be opened (File name too long)" in errors
    assert len(output.splitlines()) == count + 1


def test_closed_streams_lead_nowhere(
    tiny_model: ModelFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.png").write_bytes(png(picture("1")))
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    line = ["recognize", str(tmp_path / "a.png"), "--model", str(tiny_model.path)]
    assert command.main(line) == 0
    assert command.main([*line, "-"]) == 1  # nothing comes in


def test_damaged_pictures_are_told_of_in_our_own_line_alone(
    tiny_model: ModelFile, tmp_path: Path
) -> None:
    whole = tmp_path / "a.pgm"
    cv2.imwrite(str(whole), picture("1"))
    (tmp_path / "cut.pgm").write_bytes(whole.read_bytes()[:200])
    done = subprocess.run(
        [
            *(sys.executable, "-m", "namer_edge_runtime.command", "recognize"),
            *(tmp_path / "cut.pgm", "--model", tiny_model.path),
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("namer-edge: error: ")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_enough_is_no_error_on_windows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    verb = SimpleNamespace(SUMMARY="", configure=lambda parser: None, run=run)
    monkeypatch.setattr(command, "_load", lambda point: verb)
    monkeypatch.setattr(command, "_give_up_output", lambda: None)
    assert command.main(["check"]) == 1
    assert capsys.readouterr().err == "namer-edge: error: Invalid argument\n"
    monkeypatch.setattr(sys, "platform", "win32")
    assert command.main(["check"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_to_nothing_in_a_folder_is_told_of(recognize: Run, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(picture("1")))
    (tmp_path / "b.png").symlink_to(tmp_path / "gone.png")
    code, output, errors = recognize(tmp_path)
    assert (code, output) == (1, f"{tmp_path}/a.png\t1\n")
    assert "b.png" in errors
