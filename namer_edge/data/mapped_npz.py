"""Uncompressed .npz files whose arrays can be memory-mapped."""

import mmap
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

ALIGNMENT = 64
"""Bytes that arrays are aligned to; NumPy is slow on unaligned ones."""
PADDING_FIELD = 0xD935
"""Id of the zip extra field for alignment padding (Android's)."""
LOCAL_HEADER = 30
ZIP64_FIELD = 20
LARGE = 1 << 30
"""Size in bytes from which a member has 64-bit lengths in a longer header."""


def write_arrays(file: IO[bytes], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes an .npz of numeric arrays, readable by `np.load`, into an empty seekable file."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            large = array.nbytes > LARGE
            header = LOCAL_HEADER + len(info.filename) + 4 + ZIP64_FIELD * large
            room = -(file.tell() + header) % ALIGNMENT
            info.extra = struct.pack("<HH", PADDING_FIELD, room) + bytes(room)
            with archive.open(info, "w", force_zip64=large) as member:
                npy.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def map_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Maps the arrays of an .npz read-only after verifying its checksums.

    Raises `OSError`, `ValueError` or `zipfile.BadZipFile` for another kind of file, a damaged or
    compressed one, or one with pickles.
    """
    with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        damaged = archive.testzip()
        if damaged is not None:
            raise zipfile.BadZipFile(f"{damaged} in it is not what was written")
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return {
            member.filename.removesuffix(".npy"): _mapped(whole, archive, member)
            for member in archive.infolist()
        }


def _mapped(whole: mmap.mmap, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    if member.compress_type != zipfile.ZIP_STORED:
        raise zipfile.BadZipFile(f"{member.filename} in it is compressed")
    with archive.open(member) as stream:
        version = npy.read_magic(stream)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, column_major, dtype = read_header(stream)
        header = stream.tell()
    if dtype.hasobject:
        raise ValueError(f"{member.filename} in it is a pickle")
    lengths = struct.unpack_from("<HH", whole, member.header_offset + LOCAL_HEADER - 4)
    start = member.header_offset + LOCAL_HEADER + sum(lengths) + header
    count = int(np.prod(shape, dtype=np.int64))
    if start + count * dtype.itemsize > len(whole):
        raise ValueError(f"{member.filename} in it is cut short")
    array = np.frombuffer(whole, dtype, count, start).reshape(
        shape, order="F" if column_major else "C"
    )
    return array if array.flags.aligned else array.copy()
