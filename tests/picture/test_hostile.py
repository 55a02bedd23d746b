"""Pictures and ink made to fill the memory: refused with a typed error, before they do."""

import io
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from namer_edge_runtime.bulk.input_files import count, sources
from namer_edge_runtime.errors import InkError, PictureError
from namer_edge_runtime.ink.inkml import read_inkml
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.inputs import open_input
from namer_edge_runtime.picture.header import read_header
from namer_edge_runtime.preprocessing import Preprocessing, padded_length


def tiff(*tags: tuple[int, int, int]) -> bytes:
    """A TIFF of one directory with these tags (number, type, value), and no pixels."""
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4)


def test_of_a_tiff_tag_that_stands_there_twice_the_first_counts() -> None:
    """As libtiff, which decodes it, has it: the header would tell 10 pixels, and 3 GB be made."""
    huge = tiff((256, 4, 40_000), (256, 4, 10), (257, 4, 40_000))
    assert (read_header(huge).width, read_header(huge).height) == (40_000, 40_000)
    with pytest.raises(PictureError, match="40000 x 40000"):
        open_input(huge)


def test_a_jpeg_of_two_frames_is_refused() -> None:
    file = io.BytesIO()
    Image.new("L", (30, 30), 255).save(file, "JPEG")
    data = file.getvalue()
    place = data.index(b"\xff\xc0")
    length = struct.unpack_from(">H", data, place + 2)[0]
    frame = bytearray(data[place : place + 2 + length])
    frame[5:9] = struct.pack(">HH", 60_000, 60_000)
    with pytest.raises(PictureError, match="damaged"):
        open_input(data[:place] + bytes(frame) + data[place:])


@pytest.mark.parametrize("mode", ["RGBA", "I;16", "RGB"])
def test_memory_counts_and_not_pixels_alone(mode: str) -> None:
    """100 million pixels: fine in gray, not of eight bytes each."""
    file = io.BytesIO()
    Image.new(mode, (1, 1)).save(file, "PNG")
    data = bytearray(file.getvalue())
    data[16:24] = struct.pack(">II", 10_000, 10_000)
    deep = data[:24] + bytes([16, 6]) + data[26:]
    with pytest.raises(
        PictureError, match=r"10000 x 10000 pixels would take 1600 MB.*scale it down"
    ):
        open_input(bytes(deep))
    floats = tiff((256, 4, 10_000), (257, 4, 10_000), (258, 3, 64), (277, 3, 1))
    with pytest.raises(PictureError, match="would take 4800 MB"):
        open_input(floats)
    with pytest.raises(PictureError, match="would take 800 MB"):
        open_input(np.broadcast_to(np.zeros(4, np.uint8), (10_000, 10_000, 4)))


def test_entities_are_refused_before_they_grow() -> None:
    bomb = b'<!DOCTYPE ink [<!ENTITY a "' + b"1 1," * 1000 + b'">]><ink><trace>' + b"&a;" * 9
    for data in (bomb, bomb.decode().encode("utf-16")):
        with pytest.raises(InkError, match="entities"):
            read_inkml(data)


MEASURE = """
import resource, sys
from namer_edge_runtime.ink.inkml import read_inkml
data = b"<ink><trace>" + b",".join([b"12.5 7"] * int(sys.argv[1])) + b"</trace></ink>"
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read_inkml(data)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, len(data) / 2**20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_ink_takes_a_bounded_multiple_of_its_bytes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, "990000"], capture_output=True, text=True, check=True
    )
    taken, size = map(float, done.stdout.split())
    assert taken < 30 * size  # it was 80


def test_more_points_or_bytes_than_a_page_has_are_refused() -> None:
    with pytest.raises(InkError, match="points"):
        read_inkml(b"<ink><trace>" + b"1 1," * 1_000_001 + b"</trace></ink>")
    with pytest.raises(InkError, match="MiB"):
        read_inkml(b"<ink>" + b"<trace/>" * (1 << 21) + b"</ink>")


@settings(deadline=None)
@given(
    st.floats(10, 1e4),
    st.floats(10, 1e4),
    st.floats(1e-3, 1e-1),
    st.sampled_from([256, 512, 1024, 2048]),
)
def test_ink_that_is_scaled_to_fit_keeps_the_size_limits(
    width: float, height: float, symbol: float, limit: int
) -> None:
    look = Preprocessing(max_width=limit, max_height=min(limit, 2048))
    strokes = [
        np.array([[0, 0], [width, height]], np.float32),
        *(np.array([[0, 0], [symbol / 9, symbol]], np.float32) for _ in range(8)),
    ]
    rows, columns = render(strokes, look).image.shape
    assert rows <= padded_length(look.max_height)
    assert columns <= padded_length(look.max_width)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes there")
def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    file = io.BytesIO()
    Image.new("L", (30, 30), 255).save(file, "PNG")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert count([pipe]) == 1
    writer = threading.Thread(target=pipe.write_bytes, args=(file.getvalue(),))
    writer.start()
    (source,) = sources([pipe])
    writer.join()
    assert bytes(source.value) == file.getvalue()
    assert open_input(source.value).picture is not None


@pytest.mark.skipif(sys.platform != "linux", reason="no limit of the address space there")
@pytest.mark.parametrize("megabytes", [120, 200, 300, 400, 500, 700])
def test_little_memory_is_told_as_such(megabytes: int, tmp_path: Path) -> None:
    Image.new("L", (3000, 3000), 255).save(tmp_path / "page.png")
    code = (
        "import resource, sys\nfrom namer_edge_runtime.command import main\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes << 20}, {megabytes << 20}))\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "recognize", tmp_path / "page.png", "--threads", "1"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},  # each takes address space, used or not
    )
    assert "report it" not in done.stderr
    assert "damaged" not in done.stderr
    assert "Traceback" not in done.stderr


STARVED = """
import resource, sys
from namer_edge_runtime.errors import PictureError
from namer_edge_runtime.inputs import open_input
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
for room in (20, 40, 80, 120, 160, 240):
    resource.setrlimit(resource.RLIMIT_AS, (taken + (room << 20), resource.RLIM_INFINITY))
    try:
        open_input(sys.argv[1])
    except PictureError as error:
        assert "not enough memory for a picture of 8000 x 5000" in str(error), error
        print(room)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no limit of the address space there")
def test_a_picture_for_which_memory_is_short_is_refused_as_such(tmp_path: Path) -> None:
    """Alone, so that others of the same run are read all the same."""
    Image.new("RGB", (8000, 5000), "white").save(tmp_path / "page.png")
    done = subprocess.run(
        [sys.executable, "-c", STARVED, tmp_path / "page.png"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) >= 3
