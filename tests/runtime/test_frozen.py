"""Programs that carry the package along: frozen, in a zip, or without metadata."""

import os
import subprocess
import sys
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import namer_edge
import namer_edge_runtime
from namer_edge_runtime import command, model_file, plugins
from namer_edge_runtime.engine.base import engine_names, open_engine
from namer_edge_runtime.errors import ModelFileError
from namer_edge_runtime.model_file import ModelFile

EXAMPLE = Path(__file__).parents[2] / "examples" / "root.png"
PACKAGES = [Path(package.__file__).parent for package in (namer_edge, namer_edge_runtime)]
WITHOUT_METADATA = """
import importlib.metadata as metadata
metadata.Distribution.discover = classmethod(lambda *_, **__: iter(()))
assert not metadata.entry_points()
"""
READ = f"""
import sys
from namer_edge import Recognizer, __version__
from namer_edge_runtime import command
assert Recognizer.from_pretrained(threads=1)({str(EXAMPLE)!r}).latex == r"\\sqrt{{x}}"
assert command.main(["recognize", {str(EXAMPLE)!r}, "--threads", "1"]) == 0
assert command.main(["--version"]) == 0 and __version__[0].isdigit()
"""


def run(code: str, *path: Path) -> str:
    """What a fresh Python prints that finds our packages on `path` first."""
    places = [*map(str, path), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_metadata_of_the_installation_are_not_needed() -> None:
    said = run(WITHOUT_METADATA + READ, *(package.parent for package in PACKAGES))
    assert "\\sqrt{x}" in said
    assert f"namer-edge {namer_edge_runtime.__version__}" in said


def test_the_packages_read_from_a_zip(tmp_path: Path) -> None:
    archive = tmp_path / "program.pyz"
    with zipfile.ZipFile(archive, "w") as file:
        for package in PACKAGES:
            for path in package.rglob("*"):
                if "__pycache__" not in path.parts:
                    file.write(path, path.relative_to(package.parent))
    inside = f"import namer_edge_runtime\nassert {str(archive)!r} in namer_edge_runtime.__file__\n"
    assert "\\sqrt{x}" in run(WITHOUT_METADATA + inside + READ, archive)
    demo = "from namer_edge_runtime.server.serve import serve\n"
    demo += "from namer_edge_runtime.server.settings import Settings\n"
    demo += "try: serve(Settings(recognizer={}, port=0))\nexcept Exception as error: print(error)"
    pytest.importorskip("starlette")
    assert "in an archive" in run(demo, archive)


def test_other_packages_add_engines_and_take_none_over(
    tiny_model: ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = EntryPoint("elsewhere", "json:loads", plugins.ENGINES)
    taking_over = EntryPoint("onnxruntime", "json:loads", plugins.ENGINES)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [added, taking_over])
    assert engine_names() == ["elsewhere", "onnxruntime", "openvino", "torch"]
    assert open_engine("onnxruntime", tiny_model, threads=1).name == "onnxruntime"


def test_a_program_without_the_data_files_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_file.resources, "files", lambda package: tmp_path)
    with pytest.raises(ModelFileError, match="data files left out when it was frozen"):
        ModelFile.open()


def test_check_has_no_python_to_start_in_a_frozen_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert command.main(["check"]) == 2
    assert "frozen program" in capsys.readouterr().err


def test_the_hooks_tell_pyinstaller_of_all_that_is_loaded_by_name() -> None:
    pytest.importorskip("PyInstaller")
    from runpy import run_path

    from namer_edge_runtime.pyinstaller import get_hook_dirs

    hooks = {path.stem: run_path(str(path)) for path in Path(get_hook_dirs()[0]).glob("hook-*.py")}
    assert hooks["hook-namer_edge"]["hiddenimports"] == ["namer_edge_runtime"]
    found = hooks["hook-namer_edge_runtime"]
    files = {Path(source).name for source, _ in found["datas"]}
    assert files >= {"model.json", "vat.onnx", "pgd.onnx", "LICENSE", "crohme.json", "index.html"}
    named = {
        target.partition(":")[0] for group in plugins.PACKAGED.values() for target in group.values()
    }
    ours = {name for name in named if name.startswith("namer_edge_runtime.")}
    assert set(found["hiddenimports"]) >= ours | {"namer_edge_runtime.recognizer"}
