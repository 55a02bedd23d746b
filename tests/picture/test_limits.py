"""Large pictures in bounded memory and time; what is larger is refused, claimed or true."""

import io
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from namer_edge_runtime.errors import InkError, PictureError
from namer_edge_runtime.inputs import open_input
from namer_edge_runtime.picture.header import read_header
from namer_edge_runtime.picture.load import MAX_MEMORY

LARGE = """
import resource, sys
from namer_edge_runtime.inputs import open_input
from namer_edge_runtime.preprocessing import Preprocessing
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
prepared = open_input(sys.argv[1]).prepare(Preprocessing())
seconds = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
assert not prepared.blank
print(seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def spent(path: Path) -> tuple[float, float]:
    """Seconds of the processor and MiB that opening and preparing a picture takes."""
    done = subprocess.run(
        [sys.executable, "-c", LARGE, str(path)], capture_output=True, text=True, check=True
    )
    seconds, mebibytes = map(float, done.stdout.split())
    return seconds, mebibytes


def test_100_megapixels_in_bounded_memory_and_time(tmp_path: Path) -> None:
    page = Image.new("L", (10_000, 10_000), 250)
    page.paste(10, (2000, 3000, 2400, 6000))
    page.paste(10, (4000, 4400, 6000, 4800))
    page.save(tmp_path / "page.png", compress_level=1)
    seconds, mebibytes = spent(tmp_path / "page.png")
    assert seconds < 60  # of the processor; some two are needed
    assert mebibytes < 600  # six bytes a pixel


@pytest.mark.parametrize(("channels", "dtype"), [(4, np.uint16), (4, np.uint8), (1, np.float32)])
def test_all_depths_keep_to_the_same_memory(tmp_path: Path, channels: int, dtype: type) -> None:
    """A picture as large as the limit lets it be, half of it transparent; then arrays larger."""
    rows = MAX_MEMORY // 2 // (8000 * channels * np.dtype(dtype).itemsize)
    page = np.full((rows, 8000, channels), 60_000 if dtype == np.uint16 else 250, dtype)
    page[1000:1500, 2000:4000, :3] = 10
    file = tmp_path / ("page.tif" if channels == 1 else "page.png")
    if channels == 1:
        Image.fromarray(page[:, :, 0]).save(file, compression="tiff_adobe_deflate")
    else:
        page[rows // 2 :, :, 3] = 0
        cv2.imwrite(str(file), page, [cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE])
    assert spent(file)[1] < 600
    larger = np.broadcast_to(page[:1], (rows + 1, *page.shape[1:]))
    with pytest.raises(PictureError, match="would take 601 MB, more than 600: scale it down"):
        open_input(larger)


@pytest.mark.parametrize(("depth", "color"), [(16, 6), (16, 2), (8, 6), (16, 4)])
def test_deep_pictures_are_refused_by_their_header(depth: int, color: int) -> None:
    file = io.BytesIO()
    Image.new("L", (30, 30), 255).save(file, "PNG")
    data = bytearray(file.getvalue())
    struct.pack_into(">IIBB", data, 16, 10_000, 10_000, depth, color)
    with pytest.raises(
        PictureError, match=r"10000 x 10000 pixels would take \d+ MB, more than 600"
    ):
        open_input(bytes(data))


@pytest.mark.parametrize("size", [(100_001, 1000), (20_000, 20_000)])
@pytest.mark.parametrize("format_", ["PNG", "TIFF", "BMP"])
def test_more_than_100_megapixels_are_refused(size: tuple[int, int], format_: str) -> None:
    file = io.BytesIO()
    Image.new("1", size).save(
        file, format_, **({"compression": "group4"} if format_ == "TIFF" else {})
    )
    with pytest.raises(PictureError, match=f"{size[0]} x {size[1]}"):
        open_input(file.getvalue())


def test_pixels_that_the_header_hides_are_not_unpacked() -> None:
    """A PNG of 30 x 30 whose data would unpack to 128 MiB."""
    file = io.BytesIO()
    Image.new("L", (30, 30), 255).save(file, "PNG")
    data = file.getvalue()
    place = data.index(b"IDAT")
    packer = zlib.compressobj(1)
    block = bytes(1 << 20)
    packed = b"".join([*(packer.compress(block) for _ in range(1 << 7)), packer.flush()])
    chunk = b"IDAT" + packed
    bomb = (
        data[: place - 4]
        + len(packed).to_bytes(4, "big")
        + chunk
        + zlib.crc32(chunk).to_bytes(4, "big")
        + data[data.index(b"IEND") - 4 :]
    )
    try:
        opened = open_input(bomb)
    except PictureError:
        return
    assert opened.picture is not None
    assert opened.picture.shape == (30, 30)


def tiff(*tags: tuple[int, int, int], data: bytes = b"") -> bytes:
    """TIFF of these tags (number, type, value) in this order; `data` begins at byte 8."""
    place = 8 + len(data)
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    return (
        b"II*\0"
        + struct.pack("<I", place)
        + data
        + struct.pack("<H", len(tags))
        + entries
        + b"\0" * 4
    )


SMALL = [(258, 3, 8), (259, 3, 8), (262, 3, 1), (273, 4, 8), (277, 3, 1), (278, 4, 1 << 20)]


@pytest.mark.parametrize("kind", [4, 9])
def test_of_a_tag_that_comes_twice_the_first_counts_as_in_libtiff(kind: int) -> None:
    rows = zlib.compress(bytes(24_000 * 100))
    sizes = [(256, kind, 24_000), (256, 4, 10), (257, 4, 24_000)]
    with pytest.raises(PictureError, match="24000 x 24000"):
        open_input(tiff(*sizes, *SMALL, (279, 4, len(rows)), data=rows))


def test_a_tile_larger_than_its_picture_counts() -> None:
    sizes = [(256, 4, 30), (257, 4, 30)]
    tiles = [(322, 4, 30_000), (323, 4, 30_000), (324, 4, 8), (325, 4, 9)]
    with pytest.raises(PictureError, match="30 x 30 pixels would take 3601 MB"):
        open_input(tiff(*sizes, *SMALL, *tiles, data=zlib.compress(b"\0")))


def jpeg(size: tuple[int, int]) -> bytes:
    file = io.BytesIO()
    Image.new("L", size, 255).save(file, "JPEG")
    return file.getvalue()


@pytest.mark.parametrize("start", [b"\xff\xd0", b"\xff\x01", b"\xff\x00"], ids=["RST", "TEM", "0"])
def test_a_size_behind_a_marker_without_length_counts(start: bytes) -> None:
    """Read as a segment, the marker would hide the true size and lead on to a false one."""
    hidden = start + jpeg((2000, 2000))[2:]
    (length,) = struct.unpack_from(">H", hidden, 2)
    data = b"\xff\xd8" + hidden.ljust(2 + length) + jpeg((16, 16))[2:]
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    assert pixels.shape == (2000, 2000)
    try:
        header = read_header(data)
    except PictureError:
        return
    assert (header.width, header.height) == (2000, 2000)


def test_a_jpeg_of_two_sizes_is_refused() -> None:
    small = jpeg((16, 16))
    place = small.index(b"\xff\xc0")
    with pytest.raises(PictureError, match="damaged"):
        read_header(small[:place] + small[place : place + 13] + small[place:])


@pytest.mark.parametrize("progressive", [False, True])
def test_coefficients_of_a_progressive_jpeg_count(progressive: bool) -> None:
    file = io.BytesIO()
    Image.new("RGB", (500, 400)).save(file, "JPEG", progressive=progressive, subsampling=0)
    assert read_header(file.getvalue()).memory == 500 * 400 * (9 if progressive else 6)


def test_a_long_comment_does_not_cut_a_size_short() -> None:
    comment = b"#" + b"x" * 1013 + b"\n"
    with pytest.raises(PictureError, match="30000 x 30000"):
        open_input(b"P5" + comment + b"30000 30000 255\n" + bytes(900))


def test_the_first_size_of_a_webp_counts() -> None:
    def chunk(size: int) -> bytes:
        side = (size - 1).to_bytes(3, "little")
        return b"VP8X" + struct.pack("<I", 10) + bytes(4) + side + side

    body = b"WEBP" + chunk(16_000) + chunk(10)
    with pytest.raises(PictureError, match="16000 x 16000"):
        open_input(b"RIFF" + struct.pack("<I", len(body)) + body)


LEVELS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize(
    ("declared", "content"),
    [
        (f'<!ENTITY a0 "0 0, ">{LEVELS}', "<trace>&a11;</trace>"),
        (f'<!ENTITY a "{"1 1," * 100}">', f"<trace>{'&a;' * 100}</trace>"),
        (f'<!ENTITY % a "{"1 1," * 100}">', "<trace>1 1</trace>"),
        (f'<!ATTLIST x y CDATA "{"z" * 10_000}">', f"<trace>1 1</trace>{'<x/>' * 100}"),
    ],
    ids=["nested", "repeated", "parameter", "attribute"],
)
def test_declarations_that_grow_are_refused(declared: str, content: str, encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE ink [{declared}]>'
    bomb = f"{head}<ink>{content}</ink>"
    with pytest.raises(InkError, match="declares entities or attributes"):
        open_input(bomb.encode(encoding))


def test_a_doctype_that_declares_nothing_is_read() -> None:
    head = '<!DOCTYPE ink PUBLIC "-//W3C//DTD InkML 1.0//EN" "http://www.w3.org/inkml.dtd">'
    assert open_input(f"{head}<ink><trace>1 1, 2 2</trace></ink>".encode()).strokes


def test_an_array_of_more_than_100_megapixels_is_refused() -> None:
    endless = np.broadcast_to(np.uint8(255), (20_000, 20_000))  # takes no memory
    with pytest.raises(PictureError, match="20000 x 20000"):
        open_input(endless)
