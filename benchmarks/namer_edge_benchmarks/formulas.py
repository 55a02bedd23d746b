"""The formulas that are read: real ones in their own sizes."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from namer_edge.evaluation.cli_options import spread
from namer_edge.evaluation.robustness import Drawing
from namer_edge.evaluation.samples import Sample, file_samples, pack_samples
from namer_edge_runtime.bulk.input_files import NamedBytes, Source
from namer_edge_runtime.errors import UsageError

DEFAULT = Path("runs/data/test2014.npz")
"""Default pack: CROHME 2014."""


def find(given: Path | None) -> Path:
    """The data to read; raises `UsageError` where none is given and the default is not there."""
    if given is None and not DEFAULT.exists():
        raise UsageError(f"no {DEFAULT} here: give a pack, or a folder or zip of pictures or InkML")
    return given or DEFAULT


def samples(
    path: Path,
    limit: int | None = None,
    as_pictures: bool = False,
    only: Collection[str] = (),
) -> list[Sample]:
    """Of a pack, or of InkML and pictures; `limit` of them, spread evenly. Unreadable ones are
    among them, with their error. With `only`, those whose label has no other tokens.

    Raises `DataError` where nothing is there, `UsageError` where no label is of such tokens.
    """
    packed = path.suffix.lower() == ".npz"
    every = pack_samples(path) if packed else list(file_samples(path, own_labels=True))
    if only:
        every = [sample for sample in every if _is_of(sample, {*only, "{", "}"})]
        if not every:
            raise UsageError(f"{path}: no label is written with {' '.join(only)} alone")
    chosen = spread(every, limit) if limit else every
    return [_drawn(sample) for sample in chosen] if as_pictures else chosen


def strokes_of(sample: Sample) -> list[Any]:
    """Arrays [n, 2]; none for a picture and for what cannot be read."""
    value: Any = sample.source.value
    strokes = getattr(value, "strokes", value)
    return list(strokes) if isinstance(strokes, list | tuple) else []


def _is_of(sample: Sample, tokens: Collection[str]) -> bool:
    label = sample.label.latex.split() if sample.label else []
    return bool(label) and set(label) <= set(tokens)


def _drawn(sample: Sample) -> Sample:
    strokes = strokes_of(sample)
    if not strokes:
        return sample
    png = NamedBytes(Drawing().png(strokes), sample.source.name)
    return replace(sample, source=Source(sample.source.name, png))
