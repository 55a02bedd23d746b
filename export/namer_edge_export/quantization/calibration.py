"""Calibration: what activations are on real ink, sizes as they occur.

PGD is calibrated on the nodes that VAT picks in these very pictures, surplus ones included, for
that is what it meets on a device.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from namer_edge.evaluation.samples import pack_samples
from namer_edge_runtime.bulk.input_files import Source, count, sources
from namer_edge_runtime.errors import DataError, NamerEdgeError
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.preprocessing import Prepared, Preprocessing
from namer_edge_runtime.recognizer import Recognizer

SIZE = 300
"""Formulas drawn for a calibration."""


@dataclass(frozen=True)
class Calibration:
    """Formulas drawn from a data set, prepared as the model reads them."""

    pictures: tuple[Prepared, ...]
    names: tuple[str, ...]
    data: str
    """File name of what they were drawn from."""
    seed: int
    sha256: str
    """SHA-256 of names and prepared pictures, in order."""

    def to_json(self) -> dict[str, Any]:
        """Record for the model file."""
        return {
            "data": self.data,
            "seed": self.seed,
            "sha256": self.sha256,
            "size": len(self.names),
            "names": list(self.names),
        }


def draw(data: Path, preprocessing: Preprocessing, size: int = SIZE, seed: int = 0) -> Calibration:
    """A seeded draw of `size` formulas from a pack (.npz), or from InkML or pictures in a folder
    or zip; blank and unreadable ones among them are left out. Of ink for a look with stroke planes
    every second one is as a picture.

    Raises `DataError` where nothing is there or nothing of it can be read.
    """
    found: Iterable[Source]
    if data.suffix.lower() == ".npz":
        packed = [sample.source for sample in pack_samples(data)]
        found, total = packed, len(packed)
    else:
        found, total = sources([data]), count([data])
    rng = np.random.default_rng(seed)
    chosen = set(rng.choice(total, min(size, total), replace=False).tolist())
    names: list[str] = []
    pictures: list[Prepared] = []
    digest = hashlib.sha256()
    for number, source in enumerate(found):
        if number not in chosen or source.error is not None:
            continue
        try:
            picture = prepare_input(source.value, preprocessing)
        except NamerEdgeError:
            continue
        if picture.blank:
            continue
        if len(pictures) % 2:  # what reads strokes reads pictures too
            picture = replace(picture, strokes=None)
        # Inside a data set, the file's own name tells a formula; where the set lies does not.
        name = Path(source.name.replace("::", "/")).name
        digest.update(f"{name}\t{picture.image.shape}\n".encode() + picture.image.tobytes())
        if picture.strokes is not None:
            digest.update(picture.strokes.tobytes())
        names.append(name)
        pictures.append(picture)
    if not pictures:
        raise DataError(
            f"{data}: no formula in it can be read, so nothing can be calibrated on it: give the "
            "data that the model was trained on"
        )
    return Calibration(tuple(pictures), tuple(names), data.name, seed, digest.hexdigest())


def vat_inputs(
    calibration: Calibration, preprocessing: Preprocessing
) -> Iterator[dict[str, NDArray[Any]]]:
    """The input of the VAT graph for each picture, alone: `image` uint8 [1, channels, H, W]."""
    for picture in calibration.pictures:
        yield {"image": picture.planes(preprocessing.inputs)[None]}


def pgd_inputs(
    calibration: Calibration, recognizer: Recognizer
) -> Iterator[dict[str, NDArray[Any]]]:
    """All inputs of the PGD graph for each picture, alone, while `recognizer` reads it.

    One after the other, since the features of all pictures at once are much to hold.
    """
    for picture in calibration.pictures:
        yield vars(recognizer.single_pass.stages([picture]).pgd_inputs)
