"""The programs in `examples/`, each run with what it begins from."""

import json
import os
import runpy
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from namer_edge_runtime.ink.inkml import read_inkml

from .conftest import EXAMPLES

HALF = "\\frac{1}{2}"
LUA = shutil.which("lua5.4") or shutil.which("lua")
XOURNALPP = """
local strokes = dofile(arg[2])
app = {
  registerUi = function(entry) run = entry.callback end,
  getStrokes = function(kind) assert(kind == "selection"); return strokes end,
  openDialog = function(text) print("dialog", text) end,
  addTexts = function(added)
    local text = added.texts[1]
    print("text", text.text, text.x, text.y)
  end,
  refreshPage = function() end,
}
if arg[3] then app[arg[3]] = nil end
dofile(arg[1])
initUi()
_G[run]()
"""


def strokes(name: str) -> list[list[list[float]]]:
    return [stroke.tolist() for stroke in read_inkml(EXAMPLES / f"{name}.inkml").strokes]


def test_the_service_reads_files_and_strokes() -> None:
    pytest.importorskip("fastapi")
    from fastapi.testclient import TestClient

    client = TestClient(runpy.run_path(str(EXAMPLES / "fastapi_service.py"))["app"])
    picture = (EXAMPLES / "half.png").read_bytes()
    assert client.post("/file", files={"file": picture}).json()["latex"] == HALF
    assert client.post("/strokes", json=strokes("half")).json()["latex"] == HALF
    refused = client.post("/file", files={"file": b"no picture"})
    assert refused.status_code == 422
    assert "not a picture" in refused.json()["error"]


@pytest.fixture
def watching(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    program = [sys.executable, str(EXAMPLES / "watched_folder.py"), str(tmp_path)]
    with subprocess.Popen(
        program, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as run:
        yield run
        run.kill()


def test_the_watched_folder_reads_what_comes(
    watching: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    (tmp_path / "bad.png").write_bytes(b"no picture")
    data = (EXAMPLES / "half.png").read_bytes()
    with (tmp_path / "half.png").open("wb") as file:  # comes in two parts
        file.write(data[:100])
        file.flush()
        time.sleep(0.1)
        file.write(data[100:])
    (tmp_path / "ink.json").write_text(json.dumps(strokes("root")))
    assert watching.stdout is not None
    said = {watching.stdout.readline() for _ in range(2)}
    assert said == {f"half.png\t{HALF}\n", "ink.json\t\\sqrt{x}\n"}
    assert (tmp_path / "half.tex").read_text() == HALF + "\n"
    assert not (tmp_path / "bad.tex").exists()


def test_the_notebooks_cells_run(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text("utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells), "saved with outputs"
    monkeypatch.chdir(EXAMPLES)
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert names["result"].latex == HALF
    assert names["session"].result().latex == "+"


def test_the_frozen_program_goes_on_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_bytes(b"no picture")
    files = [tmp_path / "bad.png", EXAMPLES / "half.png", EXAMPLES / "root.inkml"]
    program = [sys.executable, EXAMPLES / "frozen_app.py", *files]
    done = subprocess.run(program, text=True, capture_output=True, check=True)
    assert done.stdout == f"{HALF}\n\\sqrt{{x}}\n"
    assert "bad.png" in done.stderr


def test_the_batch_reads_on_ray() -> None:
    pytest.importorskip("ray")
    program = [sys.executable, EXAMPLES / "ray_batch.py", EXAMPLES]
    done = subprocess.run(program, text=True, capture_output=True, check=False)
    if "timed out during startup" in done.stderr:
        pytest.skip("Ray did not start in its time: the machine is too busy")
    assert done.returncode == 0, done.stderr
    read = dict(line.split("\t") for line in done.stdout.splitlines())
    assert read[str(EXAMPLES / "half.png")] == read[str(EXAMPLES / "half.inkml")] == HALF


def xournalpp(folder: Path, ink: list[list[list[float]]], without: str = "") -> list[str]:
    """What the plug-in does in a program of Xournal++'s interface where this ink is selected."""
    if LUA is None:
        pytest.skip("no Lua is installed")
    rows = [
        ["{" + ", ".join(str(point[axis]) for point in stroke) + "}" for axis in (0, 1)]
        for stroke in ink
    ]
    (folder / "strokes.lua").write_text(
        "return {" + ", ".join(f"{{ x = {x}, y = {y} }}" for x, y in rows) + "}"
    )
    (folder / "program.lua").write_text(XOURNALPP)
    command = folder / "namer-edge"
    command.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -c '
        '"from namer_edge_runtime.command import main; raise SystemExit(main())" "$@"\n'
    )
    command.chmod(0o755)
    plugin = EXAMPLES / "xournalpp" / "main.lua"
    done = subprocess.run(
        [LUA, folder / "program.lua", plugin, folder / "strokes.lua", *filter(None, [without])],
        text=True,
        capture_output=True,
        env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n").split("\t")


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for the command is a shell script")
def test_the_plugin_writes_below_the_selection(tmp_path: Path) -> None:
    ink = strokes("half")
    kind, text, x, y = xournalpp(tmp_path, ink)
    assert (kind, text) == ("text", HALF)
    assert float(x) == pytest.approx(min(x for stroke in ink for x, _ in stroke), abs=1e-3)
    assert float(y) == pytest.approx(max(y for stroke in ink for _, y in stroke) + 6, abs=1e-3)
    assert xournalpp(tmp_path, ink, without="addTexts") == ["dialog", HALF]


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for the command is a shell script")
def test_the_plugin_says_what_is_wrong(tmp_path: Path) -> None:
    assert "Select" in xournalpp(tmp_path, [])[1]
    assert "1.2" in xournalpp(tmp_path, strokes("half"), without="getStrokes")[1]
