"""InkML as programs write it: contexts, transforms, brushes, continued and coded traces."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.ink.strokes import Strokes

NAMESPACE = "http://www.w3.org/2003/InkML"
MATRICES: dict[str, NDArray[np.float64]] = {
    "flip": np.array([[1.0, 0, 0], [0, -1, 0]]),
    "quarter": np.array([[0.0, -1, 0], [1, 0, 0]]),
    "scale": np.array([[0.02, 0, 3], [0, 0.05, -2]]),
    "turn": np.array([[0.8, -0.6, 10], [0.6, 0.8, 5]]),
    "mirror": np.array([[-1.0, 0, 500], [0, 1, 0]]),
}
"""Canvas transforms [2, 3], from a trace's coordinates to the canvas."""


@dataclass(frozen=True)
class Inkml:
    """A program's way of writing InkML."""

    contexts: str = "none"
    """Context of a trace: none (a single format), alternating, second or random."""
    first: str = "X Y"
    """Channels of the first context."""
    second: str = "F X Y"
    by: str = "source"
    """Place of a context's format: in its ink source, inline, or by reference."""
    transform: str = "none"
    up: str = "down"
    """Direction of y: down, or declared to be up by its orientation."""
    units: str = "none"
    """Channels of unequal units: none, resolution or units."""
    continued: int = 0
    """Points of each trace that a stroke is continued over; 0: a trace each."""
    coding: str = "plain"
    """plain, differences, wildcards or second differences."""
    hover: str = "none"
    """Samples with the tip up: none, in the traces (a tip switch), or as traces of their own."""
    brush: str = "none"
    """A stroke besides the ink: none, highlighter or eraser."""
    parts: int = 1
    """Parts of the file that are an `ink` each."""
    prefix: str = "inkml:"
    size: float = 300.0
    """Units of a trace for the height of a symbol."""

    def file(self, strokes: Strokes, unit: float, rng: np.random.Generator) -> bytes:
        """The strokes, in which a symbol is `unit` high, as a file."""
        groups = np.array_split(np.arange(len(strokes)), min(self.parts, len(strokes)))
        writers = [_Part(self, rng) for _ in groups]
        texts = [
            writer.ink([strokes[i] * np.float32(self.size / unit) for i in group.tolist()])
            for writer, group in zip(writers, groups, strict=True)
        ]
        root = texts[0] if len(texts) == 1 else f"<document>\n{''.join(texts)}</document>\n"
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}'.encode()


