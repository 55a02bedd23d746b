"""Files that somebody expects to be read and that are not: counted, named, and what to do."""

import zipfile
from pathlib import Path

import pytest

from namer_edge_runtime.errors import NamerEdgeError
from namer_edge_runtime.inputs import open_input
from namer_edge_runtime.picture import heif

from .conftest import Run
from .drawing import picture, png

FILES = {
    "f.heic": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "HEIC is not read: save or send it as JPEG"),
    "g.jpg": (b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "HEIC is not read"),
    "h.avif": (b"\0\0\0\x1cftypavif\0\0\0\0", "AVIF is not read: save or send it as JPEG"),
    "i.pdf": (b"%PDF-1.7\n", "PDF is not read: save the page as a PNG"),
    "j.svg": (b'<?xml version="1.0"?>\n<!-- a -->\n<svg xmlns="x"/>', "SVG is not read: export it"),
    "k.xopp": (b"\x1f\x8b\x08\0", "Xournal++"),
    "l.jxl": (b"\xff\x0a\0", "JPEG XL is not read"),
}


@pytest.fixture(autouse=True)
def _without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """HEIC and AVIF as the default install sees them, whatever is installed here."""
    monkeypatch.setattr(heif, "is_installed", lambda: False)


@pytest.mark.parametrize("name", FILES)
def test_alone_it_says_what_it_is(name: str, tmp_path: Path) -> None:
    data, told = FILES[name]
    (tmp_path / name).write_bytes(data)
    for value in (data, tmp_path / name):
        with pytest.raises(NamerEdgeError) as raised:
            open_input(value)
        assert told in str(raised.value)


@pytest.mark.parametrize("zipped", [False, True])
def test_in_a_folder_or_zip_they_count_and_are_named(
    recognize: Run, tmp_path: Path, zipped: bool
) -> None:
    place = tmp_path / "in"
    place.mkdir()
    (place / "a.png").write_bytes(png(picture("1")))
    for name, (data, _) in FILES.items():
        (place / name).write_bytes(data)
    (place / "notes.txt").write_text("nobody expects this to be read")
    if zipped:
        with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
            for file in place.iterdir():
                archive.write(file, file.name)
        place = tmp_path / "in.zip"
    code, output, errors = recognize(place)
    assert code == 1
    assert [line.split("\t")[1] for line in output.splitlines()] == ["1"]
    assert f"{len(FILES)} of {len(FILES) + 1} inputs failed" in errors
    for name, (_, told) in FILES.items():
        assert name in errors
        assert told in errors


@pytest.mark.parametrize("name", ["x.jfif", "X.JFIF", "x.pjpeg", "x.heic"])
def test_a_picture_by_another_name_is_read(recognize: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(png(picture("1")))
    assert recognize(tmp_path) == (0, f"{tmp_path / name}\t1\n", "")


def test_an_office_document_is_called_one(recognize: Run, tmp_path: Path) -> None:
    for name in ("a.docx", "a.pptx"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("[Content_Types].xml", "<Types/>")
            archive.writestr("word/document.xml", "<w/>")
        code, _, errors = recognize(tmp_path / name)
        assert code == 1
        assert f"{name}: an Office document" in errors
        assert "InkML" in errors
