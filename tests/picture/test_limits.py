"""Large pictures in bounded memory and time; what is larger is refused, claimed or true."""

import io
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from namer_edge_runtime.errors import InkError, PictureError
from namer_edge_runtime.inputs import open_input

LARGE = """
import resource, sys
from namer_edge_runtime.inputs import open_input
from namer_edge_runtime.picture.look import Look
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
prepared = open_input(sys.argv[1]).prepare(Look())
seconds = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
assert not prepared.blank
print(seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def test_100_megapixels_in_bounded_memory_and_time(tmp_path: Path) -> None:
    page = Image.new("L", (10_000, 10_000), 250)
    page.paste(10, (2000, 3000, 2400, 6000))
    page.paste(10, (4000, 4400, 6000, 4800))
    page.save(tmp_path / "page.png", compress_level=1)
    done = subprocess.run(
        [sys.executable, "-c", LARGE, str(tmp_path / "page.png")],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, mebibytes = map(float, done.stdout.split())
    assert seconds < 60  # of the processor; some two are needed
    assert mebibytes < 600  # six bytes a pixel


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


def test_entities_that_grow_are_refused() -> None:
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE ink [<!ENTITY a0 "0 0, ">{levels}]><ink><trace>&a11;</trace></ink>'
    with pytest.raises(InkError):
        open_input(bomb.encode())


def test_an_array_of_more_than_100_megapixels_is_refused() -> None:
    endless = np.broadcast_to(np.uint8(255), (20_000, 20_000))  # takes no memory
    with pytest.raises(PictureError, match="20000 x 20000"):
        open_input(endless)
