"""Pictures with a label file: HME100K, and users' own photos."""

from pathlib import Path

import numpy as np
from tqdm import tqdm

from namer_edge_runtime.bulk.input_files import Source, count, sources
from namer_edge_runtime.errors import NamerEdgeError, PictureError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.inputs import read_file
from namer_edge_runtime.picture.load import load
from namer_edge_runtime.picture.prepare import Lines
from namer_edge_runtime.preprocessing import Preprocessing

from .formula import Formula, Picture, unplaced
from .formula_set import FormulaSet
from .labels import bare, check_unused, label_error, labels_by_name
from .report import Remarks

YARDSTICK = Preprocessing()
"""Preprocessing that measures pictures; any other would give nearly the same."""


def load_pictures(
    pictures: str | Path, labels: str | Path, vocabulary: Vocabulary, *, progress: bool = False
) -> FormulaSet:
    """Loads a folder or zip of pictures, or one, with its label file (`name TAB canonical tokens`).

    Names are those of the files, with or without ending. Formulas have no positions; training
    needs a teacher. Raises `DataError` if pictures or labels cannot be read at all; a single bad
    file goes into the report instead.
    """
    published = labels_by_name(labels)
    formulas: list[Formula] = []
    remarks = Remarks()
    found: set[str] = set()
    packed: set[str] = set()
    files = sources([pictures])
    for source in tqdm(
        files, unit=" files", total=count([pictures]), disable=None if progress else True
    ):
        name = bare(source.name)
        found.add(name)
        label = published.get(name)
        try:
            picture = measured(_content(source))
        except NamerEdgeError as error:
            remarks.add("unreadable", name, str(error))
            continue
        tokens = () if label is None else tuple(label.latex.split())
        if label is None:
            remarks.add("unlabeled", name, "no label, so there is nothing to learn")
        elif (reason := label_error(tokens, vocabulary)) is not None:
            remarks.add("disagreeing", name, reason)
        check_unused(name, packed)
        packed.add(name)
        formulas.append(unplaced(name, tokens, picture=picture))
    for name in sorted(published.keys() - found):
        remarks.add("inkless", name, "no picture")
    return FormulaSet(formulas, remarks.report(len(formulas)))


def measured(data: bytes) -> Picture:
    """A picture file with the size of its ink as the runtime measures it.

    Raises `PictureError` for an unreadable or blank picture.
    """
    lines = Lines.find(load(data), YARDSTICK)
    if lines is None:
        raise PictureError("there is no ink in the picture")
    scale = lines.prepared(YARDSTICK).scale
    corner, bounds = np.array(lines.corner * 2), np.array(lines.skeleton.bounds)
    x0, y0, x1, y1 = (corner + bounds / lines.fine).tolist()
    return Picture(
        np.frombuffer(data, np.uint8),
        (x0, y0, max(x1, x0 + 1), max(y1, y0 + 1)),
        YARDSTICK.symbol_height / scale,
    )


def _content(source: Source) -> bytes:
    if source.error is not None:
        raise source.error
    return read_file(source.value) if isinstance(source.value, Path) else bytes(source.value)
