"""HEIC and AVIF, where the extra is installed, and what is said where it is not."""

import io
from pathlib import Path

import numpy as np
import pytest

from namer_edge_runtime.errors import PictureError
from namer_edge_runtime.inputs import open_input
from namer_edge_runtime.picture import heif, load

from .test_prepare import page

KINDS = {"HEIC": "HEIF", "AVIF": "AVIF"}


def encoded(kind: str, orientation: int = 1) -> bytes:
    image = pytest.importorskip("PIL.Image").fromarray(page()).convert("RGB")
    pytest.importorskip("pillow_heif").register_heif_opener()
    exif = image.getexif()
    exif[274] = orientation
    file = io.BytesIO()
    image.save(file, KINDS[kind], quality=90, exif=exif)
    return file.getvalue()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_phones_pictures_are_read_with_the_extra(kind: str, tmp_path: Path) -> None:
    data = encoded(kind)
    (tmp_path / "picture").write_bytes(data)
    for value in (data, tmp_path / "picture"):
        picture = open_input(value).picture
        assert picture is not None
        assert picture.shape == page().shape
        assert np.abs(picture.astype(int) - page()).mean() < 6
    assert load.load_color(data).shape == (*page().shape, 3)
    with pytest.raises(PictureError):
        open_input(data[: len(data) // 2])


def test_a_turned_picture_comes_upright() -> None:
    picture = open_input(encoded("AVIF", 6)).picture
    assert picture is not None
    assert picture.shape == page().shape[::-1]


@pytest.mark.parametrize("brand", ["heic", "avif"])
def test_without_the_extra_it_is_named(brand: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heif, "is_installed", lambda: False)
    data = b"\0\0\0\x18ftyp" + brand.encode() + bytes(40)
    with pytest.raises(PictureError, match=r"namer-edge\[heif\]"):
        open_input(data)


def test_too_large_a_picture_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encoded("HEIC")
    monkeypatch.setattr(load, "MAX_PIXELS", 1000)
    with pytest.raises(PictureError, match="million"):
        load.load(data)
