"""Headers of picture files, read before anything is decoded.

The size and depth bound the memory of decoding. Truncated files are refused here, since decoders
fill missing parts with gray.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import PictureError
from .foreign import foreign

MOST_ITEMS = 16
"""Most values of a TIFF tag that is read; no tag that bounds memory has more."""


@dataclass(frozen=True)
class Header:
    """Format, size in pixels as stored, EXIF orientation 1 … 8, and memory once decoded."""

    format: str
    width: int
    height: int
    orientation: int = 1
    pixel_bytes: int = 4
    """Most bytes of a decoded pixel."""


def read_header(data: bytes) -> Header:
    """The header of a picture file.

    Raises `PictureError` for data that is no picture, of an unknown format, or truncated.
    """
    for mark, offset, reader in _READERS:
        if data[offset : offset + len(mark)] == mark:
            try:
                header = reader(data)
            except (struct.error, IndexError, ValueError):
                raise PictureError("the picture is cut short or damaged: save it again") from None
            if header.width < 1 or header.height < 1:
                raise PictureError(f"the {header.format} picture says it has no pixels")
            return header
    known = "not a picture: give PNG, JPEG, BMP, TIFF, WebP, GIF or PNM"
    raise PictureError(foreign(data) or known)


def _png(data: bytes) -> Header:
    width, height, depth, color = struct.unpack_from(">IIBB", data, 16)
    pixel_bytes = {0: 1, 2: 3, 3: 4, 4: 4, 6: 4}.get(color, 4) * (2 if depth == 16 else 1)
    orientation, place = 1, 8
    while True:
        length, kind = struct.unpack_from(">I4s", data, place)
        if place + length + 12 > len(data):
            raise ValueError("cut short")
        if not kind.isalpha():
            raise ValueError("no chunk")
        if kind == b"eXIf":
            orientation = _orientation(data[place + 8 : place + 8 + length])
        if kind == b"IEND":
            return Header("PNG", width, height, orientation, pixel_bytes)
        place += length + 12


def _jpeg(data: bytes) -> Header:
    size, orientation, place = (0, 0), 1, 2
    while True:
        (mark, kind, length) = struct.unpack_from(">BBH", data, place)
        if mark != 0xFF:
            raise ValueError("no marker")
        if kind == 0xFF:  # padding
            place += 1
            continue
        body = place + 4
        if kind == 0xE1 and data[body : body + 6] == b"Exif\0\0":
            orientation = _orientation(data[body + 6 : place + 2 + length])
        elif 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            if size != (0, 0):
                raise ValueError("two frames")
            size = struct.unpack_from(">HH", data, body + 1)
        elif kind == 0xDA:
            if data.rfind(b"\xff\xd9") < place:
                raise ValueError("no end of image")
            return Header("JPEG", size[1], size[0], orientation)
        place += 2 + length


def _gif(data: bytes) -> Header:
    return Header("GIF", *struct.unpack_from("<HH", data, 6))


def _bmp(data: bytes) -> Header:
    start, size = struct.unpack_from("<II", data, 10)
    if size == 12:
        width, height, _, bits = struct.unpack_from("<HHHH", data, 18)
        compression = 0
    else:
        width, height, _, bits, compression = struct.unpack_from("<iiHHI", data, 18)
    row = (abs(width) * bits + 31) // 32 * 4
    if compression == 0 and start + row * abs(height) > len(data):
        raise ValueError("cut short")
    return Header("BMP", width, abs(height))


def _tiff(data: bytes) -> Header:
    tags = _tiff_tags(data)
    samples, depth = tags.get(277, (1, 1))[0], max(tags.get(258, (1, 1)))
    if not 1 <= samples <= 8 or depth > 64:
        raise ValueError("no samples that a picture has")
    pixel_bytes = max(samples, 3) * -(-depth // 8)  # palettes become colors
    # OpenCV turns TIFF pictures itself.
    size = (tags.get(256, (0,))[0], tags.get(257, (0,))[0])
    return Header("TIFF", *size, pixel_bytes=pixel_bytes)


def _webp(data: bytes) -> Header:
    if struct.unpack_from("<I", data, 4)[0] + 8 > len(data):
        raise ValueError("cut short")
    size, found, orientation, place = (0, 0), (0, 0), 1, 12
    while place + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, place)
        body = place + 8
        if kind == b"VP8X":
            found = (
                1 + int.from_bytes(data[body + 4 : body + 7], "little"),
                1 + int.from_bytes(data[body + 7 : body + 10], "little"),
            )
        elif kind == b"VP8 ":
            width, height = struct.unpack_from("<HH", data, body + 6)
            found = (width & 0x3FFF, height & 0x3FFF)
        elif kind == b"VP8L":
            (bits,) = struct.unpack_from("<I", data, body + 1)
            found = (1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        elif kind == b"EXIF":
            orientation = _orientation(data[body : body + length].removeprefix(b"Exif\0\0"))
        size = (max(size[0], found[0]), max(size[1], found[1]))
        place = body + length + length % 2
    return Header("WebP", *size, orientation)


def _pnm(data: bytes) -> Header:
    lines = (line.split(b"#")[0] for line in data[2:1024].splitlines())
    words = b" ".join(lines).split()
    return Header("PNM", int(words[0]), int(words[1]), pixel_bytes=6)


def _orientation(exif: bytes) -> int:
    """EXIF orientation; 1 where it is missing or broken, since the picture itself may be fine."""
    try:
        value = _tiff_tags(exif).get(274, (1,))[0]
    except (struct.error, ValueError):
        return 1
    return value if 1 <= value <= 8 else 1


def _tiff_tags(data: bytes) -> dict[int, tuple[int, ...]]:
    """Values of each short or long tag in the first directory.

    The first of duplicate tags counts, as in libtiff.
    """
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    if order is None:
        raise ValueError("no TIFF directory")
    (start,) = struct.unpack_from(order + "I", data, 4)
    (count,) = struct.unpack_from(order + "H", data, start)
    tags: dict[int, tuple[int, ...]] = {}
    for entry in range(start + 2, start + 2 + 12 * count, 12):
        tag, kind, items = struct.unpack_from(order + "HHI", data, entry)
        if kind in (3, 4) and 1 <= items <= MOST_ITEMS:
            letter, size = ("H", 2) if kind == 3 else ("I", 4)
            place = entry + 8
            if items * size > 4:  # they stand elsewhere
                (place,) = struct.unpack_from(order + "I", data, place)
            tags.setdefault(tag, struct.unpack_from(f"{order}{items}{letter}", data, place))
    return tags


_READERS: tuple[tuple[bytes, int, Callable[[bytes], Header]], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, _png),
    (b"\xff\xd8", 0, _jpeg),
    (b"GIF8", 0, _gif),
    (b"BM", 0, _bmp),
    (b"II*\0", 0, _tiff),
    (b"MM\0*", 0, _tiff),
    (b"WEBP", 8, _webp),
    *((b"P%d" % kind, 0, _pnm) for kind in range(1, 7)),
)
