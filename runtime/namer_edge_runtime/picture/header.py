"""Header of a picture, read before anything is decoded.

It bounds the memory of decoding, so each format is read as its decoder reads it, and what a decoder
might read in another way is refused. A file that ends too early is found here too, since decoders
fill what is missing with gray.
"""

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import PictureError
from .foreign import foreign


@dataclass(frozen=True)
class Header:
    """Format, size in pixels as stored, and EXIF orientation 1 … 8."""

    format: str
    width: int
    height: int
    memory: int
    """Most bytes that OpenCV takes to decode it: the pixels twice, or them and its own buffers."""
    orientation: int = 1


def read_header(data: bytes) -> Header:
    """Raises `PictureError` for what is no picture, of an unknown format, or cut short."""
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
    first, width, height, depth, color = struct.unpack_from(">4sIIBB", data, 12)
    if first != b"IHDR":
        raise ValueError("no header")
    channels, frames = {0: 1, 2: 3, 3: 3}.get(color, 4), 1
    orientation, place = 1, 8
    while True:
        length, kind = struct.unpack_from(">I4s", data, place)
        if place + length + 12 > len(data):
            raise ValueError("cut short")
        if not kind.isalpha():
            raise ValueError("no chunk")
        if kind == b"eXIf":
            orientation = _orientation(data[place + 8 : place + 8 + length])
        if kind == b"tRNS":
            channels = 4
        if kind == b"acTL":  # an animation is put together on canvases of its own
            channels, frames = 4, 2
        if kind == b"IEND":
            memory = 2 * width * height * channels * max(1, depth // 8) * frames
            return Header("PNG", width, height, memory, orientation)
        place += length + 12


def _jpeg(data: bytes) -> Header:
    width, height, samples, orientation, place = 0, 0, [0.0], 1, 2
    progressive = False
    while True:
        mark, kind = struct.unpack_from(">BB", data, place)
        if mark != 0xFF or kind in (0, 0xD8, 0xD9):
            raise ValueError("no marker")
        if kind == 0xFF:  # padding
            place += 1
            continue
        if kind == 1 or 0xD0 <= kind <= 0xD7:  # markers without a length
            place += 2
            continue
        (length,) = struct.unpack_from(">H", data, place + 2)
        body = place + 4
        if kind == 0xE1 and data[body : body + 6] == b"Exif\0\0":
            orientation = _orientation(data[body + 6 : place + 2 + length])
        elif 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            if width:
                raise ValueError("two sizes")
            height, width, components = struct.unpack_from(">HHB", data, body + 1)
            factors = data[body + 7 : body + 6 + 3 * components : 3]
            across, down = [f >> 4 for f in factors], [f & 15 for f in factors]
            if not 1 <= min(across + down) <= max(across + down) <= 4:
                raise ValueError("no sampling")
            most = max(across) * max(down)
            samples = [x * y / most for x, y in zip(across, down, strict=True)]
            progressive = kind in (0xC2, 0xC6, 0xCA, 0xCE)
        elif kind == 0xDA:
            if data.rfind(b"\xff\xd9") < place:
                raise ValueError("no end of image")
            channels = 1 if len(samples) == 1 else 3
            memory = 2 * channels
            if progressive or data[body] < len(samples):  # all coefficients are kept
                memory = max(memory, channels + math.ceil(2 * sum(samples)))
            return Header("JPEG", width, height, width * height * memory, orientation)
        place += 2 + length


def _gif(data: bytes) -> Header:
    width, height = struct.unpack_from("<HH", data, 6)
    return Header("GIF", width, height, 9 * width * height)


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
    return Header("BMP", width, abs(height), 2 * width * abs(height) * (4 if bits == 32 else 3))


def _tiff(data: bytes) -> Header:
    tags = _tiff_tags(data)
    width, height = tags.get(256, 0), tags.get(257, 0)
    samples, bits = tags.get(277, 1), tags.get(258, 1)
    channels = 1 if samples == 1 and tags.get(262) in (0, 1) else max(3, samples)
    pixel = channels * max(1, -(-bits // 8))
    if tags.get(259) in (34676, 34677):  # LogLuv becomes floats
        pixel = 12
    # A strip or tile is unpacked beside the picture, in colors with alpha where it has 8 bits.
    strip = width * min(height, tags.get(278, height))
    part = max(strip, tags.get(322, 0) * tags.get(323, 0)) * max(4, pixel)
    decoded = width * height * pixel
    # OpenCV turns TIFF pictures itself.
    return Header("TIFF", width, height, decoded + max(decoded, part))


def _webp(data: bytes) -> Header:
    if struct.unpack_from("<I", data, 4)[0] + 8 > len(data):
        raise ValueError("cut short")
    width, height, memory, orientation, place = 0, 0, 8, 1, 12
    while place + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, place)
        body = place + 8
        if width:  # the first chunk with a size counts
            pass
        elif kind == b"VP8X":
            flags = data[body]
            memory = 12 if flags & 2 else 8 if flags & 16 else 6
            width = 1 + int.from_bytes(data[body + 4 : body + 7], "little")
            height = 1 + int.from_bytes(data[body + 7 : body + 10], "little")
        elif kind == b"VP8 ":
            width, height = (v & 0x3FFF for v in struct.unpack_from("<HH", data, body + 6))
            memory = 6
        elif kind == b"VP8L":
            (bits,) = struct.unpack_from("<I", data, body + 1)
            width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
            memory = 8 if bits >> 28 & 1 else 6
        if kind == b"EXIF":
            orientation = _orientation(data[body : body + length].removeprefix(b"Exif\0\0"))
        place = body + length + length % 2
    return Header("WebP", width, height, width * height * memory, orientation)


_BLANK = rb"(?:\s|#[^\r\n]*[\r\n])+"
_PNM = re.compile(rb"P[1-6]%b(\d+)%b(\d+)(?:%b(\d+))?" % (_BLANK, _BLANK, _BLANK))


def _pnm(data: bytes) -> Header:
    found = _PNM.match(data)
    if found is None:
        raise ValueError("no size")
    width, height, white = (int(number or 1) for number in found.groups())
    kind = data[1:2]
    channels = 3 if kind in b"36" else 1
    deep = kind not in b"14" and white > 255
    return Header("PNM", width, height, 2 * width * height * channels * (2 if deep else 1))


def _orientation(exif: bytes) -> int:
    """EXIF orientation; 1 where it is missing or broken, since the picture itself may be fine."""
    try:
        value = _tiff_tags(exif).get(274, 1)
    except (struct.error, ValueError):
        return 1
    return value if 1 <= value <= 8 else 1


def _tiff_tags(data: bytes) -> dict[int, int]:
    """First number of each tag of the first directory, 0 for what is no whole number.

    Of a tag that comes twice the first one counts, as in libtiff.
    """
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    if order is None:
        raise ValueError("no TIFF directory")
    (start,) = struct.unpack_from(order + "I", data, 4)
    (count,) = struct.unpack_from(order + "H", data, start)
    tags: dict[int, int] = {}
    for entry in range(start + 2, start + 2 + 12 * count, 12):
        tag, kind, items = struct.unpack_from(order + "HHI", data, entry)
        if tag not in tags:
            number = _INTEGERS.get(kind, "")
            place = entry + 8
            if struct.calcsize(number) * items > 4:
                (place,) = struct.unpack_from(order + "I", data, place)
            tags[tag] = struct.unpack_from(order + number, data, place)[0] if number else 0
    return tags


_INTEGERS = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i"}
"""TIFF type → form of `struct`."""
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
