"""Pictures in every form that people have them."""

import io
import random
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from namer_edge_runtime.errors import PictureError
from namer_edge_runtime.picture import load as load_module
from namer_edge_runtime.picture.load import load

Gray = NDArray[np.uint8]


@pytest.fixture
def page() -> Gray:
    """A gray picture that no turn or flip leaves as it is: a thick F, black on white."""
    image = np.full((40, 30), 255, np.uint8)
    image[5:35, 5:10] = image[5:10, 5:25] = image[18:23, 5:18] = 0
    return image


def saved(image: Image.Image, format_: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, format_, **options)
    return file.getvalue()


def close(one: Gray, other: Gray) -> bool:
    return one.shape == other.shape and bool(
        np.abs(one.astype(int) - other).mean() < 3
        and np.abs(cv2.blur(one, (3, 3)).astype(int) - cv2.blur(other, (3, 3))).max() < 48
    )


@pytest.mark.parametrize("format_", ["PNG", "JPEG", "BMP", "TIFF", "WEBP", "GIF", "PPM"])
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_formats(page: Gray, format_: str, mode: str, tmp_path: Path) -> None:
    data = saved(Image.fromarray(page).convert(mode), format_)
    path = tmp_path / "page"
    path.write_bytes(data)
    for value in (data, bytearray(data), memoryview(data), io.BytesIO(data), path, str(path)):
        assert close(load(value), page)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "I", "F"])
def test_modes_of_pil_images_and_of_png(page: Gray, mode: str) -> None:
    image = Image.fromarray(page)
    deep = mode == "I;16"
    image = Image.fromarray(page.astype(np.uint16) * 257) if deep else image.convert(mode)
    assert close(load(image), page)
    if mode not in ("I", "F"):  # PNG has neither
        assert close(load(saved(image, "PNG")), page)


def test_cmyk_jpeg(page: Gray) -> None:
    image = Image.fromarray(page).convert("RGB").convert("CMYK")
    assert close(load(saved(image, "JPEG", quality=95)), page)
    assert close(load(image), page)


@pytest.mark.parametrize("ink", [0, 255])
def test_transparent_ground_contrasts_with_the_ink(page: Gray, ink: int) -> None:
    # Under transparent pixels editors leave any color; here it is that of the ink.
    alpha = 255 - page
    pixels = np.dstack([np.full_like(page, ink)] * 3 + [alpha])
    wanted = page if ink == 0 else 255 - page
    for value in (
        pixels,
        Image.fromarray(pixels),
        saved(Image.fromarray(pixels), "PNG"),
        saved(Image.fromarray(pixels), "WEBP", lossless=True),
        np.dstack([pixels[:, :, 0], alpha]),
    ):
        assert close(load(value), wanted)


def test_transparent_corners_of_an_opaque_page_become_page(page: Gray) -> None:
    alpha = np.full_like(page, 255)
    alpha[:4, :4] = alpha[-4:, -4:] = 0
    assert close(load(np.dstack([page, page, page, alpha])), page)


def test_palette_with_transparency(page: Gray) -> None:
    image = Image.fromarray((page > 127).astype(np.uint8), "L").convert("P")
    image.putpalette([0, 0, 0, 0, 0, 0])
    assert close(load(saved(image, "PNG", transparency=1)), page)
    image.info["transparency"] = 1
    assert close(load(image), page)


