"""Symbol bank: tables of single symbols as pen strokes (UNIPEN and others) → formulas of one token.

Packed like any other formulas, they are further samples of symbols for `Synthesis`.
"""

import csv
import gzip
import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from namer_edge_runtime.errors import DataError, InkError, LatexError
from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.strokes import Strokes, as_strokes, bounds

from .formula import Formula

OOV = "-none-"
"""Token of an out-of-vocabulary sign."""
ROOT = "\\sqrt"
"""The relation whose sign tables hold as a symbol."""
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
_UNLIKE = """
mars mercury jupiter saturn neptune taurus aries leo scorpio aquarius capricornus pisces libra
sagittarius gemini virgo cancer ascnode earth Pluto pluto uranus lightning skull smiley frownie
clock phone Bat Ankh Yinyang bell pointer Telefon Mobilefone Faxmachine textsection textparagraph
textcopyright textregistered texttrademark textsterling textyen EUR EURtm textwon textnumero
textrecipe textmusicalnote textinterrobang textonehalf textonequarter textthreequarters
textperthousand maltese Game Finv bowtie pitchfork spadesuit heartsuit clubsuit natural sharp flat
rightsquigarrow leftrightsquigarrow circlearrowright circlearrowleft curvearrowright curvearrowleft
looparrowright looparrowleft between wr amalg ss ae AE oe OE thorn TH dh eth textyogh textesh
mathfrak{A} mathfrak{S} mathfrak{R} mathfrak{M} mathfrak{F} mathfrak{P} mathfrak{J}
"""
UNLIKE = frozenset("\\" + name for name in _UNLIKE.split())
"""Labels of Detexify that look like no symbol of a vocabulary of everyday mathematics."""
_NAMES = {
    "~": "\\sim",
    "\\": "\\backslash",
    **dict.fromkeys(("\\dotsb", "\\dotsm"), "\\cdots"),
    **dict.fromkeys(("\\sqrt{}", "\\surd", "\\textsurd"), ROOT),
}
"""Labels of tables that mean another token than LaTeX reads in them."""
_STYLES = (
    (r"^\\mathds", r"\\mathbb"),
    (r"^\\mathscr", r"\\mathcal"),
    (r"^\\up(?=[a-z]{2})", r"\\"),
    (r"^\\Up(?=[a-z]{2})(\w)", lambda found: "\\" + found[1].upper()),
)
"""Styled labels that are written like another one, such as `\\upalpha`: pattern and replacement."""
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
    paths: Iterable[Path],
    vocabulary: Vocabulary,
    hold_out: int = 0,
    oov: bool = True,
    held_out: bool = False,
) -> SymbolSet:
    """Reads tables (.tsv, .tsv.gz) with the columns `token`, the symbol of a sample, or `-none-`
    for an out-of-vocabulary sign, which a column `label` may name; `size`, its larger side in units
    of its source; `strokes`, as `x,y x,y|x,y …`, y down. A column `writer` goes into the names.

    One of `hold_out` samples, chosen by a hash of its strokes, is held out for evaluation (0: none
    is); with `held_out` those alone are loaded. Out-of-vocabulary signs are left out unless `oov`.

    Raises `DataError` with the line for a file that is no such table.
    """
    formulas: list[Formula] = []
    signs = {*vocabulary.symbols, *({ROOT} & vocabulary.relations.keys())}
    foreign = coarse = held = 0
    classes: dict[str, str] = {}
    for path in paths:
        for line, row in _rows(path):
            try:
                token, size, text = row["token"], float(row["size"]), row["strokes"]
                if not 0 <= size < math.inf:
                    raise ValueError(f"size {size}")
                label = row.get("label") or OOV
                if token == OOV or label in vocabulary:
                    token = classes.setdefault(label, _token(label, vocabulary))
                known = label in UNLIKE if label.startswith("\\") else label not in LOOKALIKES
                unknown = oov and token == OOV and known
                if token not in signs and not unknown:
                    foreign += 1
                elif 0 < size < COARSEST:
                    coarse += 1
                elif hold_out and is_held_out(text, hold_out) is not held_out:
                    held += 1
                else:
                    name = f"{path.name}:{line}"
                    if (writer := row.get("writer") or "?") != "?":
                        name += f":{writer}"
                    formulas.append(_formula(name, token, _strokes(text)))
            except (KeyError, TypeError, ValueError, AttributeError, InkError) as error:
                raise DataError(
                    f"{path}, line {line}: no sample of a symbol ({error!r}); the table needs the "
                    "columns token, size and strokes, strokes as x,y x,y|x,y"
                ) from error
    return SymbolSet(formulas, foreign, coarse, held)


def writer_of(name: str) -> str:
    """The writer of a sample by the name of its formula; "" if unknown."""
    parts = name.split(":")
    return f"{parts[0]}:{parts[2]}" if len(parts) == 3 else ""


def is_held_out(strokes: str, one_of: int) -> bool:
    """Whether the sample with these `strokes`, text of the table, is one of those held out."""
    digest = hashlib.sha256(strokes.encode()).digest()
    return int.from_bytes(digest[:8], "big") % one_of == 0


def _token(label: str, vocabulary: Vocabulary) -> str:
    """The symbol that LaTeX reads in a label (`\\mathds{R}` → `\\mathbb{R}`), or `OOV`."""
    name = _NAMES.get(label, label)
    for pattern, written in _STYLES:
        styled = re.sub(pattern, written, label)
        name = styled if styled in vocabulary else name
    if name == ROOT and name in vocabulary:
        return name
    try:
        tokens = [name] if "{" in name else normalize(name, vocabulary)
    except LatexError:
        return OOV
    return tokens[0] if len(tokens) == 1 and tokens[0] in vocabulary.symbols else OOV


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
        (token, "{", "}") if token == ROOT else (token,),
        (box[:, :2] + box[:, 2:]) / np.float32(2),
        box,
    )
