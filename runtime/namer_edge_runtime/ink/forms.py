"""Alternative forms of strokes: columns, points by name, flags.

Unambiguous forms are read and ambiguous ones refused, since misread ink yields a wrong formula with
a good score.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InkError

WANTED = "give [[(x, y), …], …], a list of points for each stroke"
HOLDERS = (
    "strokes",
    "drawing",
    "traces",
    "ink",
    "lines",
    "strokegroups",
    "pages",
    "layers",
    "elements",
)
"""Names, in any case, under which programs keep strokes, or what holds strokes in turn."""
CHANNELS = 6
"""Most numbers a point has: x, y, time, force and two angles."""
MARKERS = ((-1.0, -1.0), (0.0, 0.0))
"""Markers that some programs write at the end of a stroke in place of a point."""
JUMP = 3.0
"""Ratio of a lifted pen's jump to the distance between neighboring points."""
NORMALIZED = 10.0
"""Coordinates up to this may be shares of a canvas, of which any may be 0 or -1."""


def point_lists(value: Any) -> list[Any]:
    """The strokes of `value`, each as rows of points or as what is none.

    Read are strokes under one of `HOLDERS`, as {"points": …}, {"x": […], "y": […]} or of points
    {"x": …, "y": …}, one of them alone, and columns [[x, …], [y, …], …]. Raises `InkError` for what
    is no list, for points that belong to no stroke, and for columns that may as well be points.
    """
    value = _opened(value)
    if _is_columns(value):
        value = _split(value)
    if isinstance(value, Mapping):
        raise InkError(
            f"an object of {', '.join(value) or 'nothing'} is no list of strokes: {WANTED}"
        )
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InkError(f"{type(value).__name__} is no list of strokes: {WANTED}")
    strokes = [_named(stroke) for stroke in value]
    if strokes and all(_is_point(stroke) or _by_name(stroke) for stroke in strokes):
        raise InkError(f"these are points and no strokes: {WANTED}")
    rows = {len(stroke) if _sized(stroke) else 0 for stroke in strokes}
    if len(rows) != 1 or not 2 <= min(rows) <= 4:
        return strokes
    widths = {_width(stroke) for stroke in strokes}
    if 0 in widths:
        return strokes
    if len(widths) > 1 or max(widths) > CHANNELS:  # points of one ink have as many numbers each
        return [np.array([list(row) for row in stroke]).T for stroke in strokes]
    if rows == {2} and max(widths) > 2 and not all(map(_has_third, strokes)):
        raise InkError(
            f"every stroke is 2 rows of {max(widths)} numbers: two points, or a row of x and one "
            f"of y? {WANTED}"
        )
    return strokes


def check_points(number: int, stroke: NDArray[np.float64]) -> None:
    """Raises `InkError` where stroke `number`, [n, channels], has columns that are none of a point,
    or marks where further strokes begin."""
    if stroke.shape[1] > CHANNELS:
        raise InkError(f"stroke {number} has points of {stroke.shape[1]} numbers each: {WANTED}")
    for column in range(stroke.shape[1]) if stroke.shape[1] > 2 else ():
        inside = set(stroke[1:-1, column].tolist())
        if column != 1 and inside == {0.0, 1.0} and set(stroke[:, column].tolist()) == inside:
            raise InkError(
                f"the {_ORDINALS[column]} numbers of stroke {number} are 0 and 1, as marks of a "
                f"lifted pen are: split it there, and {WANTED}"
            )
    if stroke.shape[1] > 2 and _is_count(stroke):
        raise InkError(
            f"the third numbers of stroke {number} count strokes: split it by them, and {WANTED}"
        )
    marks = (stroke[:, :2] == MARKERS[0]).all(axis=1)
    others = stroke[~marks, :2]
    if marks.any() and len(others) and others.min() >= 0 and others.max() > NORMALIZED:
        raise InkError(
            f"stroke {number} has (-1, -1) among its points, as if that were a mark and no point: "
            f"split it there, and {WANTED}"
        )


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def _is_count(stroke: NDArray[np.float64]) -> bool:
    """Whether the third numbers stay, or rise by 1 where the pen jumps: a clock does not."""
    rises = np.diff(stroke[:, 2])
    jumps = rises == 1
    if not set(rises.tolist()) <= {0.0, 1.0} or not 2 <= jumps.sum() <= len(rises) / 3:
        return False
    steps = np.hypot(*np.diff(stroke[:, :2], axis=0).T)
    return bool(np.median(steps[jumps]) > JUMP * np.median(steps[~jumps]))


def check_ends(strokes: Sequence[NDArray[np.floating]]) -> None:
    """Raises `InkError` where every stroke ends in one of `MARKERS`, outside of all other points or
    the same in several strokes."""
    several = [stroke for stroke in strokes if len(stroke) > 1]
    if len(several) < len(strokes) or not several:
        return
    ends = {(float(stroke[-1, 0]), float(stroke[-1, 1])) for stroke in several}
    inner = np.concatenate([stroke[:-1] for stroke in several])
    beyond = len(ends) == 1 and bool((inner > np.array([*ends])).all())
    outside = beyond and float(inner.max()) > NORMALIZED
    if outside and ends <= set(MARKERS) and (len(several) > 1 or ends == {MARKERS[0]}):
        raise InkError(
            f"every stroke ends in {min(ends)}, as if that were a mark and no point: leave it out"
        )


