"""Writes the example formulas beside this file, each as InkML (pen strokes) and as PNG.

The handwriting is made up: every glyph is a few control points drawn by hand in a unit box, bent a
little differently each time it is used. Nothing comes from a data set, so the examples may be used
like the code. Running `python examples/make_examples.py` writes the same files again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

import cv2
import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

DIGIT_HEIGHT = 96
"""Pixels of the PNG, and units of the InkML, for one glyph unit (the height of a digit)."""
PEN_WIDTH = 5.0
MARGIN = 40

# One glyph: strokes of control points (x, y). y = 0 is the top of a digit, y = 1 the baseline,
# small letters begin at about 0.4. A point given twice is a corner, else the pen goes smoothly.
# fmt: off
GLYPHS: dict[str, list[list[tuple[float, float]]]] = {
    "1": [[(0.0, 0.22), (0.14, 0.1), (0.22, 0.0), (0.22, 0.0), (0.2, 0.5), (0.18, 1.0)]],
    "2": [
        [
            (0.02, 0.24), (0.14, 0.04), (0.34, 0.0), (0.5, 0.14), (0.46, 0.4), (0.24, 0.72),
            (0.0, 0.97), (0.0, 0.97), (0.28, 0.95), (0.6, 0.97),
        ]
    ],
    "3": [
        [
            (0.04, 0.12), (0.2, 0.0), (0.42, 0.06), (0.44, 0.26), (0.28, 0.42), (0.16, 0.46),
            (0.16, 0.46), (0.38, 0.5), (0.5, 0.7), (0.4, 0.92), (0.2, 1.0), (0.0, 0.88),
        ]
    ],
    "5": [
        [
            (0.1, 0.03), (0.07, 0.25), (0.05, 0.42), (0.05, 0.42), (0.2, 0.36), (0.4, 0.42),
            (0.5, 0.62), (0.42, 0.86), (0.22, 1.0), (0.0, 0.92),
        ],
        [(0.1, 0.03), (0.3, 0.02), (0.52, 0.0)],
    ],
    "a": [
        [
            (0.44, 0.5), (0.3, 0.42), (0.12, 0.5), (0.02, 0.72), (0.08, 0.95), (0.24, 0.98),
            (0.38, 0.82), (0.46, 0.5), (0.46, 0.5), (0.43, 0.76), (0.48, 0.95), (0.62, 0.94),
        ]
    ],
    "b": [
        [
            (0.08, 0.0), (0.06, 0.4), (0.04, 0.92), (0.04, 0.92), (0.08, 0.66), (0.24, 0.52),
            (0.42, 0.6), (0.44, 0.84), (0.28, 0.99), (0.04, 0.93),
        ]
    ],
    "x": [
        [(0.02, 0.5), (0.12, 0.42), (0.22, 0.52), (0.34, 0.84), (0.46, 0.98), (0.58, 0.9)],
        [(0.54, 0.42), (0.4, 0.54), (0.2, 0.82), (0.02, 1.0)],
    ],
    "y": [
        [(0.02, 0.44), (0.04, 0.68), (0.16, 0.8), (0.32, 0.72), (0.46, 0.42)],
        [(0.48, 0.42), (0.42, 0.78), (0.34, 1.14), (0.2, 1.36), (0.04, 1.3)],
    ],
    "+": [[(0.0, 0.64), (0.26, 0.63), (0.52, 0.62)], [(0.27, 0.36), (0.26, 0.62), (0.25, 0.9)]],
    "-": [[(0.0, 0.64), (0.24, 0.62), (0.5, 0.63)]],
    "=": [[(0.0, 0.54), (0.28, 0.53), (0.54, 0.51)], [(0.01, 0.76), (0.28, 0.76), (0.56, 0.73)]],
    "(": [[(0.24, -0.08), (0.06, 0.2), (0.0, 0.54), (0.08, 0.9), (0.26, 1.14)]],
    ")": [[(0.0, -0.08), (0.18, 0.2), (0.24, 0.54), (0.16, 0.9), (0.0, 1.14)]],
}
# fmt: on


@dataclass
class Symbol:
    """One written symbol: its LaTeX token and its strokes, (n, 2) points each."""

    label: str
    strokes: list[Points]


@dataclass
class Box:
    """Written symbols with the ink's extent; x grows to the right, y downwards, in glyph units."""

    symbols: list[Symbol] = field(default_factory=list)

    def moved(self, x: float, y: float, scale: float = 1.0) -> "Box":
        return Box(
            [
                Symbol(symbol.label, [stroke * scale + (x, y) for stroke in symbol.strokes])
                for symbol in self.symbols
            ]
        )

    def __add__(self, other: "Box") -> "Box":
        return Box(self.symbols + other.symbols)

    @property
    def low(self) -> Points:
        """Smallest x and y of the ink."""
        return np.vstack([s for symbol in self.symbols for s in symbol.strokes]).min(axis=0)

    @property
    def high(self) -> Points:
        """Largest x and y of the ink."""
        return np.vstack([s for symbol in self.symbols for s in symbol.strokes]).max(axis=0)


