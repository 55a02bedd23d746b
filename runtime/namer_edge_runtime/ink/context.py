"""Contexts of InkML: the format, the way to the canvas and the brush that a trace has by reference.

A trace, or a group round it, names a context, or has the one that stands before it; a context holds
its parts or names them (https://www.w3.org/TR/InkML/, chapter 4).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from .brush import Brush
from .mapping import DEEPEST, IDENTITY, Matrix, canvas_matrix, chained, channel_matrix, sizes
from .trace import Channels

PARTS = ("inkSource", "traceFormat", "canvas", "canvasTransform", "brush")
"""Parts of a context that say what a trace is."""
Parts = dict[str, Element]
"""Parts of a context that apply to an element, by tag."""


@dataclass(frozen=True)
class Context:
    """What the numbers of a trace mean, and what it was drawn with."""

    channels: Channels
    matrix: Matrix
    """From a point of the trace to the canvas."""
    unit: float | None
    """Millimeters of a unit of the canvas, where the file says so."""
    brush: Brush


class Contexts:
    """The contexts of an `ink` element; tags and attributes must be free of namespaces.

    Names are looked up in it first, then in `outer`, those of the element round it.
    """

    def __init__(self, ink: Element, outer: "Contexts | None" = None) -> None:
        self._named: dict[str, Element] = {}
        for element in ink.iter():
            if name := element.get("id"):
                self._named.setdefault(name, element)
        self._outer = outer
        self._depth: int = outer._depth + 1 if outer else 0
        self._default = _first_format(ink)
        if self._default is None and outer:
            self._default = outer._default
        self._known: dict[tuple[int, ...], Context] = {}

    def within(self, ink: Element) -> "Contexts":
        """Contexts of an `ink` element inside this one; from `DEEPEST` on it has none of its
        own."""
        return Contexts(ink, self) if self._depth < DEEPEST else self

    def find(self, reference: str | None, tag: str) -> Element | None:
        """The element of this tag that `#name`, `name` or `file#name` refers to."""
        if not reference:
            return None
        found = self._named.get(reference.rpartition("#")[2].strip())
        if found is not None and found.tag == tag:
            return found
        return self._outer.find(reference, tag) if self._outer else None

    def parts(self, element: Element, inherited: Parts, depth: int = 0) -> Parts:
        """The parts that hold for a context, group or trace, where `inherited` ones do round it."""
        if not len(element) and not any(name.endswith("Ref") for name in element.attrib):
            return inherited
        found = dict(inherited)
        context = self.find(element.get("contextRef"), "context")
        if context is not None and depth < DEEPEST:
            found = self.parts(context, {}, depth + 1)
            if "brush" in inherited:
                found.setdefault("brush", inherited["brush"])
        for tag in PARTS:
            part = element.find(tag)
            if part is None:
                part = self.find(element.get(f"{tag}Ref"), tag)
            if part is not None:
                found = with_part(found, part)
        return found

    def context(self, parts: Parts) -> Context:
        """What these parts say. Raises `InkError` for a mapping that is not affine."""
        key = tuple(id(parts.get(tag)) for tag in PARTS)
        if key not in self._known:
            self._known[key] = self._context(parts)
        return self._known[key]

    def _context(self, parts: Parts) -> Context:
        source = parts.get("inkSource")
        own = parts.get("traceFormat")
        if own is None:
            own = self._format(source)
        if own is None:
            own = self._default
        channels = Channels.of_format(own)
        matrix, signs = channel_matrix(own, self.find), channels.signs
        known = sizes(source, own)
        if (transform := parts.get("canvasTransform")) is not None:
            # Now the canvas, not the device, says how long a unit is and which way an axis runs.
            shown = self._format(parts.get("canvas"))
            matrix = chained(matrix, canvas_matrix(transform, self.find))
            signs, known = Channels.of_format(shown).signs, sizes(None, shown)
        scale = (1.0, known[1] / known[0]) if known else (1.0, 1.0)
        matrix = matrix * np.multiply(signs, scale)[:, None]
        matrix = IDENTITY if (matrix == IDENTITY).all() else matrix
        brush = Brush.of(self._brushes(parts.get("brush")))
        return Context(channels, matrix, known[0] if known else None, brush)

    def _format(self, owner: Element | None) -> Element | None:
        """The format of an ink source or a canvas, in it or by reference."""
        if owner is None:
            return None
        inner = owner.find("traceFormat")
        return self.find(owner.get("traceFormatRef"), "traceFormat") if inner is None else inner

    def _brushes(self, brush: Element | None) -> Iterator[Element]:
        """A brush and those it refers to."""
        for _ in range(DEEPEST):
            if brush is None:
                return
            yield brush
            brush = self.find(brush.get("brushRef"), "brush")


def with_part(parts: Parts, part: Element) -> Parts:
    """The parts that hold once this one does too."""
    found = {**parts, part.tag: part}
    if part.tag == "inkSource":  # its own format is the one that holds now
        found.pop("traceFormat", None)
    return found


def _first_format(ink: Element) -> Element | None:
    """Format of traces that name none: the first one of the file, that of a canvas last."""
    of_canvases = {id(format_) for canvas in ink.iter("canvas") for format_ in canvas}
    formats = sorted(ink.iter("traceFormat"), key=lambda format_: id(format_) in of_canvases)
    return formats[0] if formats else None
