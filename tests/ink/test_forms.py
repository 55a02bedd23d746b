"""Strokes in other forms than ours are read where they can be nothing else, or refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from namer_edge_runtime.bulk.input_files import sources
from namer_edge_runtime.errors import DataError, InkError, PictureError
from namer_edge_runtime.ink.strokes import as_strokes
from namer_edge_runtime.inputs import is_strokes, open_input

CROSS = [[(0, 0), (5, 6), (20, 20)], [(20, 0), (0, 20)]]
LONG = [[(n, 2 * n + which) for n in range(9)] for which in range(2)]
TIMED = [[(x, y, 10 * n) for n, (x, y) in enumerate(stroke)] for stroke in LONG]


def columns(strokes: list[Any]) -> list[Any]:
    return [[list(column) for column in zip(*stroke, strict=True)] for stroke in strokes]


def by_name(strokes: list[Any]) -> list[Any]:
    return [[{"x": x, "y": y, "t": 1} for x, y in stroke] for stroke in strokes]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (CROSS, CROSS),
        (columns(LONG), LONG),
        (columns(TIMED), LONG),
        (columns(CROSS), CROSS),
        ([np.array(stroke).T for stroke in LONG], LONG),
        ([np.array(stroke, np.float32) for stroke in TIMED], LONG),
        (TIMED, LONG),
        (by_name(CROSS), CROSS),
        ([{"x": xs, "y": ys} for xs, ys in columns(CROSS)], CROSS),
        ([{"x": np.array(xs), "y": np.array(ys)} for xs, ys in columns(CROSS)], CROSS),
        ({"strokes": CROSS}, CROSS),
        ({"strokes": {"x": [1, 2, 3], "y": [4, 5, 6]}}, [[(1, 4), (2, 5), (3, 6)]]),
        ({"x": [1, 2, 3], "y": [4, 5, 6]}, [[(1, 4), (2, 5), (3, 6)]]),
        ({"x": [[1, 2], [3]], "y": [[4, 5], [6]]}, [[(1, 4), (2, 5)], [(3, 6)]]),
        ({"strokes": {"x": [[1, 2], [3]], "y": [[4, 5], [6]]}}, [[(1, 4), (2, 5)], [(3, 6)]]),
        # Whole seconds, an angle that never changes, and a point at (-1, -1) in a unit square.
        ([[(n, n, n // 4) for n in range(12)]], [[(n, n) for n in range(12)]]),
        ([[(n, n, 0.5, 1) for n in range(9)]], [[(n, n) for n in range(9)]]),
        ([[(1, 0), (-1, -1), (0, 1)]], [[(1, 0), (-1, -1), (0, 1)]]),
        ([{"x": [1, 2, 3], "y": [4, 5, 6], "t": [7, 8, 9]}], [[(1, 4), (2, 5), (3, 6)]]),
        # Two points are two points, also with a time or a force.
        ([[(0, 0), (10, 10)]], [[(0, 0), (10, 10)]]),
        ([[(0, 0, 5), (10, 10, 21)]], [[(0, 0), (10, 10)]]),
        ([[(0, 0, 0.7, 90), (10, 10, 0.2, 80)]], [[(0, 0), (10, 10)]]),
        # A force that is 1 while the pen is down, or falls to 0 at the ends, is no mark.
        ([[(n, n, 1) for n in range(9)]], [[(n, n) for n in range(9)]]),
        ([[(n, n, 0 < n < 8) for n in range(9)]], [[(n, n) for n in range(9)]]),
        ([[(n, n, n == 8) for n in range(9)]], [[(n, n) for n in range(9)]]),
        ([[(1, 1), (-1, -1)], [(1, -1), (-1, 1)]], [[(1, 1), (-1, -1)], [(1, -1), (-1, 1)]]),
    ],
)
def test_what_is_plain_is_read(given: Any, meant: Any) -> None:
    assert is_strokes(given)
    for read in (as_strokes(given), open_input(given).strokes):
        assert read is not None
        assert [[tuple(point) for point in stroke.tolist()] for stroke in read] == meant


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([(0, 0), (5, 6), (20, 20)], "points and no strokes"),
        ([{"x": 1, "y": 2}, {"x": 3, "y": 4}], "points and no strokes"),
        ({"x": 1, "y": 2}, "no list of strokes"),
        ([[[10, 20, 30], [5, 5, 5]]], "two points, or a row of x"),
        ([[(n,) * 7 for n in range(9)]], "points of 7 numbers"),
        ([[(n, n, n in (4, 8)) for n in range(9)]], "marks of a lifted pen"),
        ([[(n, n, n != 4) for n in range(9)]], "marks of a lifted pen"),
        ([[*stroke, (-1, -1)] for stroke in LONG], "a mark and no point"),
        ([[*LONG[0], (-1, -1)]], "a mark and no point"),
        ([[(1, 20), (30, 40), (0, 0)], [(3, 4), (5, 6), (0, 0)]], "a mark and no point"),
        ([{"x": [1, 2], "y": [1]}], "2 x and 1 y"),
        ({"x": [[1, 2], [1]], "y": [[1, 2]]}, "2 strokes of x"),
        # Ends of strokes in other columns, stroke numbers, and marks among the points.
        ([[(n in (4, 8), n, n) for n in range(9)]], "marks of a lifted pen"),
        ([[(n, n, 10 * n, n in (4, 8)) for n in range(9)]], "fourth numbers .* lifted pen"),
        ([np.array([(n, n, n != 4, n == 4, 0) for n in range(9)])], "marks of a lifted pen"),
        ({"x": [*range(9)], "y": [*range(9)], "end": [n in (4, 8) for n in range(9)]}, "lifted"),
        ([[{"x": n, "y": n, "end": int(n == 4)} for n in range(9)]], "marks of a lifted pen"),
        ([[(n + 90 * (n // 4), n, n // 4) for n in range(12)]], "count strokes"),
        ([[*LONG[0], (-1, -1), *LONG[1]]], "a mark and no point"),
    ],
)
def test_what_may_be_two_things_is_refused(given: Any, why: str) -> None:
    with pytest.raises(InkError, match=why):
        as_strokes(given)
    with pytest.raises(InkError, match=why):
        open_input(given)


@pytest.mark.parametrize("given", [{}, {"ink": 1}, np.zeros((9, 3)), np.zeros((2, 30))])
def test_one_that_is_no_ink_hears_how_ink_looks(given: Any) -> None:
    with pytest.raises(InkError, match=r"\[\[\(x, y\), …\], …\]"):
        open_input(given)


def test_an_array_of_strokes_of_one_length_is_ink() -> None:
    stack = np.array(LONG) - 5
    read = open_input(stack).strokes
    assert read is not None
    assert np.array_equal(read, stack)
    assert open_input(np.full((20, 30, 2), 200, np.int64)).strokes is None


def test_a_batch_stays_a_batch() -> None:
    for batch in ([CROSS, CROSS], [{"strokes": CROSS}] * 2, [by_name(CROSS)] * 2):
        assert not is_strokes(batch)
        assert all(is_strokes(one) for one in batch)
    assert not is_strokes([np.zeros((30, 40), np.uint8)])
    assert not is_strokes(["a.png", b"b"])


@pytest.mark.parametrize(
    "address", ["https://example.org/a.png", "file:///a.png", "data:image/png;base64,iVBORw0"]
)
def test_nothing_is_fetched(address: str) -> None:
    with pytest.raises(PictureError, match="nothing is fetched"):
        open_input(address)
    with pytest.raises(DataError, match="nothing is fetched"):
        next(sources([address]))


def test_an_empty_name_is_not_the_folder_one_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.png").write_bytes(b"")
    with pytest.raises(PictureError, match="an empty name"):
        open_input("")
    with pytest.raises(DataError, match="an empty name"):
        next(sources([""]))


@pytest.mark.parametrize(
    "given",
    [
        {"word": "x", "drawing": columns(LONG)},
        [{"penColor": "black", "points": points} for points in by_name(LONG)],
        {"strokes": [{"points": points} for points in by_name(LONG)]},
        {"elements": [{"type": "Stroke", "X": xs, "Y": ys} for xs, ys in columns(LONG)]},
        {"type": "x", "elements": [{"x": 5, "y": 7, "points": s} for s in LONG]},
        {"type": "x", "elements": [{"x": 5, "y": 7, "points": s} for s in by_name(LONG)]},
        {"contentType": "Math", "strokeGroups": [{"strokes": [stroke]} for stroke in LONG]},
        {"pages": [{"layers": [{"strokes": by_name(LONG)}]}]},
        [[{"X": x, "Y": y} for x, y in stroke] for stroke in LONG],
    ],
)
def test_what_programs_wrap_strokes_in_is_taken_off(given: Any) -> None:
    moved = isinstance(given, dict) and given.get("type") == "x"
    meant = [np.array(stroke) + np.array((5, 7) if moved else (0, 0)) for stroke in LONG]
    for value in (given, json.dumps(given).encode()):
        found = open_input(value).strokes or []
        assert [stroke.tolist() for stroke in found] == [stroke.tolist() for stroke in meant]


def test_an_object_without_ink_is_named() -> None:
    with pytest.raises(InkError, match="an object of version, name is no list of strokes"):
        open_input(json.dumps({"version": 1, "name": "x"}).encode())


def test_strokes_are_read_from_json(tmp_path: Path) -> None:
    (tmp_path / "ink.json").write_text(f" \n{json.dumps({'strokes': CROSS})}")
    for value in (tmp_path / "ink.json", json.dumps(CROSS).encode("utf-8")):
        found = open_input(value).strokes or []
        assert [stroke.tolist() for stroke in found] == [list(map(list, s)) for s in CROSS]
    assert open_input(b"[]").strokes == []


@pytest.mark.parametrize("text", ["[[[0, 0], [1, 1]]", '{"ink": 3}', "[" * 100_000, "[[[0, NaN]]]"])
def test_json_that_is_no_ink_hears_how_ink_looks(text: str, tmp_path: Path) -> None:
    (tmp_path / "ink.json").write_text(text)
    with pytest.raises(InkError, match=r"ink\.json: .*") as raised:
        open_input(tmp_path / "ink.json")
    assert "\n" not in str(raised.value)
