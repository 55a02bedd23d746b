"""Mappings of InkML: from the numbers of a trace to a place on the canvas, as affine matrices.

A matrix is [2, 3]: (x, y) = matrix · (x, y, 1). Tags must be free of namespaces.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import reduce
from math import inf
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from ..errors import InkError

Matrix = NDArray[np.float64]
Find = Callable[[str | None, str], Element | None]
"""Finds the element of a tag by a reference to it."""

IDENTITY: Matrix = np.eye(2, 3)
UNKNOWN = "unknown"
"""Type of a mapping that says nothing."""
CONSTANT = "1"
"""Name of the last column of a matrix, which is added."""
DEEPEST = 32
"""References that are followed from one element to another."""
LENGTHS = {"m": 1000.0, "cm": 10.0, "mm": 1.0, "himetric": 0.01, "in": 25.4, "pt": 25.4 / 72}
"""Millimeters of each unit of length."""


def chained(first: Matrix, then: Matrix) -> Matrix:
    """The matrix of one mapping and another after it."""
    return then @ np.vstack([first, (0.0, 0.0, 1.0)])


def canvas_matrix(transform: Element, find: Find) -> Matrix:
    """The matrix of a `canvasTransform`. Raises `InkError` for a mapping that is not affine."""
    return _matrix(transform.find("mapping"), find)


def channel_matrix(format_: Element | None, find: Find) -> Matrix:
    """The matrix of the mappings in the channels x and y of a `traceFormat`. Raises `InkError` for
    one that is not affine."""
    matrix = IDENTITY.copy()
    for row, name in enumerate("XY"):
        for channel in [] if format_ is None else format_.iter("channel"):
            mapping = channel.find("mapping")
            if mapping is not None and channel.get("name", "").strip().upper() == name:
                found = _affine(mapping, find)
                if found is not None:
                    scale, shift = (*_rows(found)[0], 0.0)[:2]
                    matrix[row] *= scale
                    matrix[row, 2] = shift
    return matrix


def sizes(source: Element | None, format_: Element | None) -> tuple[float, float] | None:
    """Millimeters of a unit of x and of y, by the ink source's resolution, else by the units of the
    format's channels; None without both."""
    resolution: dict[str, float] = {}
    for channel in [] if source is None else source.iter("channelProperty"):
        if channel.get("name", "").lower() == "resolution":
            length = channel.get("units", "").replace("^-1", "").rpartition("/")[2].strip().lower()
            with suppress(ValueError):
                if 0 < (value := float(channel.get("value", ""))) < inf:
                    name = channel.get("channel", "").strip().upper()
                    resolution[name] = LENGTHS.get(length, 1.0) / value
    units = {
        channel.get("name", "").strip().upper(): LENGTHS[unit]
        for channel in ([] if format_ is None else format_.iter("channel"))
        if (unit := channel.get("units", "").strip().lower()) in LENGTHS
    }
    for known in (resolution, units):
        if {"X", "Y"} <= known.keys():
            return known["X"], known["Y"]
    return None


def _affine(mapping: Element, find: Find, depth: int = 0) -> Element | None:
    """The affine mapping that this one is or refers to; None for none. Raises `InkError` for one of
    another kind."""
    named = find(mapping.get("mappingRef"), "mapping")
    if named is not None and depth < DEEPEST:
        return _affine(named, find, depth + 1)
    kind = mapping.get("type", UNKNOWN if mapping.find("affine") is None else "affine")
    if kind in ("affine", "product"):
        return mapping
    if kind in ("identity", UNKNOWN):
        return None
    raise InkError(f"a mapping of type {kind} is not read: give it as affine")


def _matrix(mapping: Element | None, find: Find, depth: int = 0) -> Matrix:
    found = None if mapping is None else _affine(mapping, find)
    if found is None or depth > DEEPEST:
        return IDENTITY
    if found.get("type") == "product":
        factors = [_matrix(inner, find, depth + 1) for inner in found.findall("mapping")]
        return reduce(chained, factors, IDENTITY)
    rows = _rows(found)
    sources, targets = (
        [bind.get(end, "").strip().upper() for bind in found.iter("bind") if bind.get(end)]
        for end in ("source", "target")
    )
    sources = sources or (["X", "Y", "Z"] if len(rows[0]) == 4 else ["X", "Y"])
    matrix = IDENTITY.copy()
    for target, row in zip(targets or ["X", "Y"], rows, strict=False):
        if target in ("X", "Y"):
            weights = dict(zip([*sources, CONSTANT], row, strict=False))
            matrix["XY".index(target)] = [weights.get(name, 0.0) for name in ("X", "Y", CONSTANT)]
    return matrix


def _rows(mapping: Element) -> list[list[float]]:
    """The rows of numbers of an affine mapping. Raises `InkError` where it holds others."""
    text = (next(mapping.iter("affine"), mapping).text or "").strip()
    try:
        rows = [[float(value) for value in row.split()] for row in text.split(",") if row.strip()]
    except ValueError as error:
        raise InkError(f"an affine mapping holds what is no number ({error})") from None
    if not rows or not np.isfinite(np.concatenate(rows)).all():
        raise InkError("an affine mapping holds no finite numbers")
    return [rows[0][:3], rows[0][3:]] if [len(row) for row in rows] == [6] else rows