@dataclass
class _Part:
    """The writer of one `ink`."""

    form: Inkml
    rng: np.random.Generator
    clock: int = 0
    lines: list[str] = field(default_factory=list)

    def ink(self, strokes: Strokes) -> str:
        form = self.form
        attribute = (
            f'xmlns:{form.prefix[:-1]}="{NAMESPACE}"' if form.prefix else f'xmlns="{NAMESPACE}"'
        )
        self._definitions()
        if form.brush == "highlighter":
            self._mark(_across(strokes, 0.5), "b1")
        for number, stroke in enumerate(strokes):
            following = strokes[number + 1][0] if number + 1 < len(strokes) else None
            self._stroke(number, stroke, following)
        if form.brush == "eraser":
            self._mark(_across(strokes, 1.6), "b1")
        inner = "\n".join(self.lines)
        return self._named(f"<ink {attribute}>\n{inner}\n</ink>") + "\n"

    def _named(self, text: str) -> str:
        """Tags with the file's prefix."""
        prefix = self.form.prefix
        return text.replace("</", "\0").replace("<", f"<{prefix}").replace("\0", f"</{prefix}")

    def _channels(self, number: int) -> list[str]:
        names = (self.form.first if number == 0 else self.form.second).split()
        return [*names, "S"] if self.form.hover == "in the traces" else names

    def _format(self, number: int, identifier: str = "") -> str:
        form, channels = self.form, []
        for name in self._channels(number):
            more = ' type="boolean"' if name == "S" else ' type="decimal"'
            if form.units == "units" and name in "XY":
                more += f' units="{"mm" if name == "X" else "cm"}"'
            elif name in "XY":
                more += ' units="dev"'
            if form.up == "declared" and name == "Y":
                more += ' orientation="-ve"'
            channels.append(f'<channel name="{name}"{more}/>')
        named = f' xml:id="{identifier}"' if identifier else ""
        return f"<traceFormat{named}>{''.join(channels)}</traceFormat>"

    def _resolution(self) -> str:
        if self.form.units != "resolution":
            return ""
        rows = (
            f'<channelProperty channel="{name}" name="resolution" value="{value}" units="1/cm"/>'
            for name, value in (("X", 1000), ("Y", 400))
        )
        return f"<channelProperties>{''.join(rows)}</channelProperties>"

    def _definitions(self) -> None:
        form, inner, formats = self.form, [], []
        count = 1 if form.contexts == "none" else 2
        transform = ' canvasRef="#cv" canvasTransformRef="#ct"' if form.transform != "none" else ""
        for number in range(count):
            referred = ""
            content = ""
            if form.by == "reference":
                formats.append(self._format(number, f"f{number}"))
                referred = f' traceFormatRef="#f{number}"'
                if form.units == "resolution":
                    content = f'<inkSource xml:id="s{number}">{self._resolution()}</inkSource>'
            elif form.by == "inline" and form.units != "resolution":
                content = self._format(number)
            else:
                source = self._format(number) + self._resolution()
                content = f'<inkSource xml:id="s{number}">{source}</inkSource>'
            inner.append(f'<context xml:id="c{number}"{referred}{transform}>{content}</context>')
        if form.brush == "highlighter":
            rows = (("width", "300"), ("transparency", "128"), ("rasterOp", "maskPen"))
            inner.append(self._brush("b1", (*rows, ("tip", "rectangle"))))
        if form.brush == "eraser":
            inner.append(self._brush("b1", (("width", "300"), ("tip", "eraser"))))
        if form.brush != "none":
            inner.insert(0, self._brush("b0", (("width", "53"), ("color", "#000000"))))
        if form.transform != "none":
            rows_ = ", ".join(" ".join(f"{n:g}" for n in row) for row in MATRICES[form.transform])
            canvas = '<traceFormat><channel name="X"/><channel name="Y"/></traceFormat>'
            mapping = f'<mapping type="affine"><affine>{rows_}</affine></mapping>'
            formats.append(f'<canvas xml:id="cv">{canvas}</canvas>')
            formats.append(f'<canvasTransform xml:id="ct">{mapping}</canvasTransform>')
        self.lines.append(f"<definitions>{''.join([*formats, *inner])}</definitions>")

    def _brush(self, identifier: str, rows: Sequence[tuple[str, str]]) -> str:
        inner = "".join(f'<brushProperty name="{name}" value="{value}"/>' for name, value in rows)
        return f'<brush xml:id="{identifier}">{inner}</brush>'

    def _mark(self, line: NDArray[np.float32], brush: str) -> None:
        rows = self._rows(line, 0, np.ones(len(line), bool))
        text = ", ".join(" ".join(row) for row in rows)
        self.lines.append(f'<trace contextRef="#c0" brushRef="#{brush}">{text}</trace>')

    def _stroke(
        self, number: int, stroke: NDArray[np.float32], following: NDArray[np.float32] | None
    ) -> None:
        """One stroke as a trace, or as several that continue it."""
        form = self.form
        context = {"alternating": number % 2, "second": 1, "none": 0}.get(form.contexts)
        if context is None:
            context = int(self.rng.integers(2))
        attributes = f' contextRef="#c{context}"'
        if form.brush != "none":
            attributes += ' brushRef="#b0"'
        down = np.ones(len(stroke), bool)
        way: NDArray[np.float32] | None = None
        if form.hover != "none" and following is not None:
            share = np.linspace(0, 1, 7)[1:-1, None]
            way = (stroke[-1] + share * (following - stroke[-1])).astype(np.float32)
        if way is not None and form.hover == "in the traces":
            stroke, down = np.concatenate([stroke, way]), np.append(down, np.zeros(len(way), bool))
        rows = self._rows(stroke, context, down)
        step = form.continued or len(rows)
        pieces = [rows[at : at + step] for at in range(0, len(rows), step)]
        for place, piece in enumerate(pieces):
            name = f"t{number}_{place}"
            more = f' xml:id="{name}"'
            if len(pieces) > 1:
                last = place == len(pieces) - 1
                more += f' continuation="{"end" if last else "middle" if place else "begin"}"'
                more += f' priorRef="#t{number}_{place - 1}"' if place else ""
            text = ", ".join(" ".join(row) for row in piece)
            self.lines.append(f"<trace{more}{attributes}>{text}</trace>")
        if way is not None and form.hover == "as traces":
            rows = self._rows(way, context, np.ones(len(way), bool))
            text = ", ".join(" ".join(row) for row in rows)
            self.lines.append(f'<trace type="penUp"{attributes}>{text}</trace>')

    def _rows(
        self, points: NDArray[np.float32], context: int, down: NDArray[np.bool_]
    ) -> list[list[str]]:
        """The values of each point as they stand in the file."""
        form = self.form
        xy = points.astype(np.float64)
        if form.transform != "none":
            matrix = MATRICES[form.transform]
            xy = (xy - matrix[:, 2]) @ np.linalg.inv(matrix[:, :2]).T
        if form.up == "declared":
            xy[:, 1] *= -1
        if form.units == "resolution":
            xy[:, 1] *= 0.4
        elif form.units == "units":
            xy[:, 1] *= 0.1
        # Whole numbers are what differences are taken of.
        digits = 0 if form.coding != "plain" or form.units == "none" else 2
        columns: dict[str, list[Any]] = {
            "X": np.round(xy[:, 0], digits).tolist(),
            "Y": np.round(xy[:, 1], digits).tolist(),
            "F": self.rng.integers(0, 32768, len(xy)).tolist(),
            "T": (self.clock + 10 * np.arange(len(xy))).tolist(),
            "S": down.astype(int).tolist(),
        }
        self.clock += 10 * len(xy) + 200
        values = [columns[name] for name in self._channels(context)]
        if form.coding == "plain":
            texts = [[f"{number:.10g}" for number in column] for column in values]
        else:
            texts = [_coded(column, form.coding) for column in values]
        for text, name in zip(texts, self._channels(context), strict=True):
            if name == "S":
                text[:] = ["T" if one else "F" for one in down.tolist()]
        return [list(row) for row in zip(*texts, strict=True)]


def _coded(column: Sequence[float], coding: str) -> list[str]:
    """Whole numbers in InkML's compact form: the first as it is, then differences."""
    texts = [f"{column[0]:.0f}"]
    speeds = [after - before for before, after in pairwise(column)]
    for number, speed in enumerate(speeds):
        if number == 0:
            texts.append(f"'{speed:.0f}")
        elif coding == "second differences":
            mark = '"' if number == 1 else ""
            texts.append(f"{mark}{speed - speeds[number - 1]:.0f}")
        elif coding == "wildcards" and speed == speeds[number - 1]:
            texts.append("*")
        else:
            texts.append(f"{speed:.0f}")
    return texts


def _across(strokes: Strokes, height: float) -> NDArray[np.float32]:
    """A line across all ink, at this share of its height."""
    points = np.concatenate(strokes)
    (x0, y0), (x1, y1) = points.min(0), points.max(0)
    xs = np.linspace(x0, x1, 20)
    return np.stack([xs, np.full(20, y0 + height * (y1 - y0))], axis=1).astype(np.float32)
