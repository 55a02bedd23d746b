"""Unsupported formats of pictures and ink, recognized by their first bytes, with a hint."""

import re

_JPEG = "save or send it as JPEG or PNG"
_PAGE = "save the page as a PNG"
_STROKES = "export it as a PNG, or its strokes as InkML"
_KINDS = (
    # https://github.com/strukturag/libheif lists the brands of ISO/IEC 23008-12.
    ("HEIC", rb".{4}ftyp(hei|hev|mif1|msf1)", "heic heif hif", _JPEG),
    ("AVIF", rb".{4}ftypavi", "avif avifs", _JPEG),
    ("JPEG XL", rb"\xff\x0a|\0\0\0\x0cJXL ", "jxl", _JPEG),
    ("JPEG 2000", rb"\0\0\0\x0cjP|\xff\x4f\xff\x51", "jp2 j2k", _JPEG),
    ("PDF", rb"%PDF", "pdf", _PAGE),
    ("PostScript", rb"%!PS", "ps eps", _PAGE),
    ("SVG", rb"(?=\s*<)(?:\s*<[?!][^>]*>)*\s*<svg\b", "svg", _STROKES),
    ("gzip (as Xournal++'s or SVGZ)", rb"\x1f\x8b", "xopp svgz", _STROKES),
)
SUFFIXES = frozenset(f".{suffix}" for kind in _KINDS for suffix in kind[2].split())
"""File name suffixes of the unsupported formats."""


def foreign(data: bytes) -> str:
    """The hint for data of an unsupported format; empty for any other."""
    head = data[:4096].removeprefix(b"\xef\xbb\xbf")
    for name, mark, _, repair in _KINDS:
        if re.match(mark, head, re.DOTALL):
            return f"{name} is not read: {repair}"
    return ""
