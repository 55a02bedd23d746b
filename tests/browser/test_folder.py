"""What `namer-edge page` makes, and what it refuses."""

import gzip
import io
import json
import re
import tarfile
from pathlib import Path

import pytest

from namer_edge_runtime.browser import folder as folder_module
from namer_edge_runtime.browser import onnxruntime_web
from namer_edge_runtime.browser.folder import make_page
from namer_edge_runtime.browser.onnxruntime_web import MODULE, WASM, runtime_files
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import EngineError, UsageError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import Preprocessing

from ..runtime.tiny_model import write_tiny_model

LONGEST_MODULE = 1500
SOURCES = Path(onnxruntime_web.__file__).parent


@pytest.fixture
def tiny(tmp_path: Path) -> ModelFile:
    return write_tiny_model(tmp_path / "tiny")


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_fetched(
    tmp_path: Path, tiny: ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "runtime_files", lambda _: pytest.fail("was fetched"))
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot write"):
        make_page(tmp_path / "file" / "page", tiny)


def test_the_folder_has_all_that_the_page_asks_for(
    tmp_path: Path, hollow_runtime: Path, tiny: ModelFile, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "page"
    arguments = ["--runtime", str(hollow_runtime), "--model", str(tiny.path)]
    assert main(["page", str(folder), *arguments]) == 0
    assert "MB" in capsys.readouterr().out
    script = (folder / "service_worker.js").read_text("utf-8")
    listed = re.search("^const FILES = (.*);$", script, re.MULTILINE)
    assert listed
    cached = {*json.loads(listed[1])} - {"./"}
    assert all((folder / name).is_file() for name in cached)
    asked = set()
    for path in folder.rglob("*"):
        if path.suffix == ".js" and "onnxruntime-web" not in path.parts:
            text = path.read_text("utf-8")
            found = re.findall(r'(?:from |import |import\()"(\.[^"]+)"', text)
            asked |= {(path.parent / name).resolve().relative_to(folder) for name in found}
    index = (folder / "index.html").read_text("utf-8")
    asked |= {Path(name) for name in re.findall(r'(?:href|src)="([^"#]+)"', index)}
    assert len(asked) > 20
    assert {path.as_posix() for path in asked} <= cached
    meta = json.loads((folder / "model" / "model.json").read_text("utf-8"))
    assert meta == tiny.meta
    assert gzip.decompress((folder / "model" / "vat.onnx.gz").read_bytes()) == tiny.read("vat")
    assert (folder / "model" / "LICENSE").read_text("utf-8") == "Apache-2.0"
    assert "Microsoft" in (folder / "onnxruntime-web" / "LICENSE").read_text("utf-8")


def test_nothing_comes_from_elsewhere(module: Path) -> None:
    addresses = set()
    for path in module.rglob("*"):
        is_own = path.parent.name not in ("model", "onnxruntime-web")
        if is_own and path.suffix in (".js", ".html", ".css", ".json"):
            addresses |= set(re.findall(r"https?://[^\s\"'`)]+", path.read_text("utf-8")))
    assert addresses == {"http://www.w3.org/1998/Math/MathML"}
    index = (module / "index.html").read_text("utf-8")
    assert "default-src 'self'" in index
    assert not re.search(r'(?:href|src)="/', index)  # it lies at any address
    assert "server" not in index


def test_the_version_of_the_page_is_that_of_its_files(
    tmp_path: Path, hollow_runtime: Path, tiny: ModelFile
) -> None:
    def version(model: ModelFile) -> str:
        make_page(tmp_path / "page", model, hollow_runtime)
        return (tmp_path / "page" / "service_worker.js").read_text("utf-8").splitlines()[0]

    assert version(tiny) == version(tiny)  # an earlier page gives way
    assert version(tiny) != version(write_tiny_model(tmp_path / "other", threshold=0.5))


def test_other_files_are_never_lost(
    tmp_path: Path, hollow_runtime: Path, tiny: ModelFile, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "page"
    make_page(folder, tiny, hollow_runtime)
    (folder / "page" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"page/mine\.txt"):
        make_page(folder, tiny, hollow_runtime)
    assert (folder / "page" / "mine.txt").read_text() == "mine"
    assert main(["page", str(tiny.path), "--runtime", str(hollow_runtime)]) == 2
    assert main(["page", str(tiny.path / "model.json"), "--runtime", str(hollow_runtime)]) == 2
    assert "give a folder" in capsys.readouterr().err
    assert ModelFile.open(tiny.path) == tiny


def test_models_that_a_page_cannot_read_are_refused(tmp_path: Path, hollow_runtime: Path) -> None:
    meta = {
        "name": "other",
        "engine_format": "openvino",
        "precision": "fp32",
        "look": Preprocessing().to_json(),
        "vocabulary": Vocabulary("x", ("x",), {}).to_json(),
        "decoding": {},
    }
    other = ModelFile.write(tmp_path / "a", meta, {"vat": b"", "pgd": b""})
    with pytest.raises(UsageError, match="onnx"):
        make_page(tmp_path / "page", other, hollow_runtime)
    assert not (tmp_path / "page").exists()


def test_the_runtime_is_found_in_a_folder(tmp_path: Path, hollow_runtime: Path) -> None:
    for place in ("dist", "package/dist", "node_modules/onnxruntime-web/dist"):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        for name in (MODULE, WASM):
            (folder / name).write_bytes(b"x")
        (folder.parent / "LICENSE").write_bytes(b"its own")
        root = tmp_path / place.split("/")[0] if place == "package/dist" else tmp_path
        files = runtime_files(root if place != "package/dist" else tmp_path)
        assert files == {MODULE: b"x", WASM: b"x", "LICENSE": b"its own"}
        (folder / WASM).unlink()
        with pytest.raises(UsageError, match=re.escape(WASM)):
            runtime_files(tmp_path)
        (folder / MODULE).unlink()
    assert b"MIT" in runtime_files(hollow_runtime)["LICENSE"]


def test_an_altered_package_is_not_trusted(tmp_path: Path) -> None:
    package = tmp_path / "onnxruntime-web.tgz"
    with tarfile.open(package, "w:gz") as archive:
        for name in (MODULE, WASM):
            member = tarfile.TarInfo(f"package/dist/{name}")
            member.size = 1
            archive.addfile(member, io.BytesIO(b"x"))
    with pytest.raises(EngineError, match="SHA-256"):
        runtime_files(package)
    with pytest.raises(UsageError, match="no folder"):
        runtime_files(tmp_path / "nowhere")


def test_without_a_network_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    assert main(["page", str(tmp_path / "page")]) == 3
    assert "--runtime" in capsys.readouterr().err
    assert not (tmp_path / "page").exists()


def test_the_module_stays_small() -> None:
    lines = [path.read_text("utf-8").count("\n") for path in (SOURCES / "module").glob("*.js")]
    assert 0 < sum(lines) <= LONGEST_MODULE
