"""Unsupported formats of pictures and ink, recognized by their first bytes, with a hint."""

import re

from . import heif

_JPEG = "save or send it as JPEG or PNG"
_HEIF = f"{_JPEG}, or install what reads it: {heif.EXTRA}"
_PAGE = "save the page as a PNG"
_STROKES = "export it as a PNG, or its strokes as InkML"
_KINDS = (
    # https://github.com/strukturag/libheif lists the brands of ISO/IEC 23008-12.
    ("HEIC", rb".{4}ftyp(hei|hev|mif1|msf1)", "heic heif hif", _HEIF),
    ("AVIF", rb".{4}ftypavi", "avif avifs", _HEIF),
    ("JPEG XL", rb"\xff\x0a|\0\0\0\x0cJXL ", "jxl", _JPEG),
    ("JPEG 2000", rb"\0\0\0\x0cjP|\xff\x4f\xff\x51", "jp2 j2k", _JPEG),
    ("Photoshop", rb"8BPS", "psd", _JPEG),
    ("a Windows icon", rb"\0\0\x01\0", "ico", _JPEG),
    ("OpenEXR", rb"\x76\x2f\x31\x01", "exr", _JPEG),
    ("GIMP's XCF", rb"gimp xcf", "xcf", _JPEG),
    ("DjVu", rb"AT&TFORM", "djvu djv", _PAGE),
    ("PDF", rb"%PDF", "pdf", _PAGE),
    ("PostScript", rb"%!PS", "ps eps", _PAGE),
    ("SVG", rb"(?=\s*<)(?:\s*<[?!][^>]*>)*\s*<svg\b", "svg", _STROKES),
    ("gzip (as Xournal++'s or SVGZ)", rb"\x1f\x8b", "xopp svgz", _STROKES),
)
_NAMES = "tga dng cr2 cr3 nef arw orf rw2 raf"
"""Suffixes of formats without a signature, such as those of cameras."""
SUFFIXES = frozenset(f".{suffix}" for kind in _KINDS for suffix in kind[2].split())
SUFFIXES |= {f".{suffix}" for suffix in _NAMES.split()}
"""File name suffixes of the formats that are not read, or with an extra only."""


def foreign(data: bytes) -> str:
    """The hint for data of an unsupported format; empty for any other."""
    name, repair = _kind(data)
    if not name or (name in heif.FORMATS and heif.is_installed()):
        return ""
    return f"{name} is not read: {repair}"


def heif_format(data: bytes) -> str:
    """The one of `heif.FORMATS` that the data have; empty for any other."""
    name, _ = _kind(data)
    return name if name in heif.FORMATS else ""


def _kind(data: bytes) -> tuple[str, str]:
    """Name of the unsupported format and what to do about it; empty for any other."""
    head = data[:4096].removeprefix(b"\xef\xbb\xbf")
    for name, mark, _, repair in _KINDS:
        if re.match(mark, head, re.DOTALL):
            return name, repair
    return "", ""