def test_a_wholly_transparent_picture_is_blank() -> None:
    assert np.ptp(load(np.zeros((20, 20, 4), np.uint8))) == 0


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("format_", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_a_picture_turned_by_exif_is_upright(page: Gray, orientation: int, format_: str) -> None:
    turned = {
        1: page,
        2: page[:, ::-1],
        3: page[::-1, ::-1],
        4: page[::-1],
        5: page.T,
        6: np.rot90(page),
        7: page[::-1, ::-1].T,
        8: np.rot90(page, -1),
    }[orientation]
    exif = Image.Exif()
    exif[274] = orientation
    data = saved(Image.fromarray(np.ascontiguousarray(turned)), format_, exif=exif)
    assert close(load(data), page)
    assert close(load(Image.open(io.BytesIO(data))), page)


@pytest.mark.parametrize("color", [(255, 230, 0), (0, 0, 200), (200, 0, 0), (0, 160, 0)])
@pytest.mark.parametrize("ground", [255, 0])
def test_colored_ink_stands_out(page: Gray, color: tuple[int, ...], ground: int) -> None:
    pixels = np.full((*page.shape, 3), ground, np.uint8)
    pixels[page == 0] = color
    for value in (pixels, saved(Image.fromarray(pixels), "PNG")):
        gray = load(value).astype(int)
        assert abs(gray[page == 0].mean() - gray[page == 255].mean()) > 70


@pytest.mark.parametrize(
    "convert",
    [
        lambda page: page > 127,
        lambda page: page.astype(np.float32) / 255,
        lambda page: page.astype(np.float64),
        lambda page: page.astype(np.uint16) * 257,
        lambda page: page.astype(np.uint16) * 16,
        lambda page: page.astype(np.int64),
        lambda page: page // 255,
        lambda page: page[:, :, None],
        np.asfortranarray,
        lambda page: np.repeat(page, 2, axis=1)[:, ::2],
    ],
)
def test_arrays_of_any_kind(page: Gray, convert: object) -> None:
    assert (load(convert(page)) == page).all()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"", "empty"),
        (b"this is no picture", "not a picture"),
        (b"\x89PNG\r\n\x1a\n", "cut short"),
        (b"\x89PNG\r\n\x1a\n" + bytes(1 << 20), "damaged"),
        (np.zeros((0, 10), np.uint8), "empty"),
        (np.zeros((2, 3, 4, 5), np.uint8), "shape"),
        (np.zeros((3, 20, 20), np.uint8), "shape"),
        (np.zeros(7, np.uint8), "shape"),
        (np.full((5, 5), np.nan), "finite"),
        (np.zeros((5, 5), np.complex64), "numbers"),
        (np.array([["a"]]), "numbers"),
        (12, "is no picture"),
        ("nowhere.png", "cannot be opened"),
    ],
)
def test_what_is_no_picture_is_a_typed_error(value: object, message: str) -> None:
    with pytest.raises(PictureError, match=message):
        load(value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("paper", "ink"),
    [(-5.0, -5.0), (-1.0, -200.0), (1e300, 0.0), (1.7e308, -1.7e308), (0.0, -1e-320)],
)
def test_numbers_of_any_size_are_stretched(paper: float, ink: float) -> None:
    pixels = np.full((6, 6), paper)
    pixels[2] = ink
    read = load(pixels)
    assert (read[2] == 0).all()
    assert (read[0] == (0 if paper - ink < 1e-300 else 255)).all()


@pytest.mark.parametrize("format_", ["PNG", "JPEG", "BMP", "WEBP", "GIF", "TIFF"])
def test_truncated_pictures_are_typed_errors(format_: str) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (64, 64), np.uint8)
    data = saved(Image.fromarray(noise), format_)
    for share in (0.1, 0.5, 0.9):
        with pytest.raises(PictureError):
            load(data[: int(len(data) * share)])


def test_a_picture_too_large_is_refused_before_it_is_decoded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def chunk(kind: bytes, content: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + crc

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IEND", b"")
    monkeypatch.setattr(cv2, "imdecode", lambda *_: pytest.fail("it was decoded"))
    with pytest.raises(PictureError, match="60000 x 60000"):
        load(bomb)


def test_a_large_array_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_module, "MAX_PIXELS", 1000)
    with pytest.raises(PictureError, match="50 x 40"):
        load(np.zeros((40, 50), np.uint8))
    with pytest.raises(PictureError, match="50 x 40"):
        load(Image.new("L", (50, 40)))


def test_damaged_bytes_give_typed_errors_only(
    page: Gray, capfd: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(5)
    formats = ["PNG", "JPEG", "BMP", "WEBP", "GIF", "TIFF", "PPM"]
    for number in range(400):
        data = bytearray(saved(Image.fromarray(page), formats[number % len(formats)]))
        for _ in range(chance.randint(1, 12)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        with suppress(PictureError):
            assert load(bytes(data)).ndim == 2
    capfd.readouterr()  # decoders of the formats complain on standard error
