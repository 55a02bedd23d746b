"""Parity of an exported model with its checkpoint, from pictures to LaTeX."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from namer_edge.evaluation.samples import file_samples, pack_samples
from namer_edge.model.engine import TorchEngine
from namer_edge.model.namer import Namer
from namer_edge_runtime.bulk.input_files import NamedBytes, Source
from namer_edge_runtime.engine.base import open_engine
from namer_edge_runtime.errors import DataError, ExportError, NamerEdgeError
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.inputs import LoadedInput, open_input
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer

LEAST = 99.8
"""Percent of readings that must be identical, token for token."""
MARGIN = 1e-3
"""Scores of two readings that differ may lie this far apart: then rounding tipped the balance."""


@dataclass(frozen=True)
class Difference:
    """A picture that is not read the same."""

    name: str
    expected: str
    """Canonical tokens that the checkpoint reads."""
    read: str
    """Tokens that the exported model reads."""
    margin: float
    """Difference of the two readings' scores."""


@dataclass(frozen=True)
class Parity:
    """Readings of an exported model beside those of its checkpoint."""

    data: str
    engine: str
    total: int
    differences: tuple[Difference, ...]

    @property
    def identical(self) -> float:
        """Percent of pictures that both read the same."""
        return 100 * (1 - len(self.differences) / self.total)

    @property
    def passed(self) -> bool:
        return self.identical >= LEAST and all(d.margin < MARGIN for d in self.differences)

    def to_json(self) -> dict[str, Any]:
        return {
            "data": self.data,
            "engine": self.engine,
            "total": self.total,
            "identical": round(self.identical, 3),
            "differences": [difference.name for difference in self.differences],
        }

    def text(self) -> str:
        lines = [
            f"{self.engine} reads {self.identical:.2f}% of {self.total} pictures ({self.data}) "
            "as the checkpoint does"
        ]
        lines += [
            f"  {d.name}: {d.expected or 'nothing'} → {d.read or 'nothing'} (scores {d.margin:.1g} "
            "apart)"
            for d in self.differences
        ]
        return "\n".join(lines)

    def check(self) -> None:
        """Raises `ExportError` where too many differ, or one by more than rounding explains."""
        if self.passed:
            return
        far = sum(difference.margin >= MARGIN for difference in self.differences)
        raise ExportError(
            f"{self.engine} reads {self.identical:.2f}% of {self.data} as the checkpoint does "
            f"({LEAST}% are needed), {far} of the others with scores {MARGIN} or more apart: "
            "nothing was written; please report this with the versions that `namer-edge check` "
            "prints"
        )


@dataclass(frozen=True)
class Pictures:
    """Formulas as picture files, or as ink, and where they come from."""

    files: tuple[NamedBytes | LoadedInput, ...]
    data: str

    @classmethod
    def of(cls, data: Path, preprocessing: Preprocessing) -> "Pictures":
        """Every formula of `data`: a pack (.npz), or InkML or pictures in a folder or zip. Ink
        becomes a PNG, black on white, drawn at the size that suits `preprocessing`; with stroke
        planes every second formula stays ink. What cannot be read is left out.

        Raises `DataError` where nothing is there or nothing of it can be read.
        """
        packed = data.suffix.lower() == ".npz"
        samples = pack_samples(data) if packed else file_samples(data, own_labels=False)
        files: list[NamedBytes | LoadedInput] = []
        for sample in samples:
            opened = _opened(sample.source)
            if opened is not None and preprocessing.stroke_planes and len(files) % 2:
                files.append(opened)
            elif opened is not None and (image := _drawn(opened, preprocessing)) is not None:
                png = cv2.imencode(".png", image)[1].tobytes()
                files.append(NamedBytes(png, sample.source.name))
        if not files:
            raise DataError(f"{data}: no formula in it can be read, so nothing can be verified")
        return cls(tuple(files), data.name)


def _opened(source: Source) -> LoadedInput | None:
    if source.error is not None:
        return None
    try:
        return replace(open_input(source.value), name=source.name)
    except NamerEdgeError:
        return None


def _drawn(opened: LoadedInput, preprocessing: Preprocessing) -> NDArray[np.uint8] | None:
    try:
        return (
            opened.picture
            if opened.strokes is None
            else 255 - render(opened.strokes, preprocessing).image
        )
    except NamerEdgeError:
        return None


def parity(namer: Namer, model: ModelFile, engine: str, pictures: Pictures) -> Parity:
    """`namer` and what was exported from it on each picture, in one pass."""
    decoding = replace(model.decoding, tta_scales=())
    expected, exported = (
        Recognizer(each, model.preprocessing, model.vocabulary, decoding)
        for each in (TorchEngine.of(namer), open_engine(engine, model, threads=1))
    )
    bar = tqdm(pictures.files, f"verify {engine}", unit=" formulas", disable=None)
    found = (compare(picture, expected, exported) for picture in bar)
    differences = tuple(difference for difference in found if difference is not None)
    return Parity(pictures.data, engine, len(pictures.files), differences)


def compare(
    picture: NamedBytes | LoadedInput, expected: Recognizer, exported: Recognizer
) -> Difference | None:
    """Both on one picture; None where they read the same, or cannot read it for the same reason."""
    a, b = (recognizer.each([picture])[0] for recognizer in (expected, exported))
    texts = [str(x) if isinstance(x, NamerEdgeError) else x.canonical for x in (a, b)]
    if texts[0] == texts[1]:
        return None
    scores = [0.0 if isinstance(x, NamerEdgeError) else x.score for x in (a, b)]
    return Difference(picture.name, texts[0], texts[1], abs(scores[0] - scores[1]))
