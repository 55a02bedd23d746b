"""Packs: a loaded data set in one .npz file, which opens in about a second and holds no pickle.

Arrays are memory-mapped: only used parts are read, and the processes of a run share them.
"""

import hashlib
import json
import struct
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.atomic import atomic_file
from namer_edge_runtime.errors import DataError

from .formula import Formula, Picture
from .mapped_npz import map_arrays, write_arrays
from .report import Report

FORMAT = "namer-edge-pack"
INK_ALONE, WITH_PICTURES = 1, 2
"""Versions of the format; a pack has the lowest possible one."""
_DAMAGE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, IndexError),
    *(RuntimeError, struct.error, zipfile.BadZipFile),
)
"""Exceptions of NumPy, JSON and zipfile for a damaged file."""


@dataclass(frozen=True)
class Pack:
    """Formulas, the report on their source files, and the SHA-256 of those."""

    formulas: list[Formula]
    report: Report
    sources: dict[str, str]
    """File name of the ink and of the labels → SHA-256."""


def save_pack(path: str | Path, pack: Pack) -> None:
    """Writes `pack` to `path` (.npz) atomically; raises `DataError` or `UsageError` if it cannot be
    written."""
    path = Path(path)
    formulas = pack.formulas
    pictures = [formula.picture for formula in formulas]
    strokes = [stroke for formula in formulas for stroke in formula.strokes]
    meta = {
        "format": FORMAT,
        "format_version": WITH_PICTURES if any(pictures) else INK_ALONE,
        "sources": pack.sources,
        "report": pack.report.to_json(),
        "names": [formula.name for formula in formulas],
        "labels": [" ".join(formula.tokens) for formula in formulas],
    }
    arrays: dict[str, Any] = {
        "meta": np.frombuffer(json.dumps(meta).encode(), np.uint8),
        "strokes": _lengths(formula.strokes for formula in formulas),
        "nodes": _lengths(formula.positions for formula in formulas),
        "stroke_points": _lengths(strokes),
        "points": _joined(strokes, 2, np.float32),
        "symbols": _joined([formula.symbols for formula in formulas], 0, np.int32),
        "positions": _joined([formula.positions for formula in formulas], 2, np.float32),
        "boxes": _joined([formula.boxes for formula in formulas], 4, np.float32),
    }
    if any(pictures):
        frames = [(*p.box, p.symbol) if p else (0.0,) * 5 for p in pictures]
        arrays["frames"] = np.array(frames, np.float64)
        arrays["picture_bytes"] = _lengths(p.data if p else b"" for p in pictures)
        arrays["pictures"] = _joined([p.data for p in pictures if p], 0, np.uint8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as file:
            write_arrays(file, arrays)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from error


def load_pack(path: str | Path) -> Pack:
    """Reads a pack; raises `DataError` if it is missing, damaged, no pack, or of an unknown version
    of the format."""
    try:
        arrays = map_arrays(path)
        meta = json.loads(arrays["meta"].tobytes())
        version = meta["format_version"] if meta["format"] == FORMAT else None
    except FileNotFoundError as error:
        raise DataError(f"{path}: not there; make it with `namer-edge data pack`") from error
    except _DAMAGE as error:
        raise DataError(f"{path}: no pack, or a damaged one ({error})") from error
    if version not in (INK_ALONE, WITH_PICTURES):
        raise DataError(
            f"{path}: pack format {version}, but this version reads up to {WITH_PICTURES}; "
            "make it again with `namer-edge data pack`"
        )
    try:
        formulas = _formulas(meta, arrays)
        return Pack(formulas, Report.from_json(meta["report"]), meta["sources"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DataError(f"{path}: the parts of this pack do not fit together ({error})") from error


def source_hash(path: str | Path) -> str:
    """SHA-256 of a file, or of the names and contents of all files in a folder."""
    path = Path(path)
    total = hashlib.sha256()
    try:
        if path.is_file():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        for file_path in sorted(p for p in path.rglob("*") if p.is_file()):
            with file_path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            total.update(f"{file_path.relative_to(path).as_posix()}\t{digest}\n".encode())
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error})") from error
    return total.hexdigest()


def _lengths(items: Iterable[Sequence[Any] | NDArray[Any] | bytes]) -> NDArray[np.int64]:
    return np.array([len(item) for item in items], np.int64)


def _joined(parts: Sequence[NDArray[Any]], width: int, dtype: type) -> NDArray[Any]:
    empty: NDArray[Any] = np.zeros((0, width) if width else 0, dtype)
    return np.concatenate([empty, *parts]).astype(dtype, copy=False)


def _split(array: NDArray[Any], lengths: NDArray[np.int64]) -> list[NDArray[Any]]:
    ends = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    if ends[-1] != len(array) or lengths.min(initial=0) < 0:
        raise ValueError(f"{len(array)} rows where {ends[-1]} belong")
    return [array[start:end] for start, end in pairwise(ends)]


_DTYPES = {
    **dict.fromkeys(("strokes", "nodes", "stroke_points", "picture_bytes"), np.int64),
    **dict.fromkeys(("points", "positions", "boxes"), np.float32),
    "symbols": np.int32,
    "frames": np.float64,
    "pictures": np.uint8,
}
"""Types of a pack's arrays."""


def _formulas(meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> list[Formula]:
    for name, dtype in _DTYPES.items():
        if name in arrays and arrays[name].dtype != dtype:
            raise ValueError(f"{name} are {arrays[name].dtype}, no {np.dtype(dtype)}")
    if not all(isinstance(name, str) for name in meta["names"]):
        raise ValueError("names are no text")
    for name, width in (("points", 2), ("positions", 2), ("boxes", 4)):
        if arrays[name].shape[1:] != (width,):
            raise ValueError(f"{name} are not rows of {width} numbers")
    if not all(np.isfinite(arrays.get(name, 0)).all() for name in ("points", "frames")):
        raise ValueError("points or frames are no finite numbers")
    strokes = _split(arrays["points"], arrays["stroke_points"])
    counts = arrays["strokes"].tolist()
    starts = np.concatenate([[0], np.cumsum(arrays["strokes"])]).tolist()
    pictures: list[Picture | None] = [None] * len(counts)
    if meta["format_version"] == WITH_PICTURES:
        parts_of = zip(
            _split(arrays["pictures"], arrays["picture_bytes"]),
            arrays["frames"].tolist(),
            strict=True,
        )
        pictures = [
            Picture(data, (x0, y0, x1, y1), symbol) if len(data) else None
            for data, (x0, y0, x1, y1, symbol) in parts_of
        ]
    parts = zip(
        meta["names"],
        meta["labels"],
        starts[:-1],
        counts,
        _split(arrays["symbols"], arrays["strokes"]),
        _split(arrays["positions"], arrays["nodes"]),
        _split(arrays["boxes"], arrays["nodes"]),
        pictures,
        strict=True,
    )
    return [
        Formula(
            name,
            strokes[start : start + count],
            symbols,
            tuple(label.split()),
            positions,
            boxes,
            picture,
        )
        for name, label, start, count, symbols, positions, boxes, picture in parts
    ]
