"""Position estimates T of the training set, from segmented ink or from a teacher.

Both are in the ink's unit, so that augmentation moves them with the strokes. A teacher's positions
are computed once and cached in a file beside the pack.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.atomic import atomic_file
from namer_edge_runtime.errors import DataError

from ..autoregressive.model import AutoregressiveModel
from ..autoregressive.teacher import Teacher
from ..checkpoints.open import open_checkpoint
from ..checkpoints.weights import load_model
from ..data.formula import Formula
from ..data.pack import source_hash
from .pseudo_positions import predicted_positions

FORMAT = "namer-edge-positions"
FORMAT_VERSION = 1


def with_positions(
    formulas: Sequence[Formula],
    pack: Path,
    teacher: str,
    device: str = "cpu",
    *,
    unsegmented: bool = False,
) -> list[Formula]:
    """The formulas of `pack` with positions by `teacher`, the weights of an autoregressive model or
    a NAMER; "" keeps those of the segmented ink.

    Unsegmented ink gets positions only with `unsegmented`, because synthesis cannot use it.
    Pictures, which synthesis leaves alone, always get them.

    Raises `CheckpointError` for weights that cannot be read, `DataError` for a file of positions
    of other data or another teacher.
    """
    if not teacher:
        return list(formulas)
    weights = Path(teacher)
    _, _, record = load_model(weights)
    about = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "pack": source_hash(pack),
        "teacher": record["sha256"],
    }
    key = hashlib.sha256("\t".join(map(str, about.values())).encode()).hexdigest()[:12]
    path = pack.with_name(f"{pack.stem}.positions-{key}.npz")
    if path.exists():
        positions = _load(path, about, len(formulas))
    else:
        positions = teacher_positions(weights, formulas, device)
        _save(path, about, positions)
    return [
        replace(formula, positions=given)
        if formula.placed or unsegmented or formula.picture is not None
        else formula
        for formula, given in zip(formulas, positions, strict=True)
    ]


def teacher_positions(
    weights: Path, formulas: Sequence[Formula], device: str = "cpu"
) -> list[NDArray[np.float32]]:
    """Positions [V, 2] of each formula by a teacher of any kind; [0, 2] if it finds none."""
    model, preprocessing, _ = load_model(weights)
    if isinstance(model, AutoregressiveModel):
        return Teacher(model, preprocessing, device).positions(formulas)
    return predicted_positions(open_checkpoint(weights, device).recognizer, formulas)


def _save(path: Path, about: dict[str, Any], positions: Sequence[NDArray[np.float32]]) -> None:
    empty = np.zeros((0, 2), np.float32)
    with atomic_file(path) as file:
        np.savez(
            file,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
            lengths=np.array([len(p) for p in positions], np.int64),
            positions=np.concatenate([empty, *positions]),
        )


def _load(path: Path, about: dict[str, Any], count: int) -> list[NDArray[np.float32]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            found = json.loads(file["about"].tobytes())
            lengths, positions = file["lengths"], file["positions"]
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise DataError(
            f"{path}: no positions, or damaged ones ({error}): delete the file, it is made again"
        ) from error
    if found != about or len(lengths) != count or lengths.sum() != len(positions):
        raise DataError(
            f"{path}: these positions belong to other data or another teacher: delete the file, "
            "it is made again"
        )
    return np.split(positions, np.cumsum(lengths)[:-1])
