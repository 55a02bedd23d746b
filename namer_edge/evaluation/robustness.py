"""`namer-edge evaluate robustness`: invariance to size, pen width and rotation.

Ink of a pack is drawn as PNG pictures, black on white. At 100 % symbols are 64 pixels high. Of the
formulas read right there with a pen of 4 pixels, the share is reported that is read the same at
25, 50, 200 and 400 %, pen included, at 100 % with pens of 1 to 8 pixels, and at 100 % turned by 10
and 20 degrees either way.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from namer_edge_runtime.ink.render import render
from namer_edge_runtime.ink.strokes import Stroke, as_strokes, symbol_height
from namer_edge_runtime.preprocessing import Preprocessing, turned

from ..data.formula import Formula
from .cli_options import add_options, load_formulas, report_findings

if TYPE_CHECKING:
    from namer_edge_runtime.recognizer import Recognizer

SUMMARY = "measure how many formulas are read the same at other sizes, pens and rotations"
SYMBOL_HEIGHT = 64.0
"""Pixels that a typical symbol is high at 100 %."""
PEN_WIDTH = 4.0
"""Pixels, at 100 %."""
MARGIN = 32
ANY_SIZE = 1 << 20


def configure(parser: argparse.ArgumentParser) -> None:
    add_options(parser)
    parser.add_argument(
        "--no-tta", "--one-look", action="store_true", help="no test-time augmentation"
    )


def run(arguments: argparse.Namespace) -> int:
    """Raises the typed errors of model and data."""
    from tqdm import tqdm

    from namer_edge_runtime.recognizer import Recognizer

    formulas = load_formulas(arguments)
    recognizer = Recognizer.from_pretrained(
        arguments.model, threads=arguments.threads, one_look=arguments.no_tta
    )
    with tqdm(total=len(formulas), unit="formula", disable=None) as bar:
        found = measure_robustness(recognizer, formulas, progress=bar.update)
    report_findings(found, arguments)
    return 0


@dataclass(frozen=True)
class Drawing:
    """One way to draw a formula: percent of the standard size, pen in pixels, degrees."""

    percent: float = 100.0
    pen_width: float = PEN_WIDTH
    turn: float = 0.0
    """Degrees, clockwise."""

    def __str__(self) -> str:
        slope = f", turned {self.turn:g} deg" if self.turn else ""
        return f"{self.percent:g} %, pen {self.pen_width:g} px{slope}"

    def png(self, strokes: Sequence[Stroke]) -> bytes:
        """The ink as a PNG file, black on white."""
        scale = self.percent / 100
        margin = max(4, round(MARGIN * scale))
        preprocessing = Preprocessing(
            SYMBOL_HEIGHT * scale, self.pen_width, margin, ANY_SIZE, ANY_SIZE
        )
        level = symbol_height(strokes)
        sloping = as_strokes(turned(stroke, np.radians(self.turn)) for stroke in strokes)
        # Keeps the size, although rotation changes the symbol height.
        grown = symbol_height(sloping) / level if level > 0 else 1.0
        preprocessing = replace(preprocessing, symbol_height=preprocessing.symbol_height * grown)
        return bytes(cv2.imencode(".png", 255 - render(sloping, preprocessing).image)[1])


SIZES = tuple(Drawing(percent, PEN_WIDTH * percent / 100) for percent in (25, 50, 200, 400))
PENS = tuple(Drawing(100.0, float(width)) for width in range(1, 9))
SLOPES = tuple(Drawing(turn=degrees) for degrees in (-20.0, -10.0, 10.0, 20.0))


@dataclass(frozen=True)
class Robustness:
    """Numbers of formulas, of those read right, and of those read the same in each drawing."""

    formulas: int
    right: int
    same: Mapping[Drawing, int]

    def share(self, drawing: Drawing) -> float:
        """Percent of those read right."""
        return 100.0 * self.same[drawing] / self.right if self.right else 0.0

    def to_json(self) -> dict[str, Any]:
        shares = {str(drawing): round(self.share(drawing), 2) for drawing in self.same}
        return {"formulas": self.formulas, "right": self.right, "same": shares}

    def text(self) -> str:
        lines = [f"{self.right} of {self.formulas} right at {Drawing()}; of these read the same:"]
        return "\n".join(lines + [f"{d!s:32s} {self.share(d):7.2f} %" for d in self.same])


def measure_robustness(
    recognizer: "Recognizer",
    formulas: Sequence[Formula],
    drawings: Sequence[Drawing] = SIZES + PENS + SLOPES,
    progress: Callable[[], object] = lambda: None,
) -> Robustness:
    """Reads each formula as `Drawing()`, and those read right in all `drawings`.

    `progress` is called after each formula.
    """
    right = 0
    same = dict.fromkeys(drawings, 0)
    for formula in formulas:
        label = " ".join(formula.tokens)
        if recognizer(Drawing().png(formula.strokes)).canonical == label:
            right += 1
            for drawing in drawings:
                same[drawing] += recognizer(drawing.png(formula.strokes)).canonical == label
        progress()
    return Robustness(len(formulas), right, same)