def smooth(control: Points, step: float = 0.02) -> Points:
    """Catmull-Rom spline through the control points, sampled about every `step` glyph units."""
    before = np.vstack([2 * control[0] - control[1], control, 2 * control[-1] - control[-2]])
    pieces = []
    for a, b, c, d in zip(before, before[1:], before[2:], before[3:], strict=False):
        count = max(2, int(np.linalg.norm(c - b) / step))
        t = np.arange(count)[:, None] / count
        pieces.append(
            b
            + 0.5 * t * (c - a)
            + t**2 * (a - 2.5 * b + 2 * c - 0.5 * d)
            + t**3 * (1.5 * (b - c) + 0.5 * (d - a))
        )
    return np.vstack([*pieces, control[-1:]])


class Writer:
    """Writes glyphs, never twice the same; one seed is one hand on one day."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.slant = self.random.uniform(0.04, 0.16)

    def stroke(self, control: Points, shake: float = 0.014) -> Points:
        """Shakes the control points, a corner as one, and joins them smoothly."""
        corner = np.flatnonzero((np.diff(control, axis=0) == 0).all(axis=1))
        pieces = np.split(control + 0.0, corner + 1)
        shaken: list[Points] = []
        for piece in pieces:
            piece = piece + self.random.normal(0, shake, piece.shape)
            if shaken:
                piece = np.vstack([shaken[-1][-1:], piece[1:]])
            shaken.append(smooth(piece))
        return np.vstack(shaken)

    def symbol(self, label: str, strokes: list[Points]) -> Box:
        """Slants, turns and scales all strokes of a symbol a little, about its baseline."""
        angle = self.random.normal(0, 0.025)
        scale = self.random.normal(1, 0.035, 2)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        shear = np.array([[1.0, -self.slant], [0.0, 1.0]])
        base = np.array([0.0, 1.0])
        return Box(
            [
                Symbol(
                    label,
                    [((self.stroke(s) - base) * scale) @ (turn @ shear).T + base for s in strokes],
                )
            ]
        )

    def glyph(self, token: str) -> Box:
        return self.symbol(token, [np.array(stroke) for stroke in GLYPHS[token]])

    def row(self, *parts: str | Box) -> Box:
        """Side by side on one slightly wandering baseline."""
        line = Box()
        for part in parts:
            box = self.glyph(part) if isinstance(part, str) else part
            gap = self.random.uniform(0.24, 0.36) if line.symbols else 0.0
            end = line.high[0] if line.symbols else 0.0
            line += box.moved(end + gap - box.low[0], self.random.normal(0, 0.02))
        return line

    def superscript(self, base: Box, script: Box) -> Box:
        """The script at about half size, its foot at the height where small letters begin."""
        small = script.moved(0, 0, 0.55)
        x = base.high[0] + 0.16 - small.low[0]
        return base + small.moved(x, 0.42 - small.high[1])

    def fraction(self, above: Box, below: Box) -> Box:
        """A bar on the axis of the line (where `-` is written), wider than both parts."""
        width = max((part.high - part.low)[0] for part in (above, below)) + 0.4
        axis = 0.62
        bar = self.symbol(
            "\\frac", [np.array([(0, axis), (width / 2, axis), (width, axis - 0.02)])]
        )
        middle = (bar.high + bar.low)[0] / 2

        def centerd(part: Box, y: float) -> Box:
            return part.moved(middle - (part.high + part.low)[0] / 2, y)

        return (
            centerd(above, axis - 0.2 - above.high[1])
            + bar
            + centerd(below, axis + 0.22 - below.low[1])
        )

    def root(self, body: Box) -> Box:
        """The sign in one stroke: tick, down, up, and the bar over the whole body."""
        low, high = body.low, body.high
        top, foot, x = low[1] - 0.26, high[1] + 0.05, low[0] - 0.2
        sign = [
            (x - 0.5, foot - 0.42), (x - 0.38, foot - 0.5), (x - 0.38, foot - 0.5),
            (x - 0.3, foot - 0.25), (x - 0.22, foot), (x - 0.22, foot),
            (x - 0.12, (foot + top) / 2), (x, top), (x, top),
            ((x + high[0]) / 2, top - 0.02), (high[0] + 0.18, top),
        ]  # fmt: skip
        return Box([Symbol("\\sqrt", [self.stroke(np.array(sign))])]) + body


def write_inkml(path: Path, box: Box, latex: str) -> None:
    """InkML with the formula as truth and one traceGroup for each symbol; units as in the PNG."""
    traces, groups, number = [], [], 0
    for index, symbol in enumerate(box.symbols):
        views = []
        for stroke in symbol.strokes:
            points = ", ".join(f"{x:.1f} {y:.1f}" for x, y in stroke)
            traces.append(f'  <trace id="{number}">{points}</trace>')
            views.append(f'      <traceView traceDataRef="{number}"/>')
            number += 1
        label = escape(symbol.label)
        groups += [
            f'    <traceGroup xml:id="g{index}">',
            f'      <annotation type="truth">{label}</annotation>',
            *views,
            "    </traceGroup>",
        ]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<ink xmlns="http://www.w3.org/2003/InkML">',
        "  <traceFormat>",
        '    <channel name="X" type="decimal"/>',
        '    <channel name="Y" type="decimal"/>',
        "  </traceFormat>",
        f'  <annotation type="truth">${escape(latex)}$</annotation>',
        *traces,
        '  <traceGroup xml:id="symbols">',
        '    <annotation type="truth">Segmentation</annotation>',
        *groups,
        "  </traceGroup>",
        "</ink>",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_png(path: Path, box: Box) -> None:
    """Black ink on white, anti-aliased by drawing at four times the size."""
    oversampling = 4
    width, height = np.ceil(box.high).astype(int) + MARGIN
    page = np.full((height * oversampling, width * oversampling), 255, np.uint8)
    for symbol in box.symbols:
        for stroke in symbol.strokes:
            points = np.round(stroke * oversampling).astype(np.int32)
            cv2.polylines(page, [points], False, 0, round(PEN_WIDTH * oversampling), cv2.LINE_AA)
    small = cv2.resize(page, (int(width), int(height)), interpolation=cv2.INTER_AREA)
    if not cv2.imwrite(str(path), small):
        raise OSError(f"cannot write {path}")


EXAMPLES: dict[str, tuple[str, Callable[[Writer], Box]]] = {
    "square": (
        "x^{2}+1",
        lambda w: w.row(w.superscript(w.glyph("x"), w.glyph("2")), "+", "1"),
    ),
    "half": ("\\frac{1}{2}", lambda w: w.fraction(w.glyph("1"), w.glyph("2"))),
    "sum": ("a+b=3", lambda w: w.row("a", "+", "b", "=", "3")),
    "root": ("\\sqrt{x}", lambda w: w.root(w.glyph("x"))),
    "line": ("y=2x+5", lambda w: w.row("y", "=", "2", "x", "+", "5")),
    "bracket": (
        "(a-b)^{2}",
        lambda w: w.superscript(w.row("(", "a", "-", "b", ")"), w.glyph("2")),
    ),
}
"""File name → LaTeX and how it is written."""


def main() -> None:
    folder = Path(__file__).parent
    for seed, (name, (latex, written)) in enumerate(EXAMPLES.items(), 1):
        box = written(Writer(seed))
        x, y = MARGIN - box.low * DIGIT_HEIGHT
        box = box.moved(x, y, DIGIT_HEIGHT)
        write_inkml(folder / f"{name}.inkml", box, latex)
        write_png(folder / f"{name}.png", box)
        print(f"{name}: {latex}")


if __name__ == "__main__":
    main()
