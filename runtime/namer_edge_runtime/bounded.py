"""Dataclasses whose numbers have bounds, and the check of such numbers where a file gives them."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, field, fields
from numbers import Real
from typing import Any, TypeVar, get_args, get_type_hints

from .errors import ModelFileError, UsageError

T = TypeVar("T")


def bounded(default: Any, least: float, most: float) -> Any:
    """A dataclass field whose number, or each of whose numbers, is from `least` to `most`."""
    return field(default=default, metadata={"bounds": (least, most)})


def from_json(kind: type[T], value: Any, place: str, stored: Mapping[str, str] | None = None) -> T:
    """A `kind` from the JSON object that stands at `place` of a file.

    Fields are numbers, `bool`, text or tuples of these; `stored` maps a field to its key where that
    is another. Missing keys take their defaults. Raises `ModelFileError` that names the key for an
    unknown one, and for a value of another type, infinite, or out of bounds.
    """
    if not isinstance(value, Mapping):
        raise ModelFileError(f"{place} is {value!r:.60}, no object: export the model again")
    keys = {(stored or {}).get(one.name, one.name): one for one in fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(value) - set(keys))
    if unknown:
        raise ModelFileError(
            f"{place} has unknown keys {', '.join(map(repr, unknown))}: update namer-edge, or "
            "export the model again if it is an old one"
        )
    hints = get_type_hints(kind)
    found: dict[str, Any] = {}
    for key, one in keys.items():
        if key not in value:
            if one.default is MISSING and one.default_factory is MISSING:
                raise ModelFileError(f"{place}.{key} is missing: export the model again")
            continue
        items = value[key]
        several = get_args(hints[one.name])
        if several and not isinstance(items, list | tuple):
            raise ModelFileError(f"{place}.{key} is {items!r:.60}, no list: export the model again")
        wanted = several[0] if several else hints[one.name]
        for item in items if several else [items]:
            _check(item, wanted, one.metadata.get("bounds"), f"{place}.{key}")
        found[one.name] = tuple(items) if several else items
    return kind(**found)


def check_numbers(value: Any) -> None:
    """Raises `UsageError` for a bounded field of a dataclass that is no finite number from 0 on.

    For those made in Python; the bounds themselves hold for files alone.
    """
    for one in fields(value):
        items = getattr(value, one.name)
        for item in items if isinstance(items, tuple | list) else [items]:
            number = isinstance(item, Real) and not isinstance(item, bool)
            if "bounds" in one.metadata and not (number and 0 <= item < math.inf):
                name = f"{type(value).__name__}: {one.name}"
                raise UsageError(f"{name} is {items!r:.60}: give finite numbers from 0 on")


def _check(value: Any, wanted: type, bounds: tuple[float, float] | None, place: str) -> None:
    if wanted is bool:
        if not isinstance(value, bool):
            raise ModelFileError(f"{place} is {value!r:.60}: must be true or false")
        return
    if wanted is str:
        if not isinstance(value, str):
            raise ModelFileError(f"{place} is {value!r:.60}, no text")
        return
    number = isinstance(value, int) or (wanted is float and isinstance(value, float))
    if not number or isinstance(value, bool) or not math.isfinite(value):
        kind = "whole number" if wanted is int else "finite number"
        raise ModelFileError(f"{place} is {value!r:.60}, no {kind}: export the model again")
    if bounds and not bounds[0] <= value <= bounds[1]:
        raise ModelFileError(
            f"{place} is {value!r:.60}: must be from {bounds[0]:g} to {bounds[1]:g}"
        )
