"""Reference readings: formulas that a model file carries with what its exporter read in them.

They are hard for the model, so that arithmetic which differs from the exporter's changes answers.
Each formula is read in one pass, and its score is as decoding gives it: scalings, which are fitted
later, do not change it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .errors import ModelFileError
from .ink.strokes import Strokes, as_strokes
from .model_file import ModelFile
from .recognizer import Recognizer

KEY = "reference_readings"
"""In `model.json`: {"ink": sources, "readings": [{"strokes", "latex", "score"}, …]}."""
TOLERANCE = 0.2
"""Largest difference of a score: exact engines round in another order, which moves hard ones."""
FEWEST_EQUAL = 14
"""Of 16. Exact engines read about 1 % of formulas otherwise, more of the hard ones."""


@dataclass(frozen=True)
class ReadAgain:
    """Count of reference readings that an engine repeats, and the formulas that differ."""

    equal: int
    total: int
    differing: tuple[str, ...]
    """Readings: the engine's, the reference."""


def readings(recognizer: Recognizer, inks: list[str]) -> list[dict[str, Any]]:
    """A reference in `model.json`: strokes, LaTeX and score of a single pass."""
    once = _once(recognizer)
    found = []
    for ink in inks:
        result = once.strokes(strokes_of(ink))
        found.append({"strokes": ink, "latex": result.latex, "score": round(result.score, 4)})
    return found


def read_again(model: ModelFile, recognizer: Recognizer) -> ReadAgain | None:
    """Reads the model's reference formulas; None where the file, an older one, has none.

    Raises `ModelFileError` where they are malformed.
    """
    reference = model.meta.get(KEY)
    if reference is None:
        return None
    once, differing = _once(recognizer), []
    try:
        known: list[Mapping[str, Any]] = list(reference["readings"])
        for reading in known:
            result = once.strokes(strokes_of(reading["strokes"]))
            near = abs(result.score - float(reading["score"])) <= TOLERANCE
            if result.latex != reading["latex"] or not near:
                differing.append(
                    f"{result.latex} ({result.score:.2f}) for {reading['latex']} "
                    f"({reading['score']:.2f})"
                )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{model.path}: {KEY} are malformed ({error!r}): export the model again"
        ) from error
    return ReadAgain(len(known) - len(differing), len(known), tuple(differing))


def strokes_of(ink: str) -> Strokes:
    """Strokes of `x,y x,y|x,y …`, points parted by spaces and strokes by bars."""
    lines = [[point.split(",") for point in stroke.split()] for stroke in ink.split("|")]
    return as_strokes([[tuple(map(float, point)) for point in line] for line in lines])


def _once(recognizer: Recognizer) -> Recognizer:
    decoding = replace(recognizer.decoding, tta_scales=())
    return Recognizer(recognizer.engine, recognizer.preprocessing, recognizer.vocabulary, decoding)
