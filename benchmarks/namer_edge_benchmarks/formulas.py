"""The formulas that are read: real ones in their own sizes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from namer_edge.evaluation.samples import Sample, file_samples, pack_samples
from namer_edge.evaluation.steadiness import Drawing, spread
from namer_edge_runtime.bulk import NamedBytes, Source
from namer_edge_runtime.errors import UsageError

DEFAULT = Path("runs/data/test2014.npz")
"""Where `namer-edge data pack` puts CROHME 2014 in README's commands."""


def find(given: Path | None) -> Path:
    """The data to read; raises `UsageError` where none is given and the default is not there."""
    if given is None and not DEFAULT.exists():
        raise UsageError(f"no {DEFAULT} here: give a pack, or a folder or zip of pictures or InkML")
    return given or DEFAULT


def samples(path: Path, limit: int | None = None, as_pictures: bool = False) -> list[Sample]:
    """Of a pack, or of InkML and pictures; `limit` of them, spread evenly. Unreadable ones are
    among them, with their error. Raises `DataError` where nothing is there."""
    packed = path.suffix.lower() == ".npz"
    every = pack_samples(path) if packed else list(file_samples(path, own_labels=True))
    chosen = spread(every, limit) if limit else every
    return [_drawn(sample) for sample in chosen] if as_pictures else chosen


def _drawn(sample: Sample) -> Sample:
    value: Any = sample.source.value
    strokes = getattr(value, "strokes", value)
    if not isinstance(strokes, list | tuple) or not strokes:
        return sample  # a picture, or what cannot be read
    png = NamedBytes(Drawing().png(strokes), sample.source.name)
    return replace(sample, source=Source(sample.source.name, png))
