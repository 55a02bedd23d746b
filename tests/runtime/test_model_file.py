"""Opening and writing model files, whole ones and broken ones."""

import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.errors import ModelFileError, UsageError
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.model_file import META, ModelFile, locate, packaged_models
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer

from .tiny_model import formula, write_tiny_model


@pytest.fixture
def folder(tiny_model: ModelFile, tmp_path: Path) -> Path:
    """A copy of the model that a test may break."""
    return Path(shutil.copytree(tiny_model.path, tmp_path / "model"))


def change_meta(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    meta = json.loads((folder / "model.json").read_text())
    change(meta)
    (folder / "model.json").write_text(json.dumps(meta))


def test_a_model_file_says_all_about_itself(tiny_model: ModelFile) -> None:
    opened = ModelFile.open(tiny_model.path)
    assert opened == tiny_model
    assert (opened.name, opened.engine_format, opened.precision) == ("tiny", "onnx", "fp32")
    assert opened.vocabulary.tokens == ("1", "-", "^")
    assert set(opened.parts) == {"vat", "pgd"}
    assert opened.meta["licence"] == "Apache-2.0"
    assert len(opened.read("vat")) == opened.parts["vat"].bytes


def test_a_zip_is_a_model_file_too(tmp_path: Path) -> None:
    write_tiny_model(tmp_path / "tiny.zip")
    recognizer = Recognizer.from_pretrained(tmp_path / "tiny.zip")
    assert recognizer.strokes(formula("1 - 1")).canonical == "1 - 1"


def test_equal_models_are_equal_zips(tmp_path: Path) -> None:
    write_tiny_model(tmp_path / "a.zip")
    write_tiny_model(tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize("name", ["m", "m.zip"])
def test_writing_again_replaces_the_old_model_and_leaves_nothing_behind(
    tmp_path: Path, name: str
) -> None:
    write_tiny_model(tmp_path / name, epsilon=0.25)
    write_tiny_model(tmp_path / name, epsilon=0.75)
    assert ModelFile.open(tmp_path / name).decoding.epsilon == 0.75
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_failed_write_leaves_the_old_model(tmp_path: Path) -> None:
    model = write_tiny_model(tmp_path / "m")
    with pytest.raises(ModelFileError, match="look"):
        ModelFile.write(tmp_path / "m", {**model.meta, "look": {"color": "red"}}, {"vat": b""})
    assert ModelFile.open(tmp_path / "m") == model
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_nothing_there_names_the_packaged_models() -> None:
    with pytest.raises(ModelFileError, match=r"no model 'nowhere'.*packaged model"):
        ModelFile.open("nowhere")
    assert all(ModelFile.open(name).name for name in packaged_models())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda meta: meta.update(format="other"), "not that of a namer-edge model"),
        (lambda meta: meta.update(format_version=2), "format version 2 is unknown"),
        (lambda meta: meta.pop("look"), "incomplete"),
        (lambda meta: meta.pop("vocabulary"), "incomplete"),
        (lambda meta: meta.update(parts=[]), "parts is"),
        (lambda meta: meta["look"].update(color="red"), "unknown keys"),
        (lambda meta: meta["decoding"].update(beam=3), "unknown keys"),
        (lambda meta: meta["decoding"].update(epsilon="half"), "decoding.epsilon"),
        (lambda meta: meta["parts"]["vat"].update(file="gone.onnx"), "missing"),
        (lambda meta: meta["parts"]["vat"].update(file="../secret"), "leaves"),
        (lambda meta: meta["parts"]["vat"].update(file="/etc/passwd"), "leaves"),
        (lambda meta: meta["parts"]["vat"].update(file="a/../../secret"), "leaves"),
        (lambda meta: meta["parts"]["vat"].update(file="C:\\secret"), "leaves"),
        (lambda meta: meta["parts"]["vat"].update(sha256="0" * 64), "SHA-256"),
    ],
)
def test_a_wrong_model_json_is_refused(
    folder: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    change_meta(folder, change)
    with pytest.raises(ModelFileError, match=message):
        ModelFile.open(folder)


PACKAGED = json.loads((locate("crohme-edge") / META).read_text("utf-8"))
HOSTILE = (None, True, -1, 0, 1e9, float("nan"), float("inf"), "a", [], {}, [1], {"a": 1})
FIELDS = [
    *((table, key) for table in ("look", "decoding") for key in PACKAGED[table]),
    *((table, None) for table in ("look", "decoding", "scalings", "vocabulary", "parts")),
    *(("vocabulary", key) for key in PACKAGED["vocabulary"]),
    *(("scalings", key) for key in PACKAGED["scalings"]),
    *(("name", None), ("engine_format", None), ("precision", None)),
]


@pytest.mark.parametrize(("table", "key"), FIELDS)
def test_a_hostile_value_is_refused_by_its_name_or_does_no_harm(
    table: str, key: str | None
) -> None:
    messages = []
    for value in HOSTILE:
        meta = json.loads(json.dumps(PACKAGED))
        if key is None:
            meta[table] = value
        else:
            meta[table][key] = value
        try:
            model = ModelFile._from_meta(locate("crohme-edge"), meta)
        except ModelFileError as error:
            messages.append(str(error))
        else:
            assert 2 <= model.decoding.max_nodes <= 4096
            assert model.vocabulary.endings.max() <= 2
            render([np.array([[0, 0], [30, 40]], np.float32)], model.preprocessing)
    assert len(messages) >= 6
    assert all(table in message or (key or table) in message for message in messages)


@pytest.mark.parametrize("kind", [Preprocessing, DecodingOptions])
@pytest.mark.parametrize("value", [None, True, -1, float("nan"), float("inf"), "a", {}])
def test_impossible_options_are_refused_in_python_too(
    kind: type[Preprocessing | DecodingOptions], value: Any
) -> None:
    for one in fields(kind):
        if one.metadata:
            with pytest.raises(UsageError, match=one.name):
                kind(**{one.name: value})


def test_a_missing_part_is_refused(folder: Path) -> None:
    (folder / "pgd.onnx").unlink()
    with pytest.raises(ModelFileError, match=r"pgd\.onnx is missing"):
        ModelFile.open(folder)


@pytest.mark.parametrize("content", [b"", b"other", None])
def test_an_altered_part_is_refused(folder: Path, content: bytes | None) -> None:
    part = folder / "vat.onnx"
    whole = part.read_bytes()
    part.write_bytes(whole + b"x" if content is None else content)
    with pytest.raises(ModelFileError, match=r"vat\.onnx is not the file"):
        ModelFile.open(folder)


def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    shutil.move(folder / "vat.onnx", tmp_path / "outside.onnx")
    (folder / "vat.onnx").symlink_to(tmp_path / "outside.onnx")
    with pytest.raises(ModelFileError, match="leaves"):
        ModelFile.open(folder)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\x00"])
def test_a_model_json_that_is_none_is_refused(folder: Path, content: bytes) -> None:
    (folder / "model.json").write_bytes(content)
    with pytest.raises(ModelFileError):
        ModelFile.open(folder)


def test_a_folder_or_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04 and no more")
    (tmp_path / "x.txt").write_text("text")
    (tmp_path / "x").mkdir()
    for name in ("x.zip", "x.txt", "x"):
        with pytest.raises(ModelFileError):
            ModelFile.open(tmp_path / name)


def test_a_damaged_zip_is_refused(tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "m.zip").path
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("vat.onnx").header_offset + 60
    data[start : start + 40] = b"\0" * 40
    path.write_bytes(data)
    with pytest.raises(ModelFileError):
        ModelFile.open(path)


def test_a_model_takes_the_place_of_an_older_one(tiny_model: ModelFile, tmp_path: Path) -> None:
    parts = {role: tiny_model.read(role) for role in tiny_model.parts}
    for name in ("first", "second"):
        ModelFile.write(tmp_path / "m", {**tiny_model.meta, "name": name}, parts)
    assert ModelFile.open(tmp_path / "m").name == "second"
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_a_folder_with_other_files_is_never_replaced(tiny_model: ModelFile, tmp_path: Path) -> None:
    parts = {role: tiny_model.read(role) for role in tiny_model.parts}
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    (tmp_path / "file").write_text("also mine")
    with pytest.raises(UsageError, match=r"thesis\.txt"):
        ModelFile.write(tmp_path / "mine", tiny_model.meta, parts)
    with pytest.raises(UsageError, match="is a file"):
        ModelFile.write(tmp_path / "file", tiny_model.meta, parts)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"
    assert (tmp_path / "file").read_text() == "also mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "mine"]
