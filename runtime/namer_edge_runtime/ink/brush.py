"""Brushes of InkML: whether a trace was drawn with a pen, a highlighter or an eraser."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from math import isfinite
from xml.etree.ElementTree import Element

from .mapping import LENGTHS

SEE_THROUGH = 0.45
"""Transparency from which on a brush is a highlighter: programs give theirs a half and more."""
_NO = ("false", "0", "no", "none", "off", "")


class Tool(Enum):
    """What a trace was drawn with."""

    PEN = "pen"
    HIGHLIGHTER = "highlighter"
    ERASER = "eraser"


@dataclass(frozen=True)
class Brush:
    """What a brush does."""

    tool: Tool = Tool.PEN
    width: float | None = None
    """In millimeters where `measured`, else in the ink's unit."""
    measured: bool = False

    @classmethod
    def of(cls, elements: Iterable[Element]) -> "Brush":
        """From a brush and those it refers to, of which the nearer one counts.

        Programs name their tools in a property, an annotation or the brush's own id. Tags and
        attributes must be free of namespaces.
        """
        found: dict[str, tuple[str, str]] = {}
        for element in elements:
            found.setdefault("id", (element.get("id", ""), ""))
            for inner in element:
                name = (inner.get("name") or inner.get("type") or "").lower()
                value = inner.get("value", inner.text or "").strip()
                found.setdefault(name, (value, inner.get("units", "").strip().lower()))
        words = [
            f"{name} {value}".lower()
            for name, (value, _) in found.items()
            if value.lower() not in _NO
        ]
        width, unit = found.get("width", ("", ""))
        size = _number(width)
        if size is not None:
            size *= LENGTHS.get(unit, 1.0)
        tool = Tool.PEN
        if any("eras" in word for word in words):
            tool = Tool.ERASER
        elif (
            any("highlight" in word or "rasterop maskpen" in word for word in words)
            or _transparency(found.get("transparency", ("", ""))[0]) >= SEE_THROUGH
        ):
            tool = Tool.HIGHLIGHTER
        return cls(tool, size, unit in LENGTHS)


def _number(text: str) -> float | None:
    with suppress(ValueError):
        return abs(float(text)) if isfinite(float(text)) else None
    return None


def _transparency(text: str) -> float:
    """The share of 1 or of 255."""
    value = _number(text) or 0.0
    return value if value <= 1 else value / 255