def is_ink(value: Any) -> bool:
    """Whether `point_lists` handles this list or mapping.

    It does where the value holds points by name, columns of numbers, or points alone.
    """
    if isinstance(value, Mapping):
        return _held(value) is not None or _by_name(_lower(value))
    if not isinstance(value, list | tuple) or not value:
        return False
    if all(isinstance(stroke, Mapping) for stroke in value):
        value = [_lower(stroke) for stroke in value]
        return all("points" in stroke or _by_name(stroke) for stroke in value)
    if all(map(_by_name, value)) or all(map(_is_point, value)):
        return True
    return all(
        isinstance(stroke, list | tuple)
        and bool(stroke)
        and all(map(_is_named_point, _capitals(stroke)))
        for stroke in value
    )


def _opened(value: Any) -> Any:
    """Unwraps strokes from the objects of programs: names of holders, and names in capitals."""
    if isinstance(value, Mapping):
        held = _held(value)
        return _lower(value) if held is None else _opened(held)
    if not isinstance(value, list | tuple):
        return value
    if value and all(isinstance(part, Mapping) and _held(part) is not None for part in value):
        return [stroke for part in value for stroke in _opened(part)]
    return [
        _placed(_lower(part)) if isinstance(part, Mapping) else _capitals(part) for part in value
    ]


def _lower(value: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name).lower(): part for name, part in value.items()}


def _capitals(stroke: Any) -> Any:
    """A stroke whose points go by names, all of them small letters."""
    named = isinstance(stroke, list | tuple) and all(isinstance(p, Mapping) for p in stroke)
    return [_lower(point) for point in stroke] if named else stroke


def _held(value: Mapping[str, Any]) -> Any:
    """Returns the value under the first of `HOLDERS` that is present, or None."""
    small = _lower(value)
    return next((small[name] for name in HOLDERS if name in small), None)


def _placed(stroke: dict[str, Any]) -> Any:
    """The points of {"points": …}, which count from its own x and y where it has them."""
    points = stroke.get("points")
    if not isinstance(points, list | tuple):
        return stroke
    points = _capitals(points)
    x, y = stroke.get("x"), stroke.get("y")
    if not (_is_number(x) and _is_number(y)):
        return points
    if all(map(_is_named_point, points)):
        return [{**point, "x": point["x"] + x, "y": point["y"] + y} for point in points]
    return [(p[0] + x, p[1] + y, *p[2:]) if _is_point(p) and len(p) > 1 else p for p in points]


def _by_name(value: Any) -> bool:
    return isinstance(value, Mapping) and "x" in value and "y" in value


def _is_columns(value: Any) -> bool:
    """One stroke as {"x": […], "y": […]}."""
    return _by_name(value) and not _is_number(value["x"])


def _split(columns: Mapping[str, Any]) -> list[Any]:
    """The strokes of {"x": …, "y": …}: one, or one for each column of x."""
    if not len(columns["x"]) or any(_is_number(x) for x in columns["x"]):
        return [columns]
    if len(columns["x"]) != len(columns["y"]):
        raise InkError(f"{len(columns['x'])} strokes of x, {len(columns['y'])} of y: {WANTED}")
    return [{"x": x, "y": y} for x, y in zip(columns["x"], columns["y"], strict=True)]


def _is_named_point(value: Any) -> bool:
    return _by_name(value) and _is_number(value["x"])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number)


def _is_point(value: Any) -> bool:
    """Whether the value is a row of numbers, not of points."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and len(value) > 0
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(_is_number, value))


def _named(stroke: Any) -> Any:
    """A stroke whose columns or points go by the names x and y, as rows of points."""
    if _is_columns(stroke):
        if len(stroke["x"]) != len(stroke["y"]):
            raise InkError(f"a stroke has {len(stroke['x'])} x and {len(stroke['y'])} y: {WANTED}")
        return _with_marks(stroke["x"], stroke["y"], stroke)
    if isinstance(stroke, list | tuple) and stroke and all(map(_is_named_point, stroke)):
        columns = {name: [point.get(name) for point in stroke] for name in stroke[0]}
        return _with_marks(columns["x"], columns["y"], columns)
    return stroke


def _with_marks(xs: Any, ys: Any, columns: Mapping[str, Any]) -> list[Any]:
    """Points (x, y), with the columns behind them that hold nothing but 0 and 1, for
    `check_points`."""
    marks = [
        column
        for name, column in columns.items()
        if name not in ("x", "y")
        and isinstance(column, list | tuple | np.ndarray)
        and len(column) == len(xs)
        and all(_is_number(mark) and mark in (0, 1) for mark in column)
    ]
    return list(zip(xs, ys, *marks[: CHANNELS - 2], strict=True))


def _sized(stroke: Any) -> bool:
    return isinstance(stroke, list | tuple) or (isinstance(stroke, np.ndarray) and stroke.ndim > 0)


def _width(stroke: Any) -> int:
    """The common length of a stroke's rows of numbers; 0 where there is none."""
    widths = {len(row) if _is_point(row) else 0 for row in stroke}
    return widths.pop() if len(widths) == 1 else 0


def _has_third(stroke: Any) -> bool:
    """Whether two rows may be points with a time or a force as their third number.

    A time does not fall, and a force lies between 0 and 1.
    """
    first, second = float(stroke[0][2]), float(stroke[1][2])
    return second >= first or (0 <= second <= 1 and 0 <= first <= 1)
