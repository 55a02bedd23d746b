"""Symbol bank: tables of single symbols as pen strokes (UNIPEN and others) → formulas of one token.

Packed like any other formulas, they are further samples of symbols for `Synthesis`.
"""

import csv
import gzip
import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from namer_edge_runtime.errors import DataError, InkError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.strokes import Strokes, as_strokes, bounds

from .formula import Formula

OOV = "-none-"
"""Token of an out-of-vocabulary sign."""
LOOKALIKES = frozenset(
    (
        *("O", "U", "W", "K", "Z", "J", "\\", "`", "^", "_", "omicron", "\\upsilon", "\\tau"),
        *("\\rho", "\\omega", "\\nu", "\\kappa", "\\iota", "\\eta", "\\chi", "\\epsilon"),
        *("omega", "nu", "Chi"),
        *("Phi", "circle.filled.tiny", "circle.stroked.small", "caret", "slash.big", "or.big"),
        *("subset", "subset.sq", "dot.basic", "arrow.r.dashed", "diff", "quote.high.single"),
    )
)
"""Labels of out-of-vocabulary signs that look like a symbol of the vocabulary."""
COARSEST = 25
"""Least larger side of a sample in units of its source, a single point (0) apart: smaller ones look
like stairs."""


@dataclass(frozen=True)
class SymbolSet:
    """Loaded symbols, and numbers of samples left out by reason."""

    formulas: list[Formula]
    """Each of one symbol, its strokes larger side 1000 units."""
    foreign: int
    """Out-of-vocabulary samples that look like a symbol or have a token."""
    coarse: int
    """Samples smaller than `COARSEST`."""
    held: int = 0
    """Samples held out."""


def load_symbols(
    paths: Iterable[Path], vocabulary: Vocabulary, hold_out: int = 0, oov: bool = True
) -> SymbolSet:
    """Reads tables (.tsv, .tsv.gz) with the columns `token`, the symbol of a sample, or `-none-`
    for an out-of-vocabulary sign, which a column `label` may name; `size`, its larger side in units
    of its source; `strokes`, as `x,y x,y|x,y …`, y down.

    One of `hold_out` samples, chosen by a hash of its strokes, is held out for evaluation (0: none
    is); out-of-vocabulary signs are left out unless `oov`.

    Raises `DataError` with the line for a file that is no such table.
    """
    formulas: list[Formula] = []
    foreign = coarse = held = 0
    for path in paths:
        for line, row in _rows(path):
            try:
                token, size, text = row["token"], float(row["size"]), row["strokes"]
                if not 0 <= size < math.inf:
                    raise ValueError(f"size {size}")
                unknown = oov and token == OOV and row.get("label", OOV) not in LOOKALIKES
                if token not in vocabulary.symbols and not unknown:
                    foreign += 1
                elif 0 < size < COARSEST:
                    coarse += 1
                elif hold_out and is_held_out(text, hold_out):
                    held += 1
                else:
                    formulas.append(_formula(f"{path.name}:{line}", token, _strokes(text)))
            except (KeyError, TypeError, ValueError, AttributeError, InkError) as error:
                raise DataError(
                    f"{path}, line {line}: no sample of a symbol ({error!r}); the table needs the "
                    "columns token, size and strokes, strokes as x,y x,y|x,y"
                ) from error
    return SymbolSet(formulas, foreign, coarse, held)


def is_held_out(strokes: str, one_of: int) -> bool:
    """Whether the sample with these `strokes`, text of the table, is one of those held out."""
    digest = hashlib.sha256(strokes.encode()).digest()
    return int.from_bytes(digest[:8], "big") % one_of == 0


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and columns of each sample; the first line names the columns."""
    try:
        unpacked = gzip.open if path.suffix == ".gz" else open
        with unpacked(path, "rt", encoding="utf-8") as file:
            table = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            yield from enumerate(table, 2)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read as a table of symbols ({error})") from error


def _strokes(text: str) -> Strokes:
    points = [[point.split(",") for point in stroke.split()] for stroke in text.split("|")]
    if not all(len(point) == 2 for stroke in points for point in stroke):
        raise ValueError("a point that is not x,y")
    return as_strokes(points)


def _formula(name: str, token: str, strokes: Strokes) -> Formula:
    box = np.array([bounds(strokes)], np.float32)
    return Formula(
        name,
        strokes,
        np.zeros(len(strokes), np.int32),
        (token,),
        (box[:, :2] + box[:, 2:]) / np.float32(2),
        box,
    )
