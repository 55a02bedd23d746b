"""Reference readings of an exported model, read with exact arithmetic.

`python -m namer_edge_export.references TABLES -o references.json` composes the formulas from single
symbols of Omniglot and Detypify, tables as `namer_edge.data.symbols` reads them.
"""

import argparse
import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from namer_edge_runtime.engine.base import Engine, open_engine
from namer_edge_runtime.engine.onnxruntime import OnnxRuntimeEngine
from namer_edge_runtime.ink.strokes import Strokes, bounds
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.reference_readings import readings, strokes_of

INKS = Path(__file__).with_name("references.json")
"""{"ink": sources, "formulas": [{"written", "strokes"}, …]}."""
COUNT = 16
HARD = 0.48
"""Scores below are hard for the model that formulas are composed for: 0.7 once they are scaled."""
STEADY = 0.05
"""Largest difference of their scores between exact engines."""
UNIT = 48.0
"""Height of a letter, in units of the ink, whose coordinates are whole numbers."""
GREEK = (
    *("\\alpha", "\\beta", "\\gamma", "\\theta", "\\lambda"),
    *("\\mu", "\\pi", "\\sigma", "\\phi", "\\Delta"),
)
SIGNS = ("+", "\\neq", "\\pm")
SOURCES = {"omniglot": "Omniglot (MIT)", "detypify": "Detypify (MIT)"}


def reference_readings(model: ModelFile) -> dict[str, Any]:
    """The entry of `model.json`: every formula as the model reads it with exact arithmetic."""
    inks = json.loads(INKS.read_text("utf-8"))
    recognizer = _recognizer(model, exact_engine(model))
    return {
        "ink": inks["ink"],
        "readings": readings(recognizer, [formula["strokes"] for formula in inks["formulas"]]),
    }


def exact_engine(model: ModelFile) -> Engine:
    """For ONNX the graphs as they are written, in float, without a kernel for int8; else the
    model's own engine."""
    if model.engine_format == "onnx":
        return OnnxRuntimeEngine(model, threads=1, optimize=False)
    return open_engine(None, model, threads=1)


def _recognizer(model: ModelFile, engine: Engine) -> Recognizer:
    return Recognizer.of_model(model, engine, calibrated=False)


Hands = dict[str, list[Strokes]]


class Composer:
    """Sets formulas in symbols of many hands, at random."""

    def __init__(self, hands: Hands, seed: int) -> None:
        self.hands, self.rng = hands, np.random.default_rng(seed)
        self.letters = sorted(token for token in hands if len(token) == 1 and token.isalpha())
        self.letters += [token for token in GREEK if token in hands]

    def formula(self) -> tuple[str, Strokes]:
        """LaTeX tokens, and ink."""
        whole: Callable[[], tuple[str, Strokes]] = (self.fraction, self.row, self.root)[
            self.rng.integers(3)
        ]
        return whole()

    def fraction(self) -> tuple[str, Strokes]:
        over, above = self.row()
        under, below = self.row()
        width = max(_width(above), _width(below))
        above = _moved(above, (width - _width(above)) / 2, -bounds(above)[3] - 8)
        below = _moved(below, (width - _width(below)) / 2, 10 - bounds(below)[1])
        bar = np.array([[-4, 0], [width + 4, self.rng.normal(0, 2)]], np.float32)
        return f"\\frac {{ {over} }} {{ {under} }}", [*above, bar, *below]

    def root(self) -> tuple[str, Strokes]:
        inner, ink = self.row()
        _, top, right, foot = bounds(ink)
        height = foot - top
        sign = np.array(
            [(-26, top + 0.6 * height), (-16, foot), (-6, top - 8), (right + 6, top - 8)],
            np.float32,
        )
        return f"\\sqrt {{ {inner} }}", [sign, *ink]

    def row(self) -> tuple[str, Strokes]:
        tokens, ink, x = [], list[np.ndarray](), 0.0
        for number in range(self.rng.integers(2, 4)):
            if number and self.rng.random() < 0.6:
                sign = str(self.rng.choice(SIGNS))
                x = self._put(ink, sign, 0.6, x, -0.5)
                tokens.append(sign)
            base = str(self.rng.choice(self.letters))
            x = self._put(ink, base, 1.0, x, -0.5)
            tokens.append(base)
            if self.rng.random() < 0.5:
                relation, middle = (("^", -1.05), ("_", 0.05))[self.rng.integers(2)]
                script = str(self.rng.choice(self.letters))
                x = self._put(ink, script, 0.55, x - 4, middle)
                tokens += [relation, "{", script, "}"]
        return " ".join(tokens), ink

    def _put(self, ink: Strokes, token: str, size: float, x: float, middle: float) -> float:
        """Adds a symbol from `x` on, its middle at this height; returns where the next begins."""
        strokes = self.hands[token][self.rng.integers(len(self.hands[token]))]
        x0, y0, x1, y1 = bounds(strokes)
        scale = UNIT * size * self.rng.uniform(0.8, 1.2) / max(x1 - x0, y1 - y0, 1)
        center = np.array([x0, (y0 + y1) / 2], np.float32)
        place = np.array([x, UNIT * (middle + self.rng.normal(0, 0.08))], np.float32)
        ink += [(stroke - center) * np.float32(scale) + place for stroke in strokes]
        return x + (x1 - x0) * scale + 8


def _width(ink: Strokes) -> float:
    return bounds(ink)[2]


def _moved(ink: Strokes, x: float, y: float) -> Strokes:
    return [stroke + np.array([x, y], np.float32) for stroke in ink]


def _written(ink: Strokes) -> str:
    """`strokes_of`'s form: whole numbers from 0, points that change nothing left out."""
    left, top, _, _ = bounds(ink)
    lines = []
    for stroke in ink:
        points = np.rint(stroke - np.array([left, top], np.float32)).astype(np.int32)
        kept = cv2.approxPolyDP(points, 0.7, False)[:, 0]
        lines.append(" ".join(f"{x},{y}" for x, y in kept))
    return "|".join(lines)


def compose(tables: Sequence[Path], model: ModelFile, seed: int = 0) -> dict[str, Any]:
    """Formulas that the model finds hard and that every exact engine reads alike."""
    hands: Hands = defaultdict(list)
    for table in tables:
        with gzip.open(table, "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                if row["token"] in model.vocabulary:
                    hands[row["token"]].append(strokes_of(row["strokes"]))
    composer = Composer(hands, seed)
    exact = _recognizer(model, exact_engine(model))
    others = [
        _recognizer(model, open_engine(name, model, threads=1))
        for name in ("onnxruntime", "openvino")
    ]
    formulas: list[dict[str, str]] = []
    while len(formulas) < COUNT:
        written, ink = composer.formula()
        strokes = _written(ink)
        (read,) = readings(exact, [strokes])
        if not 0.1 < read["score"] < HARD:
            continue
        again = [readings(other, [strokes])[0] for other in others]
        if all(
            a["latex"] == read["latex"] and abs(a["score"] - read["score"]) < STEADY for a in again
        ):
            formulas.append({"written": written, "strokes": strokes})
            print(written, read["latex"], read["score"])
    sources = ", ".join(SOURCES[table.name.partition(".")[0]] for table in tables)
    return {"ink": f"composed of single symbols of {sources}", "formulas": formulas}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", type=Path, nargs="+", help="omniglot.tsv.gz, detypify.tsv.gz")
    parser.add_argument("-m", "--model", help="the model that they are to be hard for")
    parser.add_argument("-o", "--output", type=Path, default=INKS)
    options = parser.parse_args()
    made = compose(options.tables, ModelFile.open(options.model))
    options.output.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
