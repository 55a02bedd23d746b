"""Several lines on one page: found, read one by one, and put together in every output form."""

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from namer_edge_runtime.formula.aligned import aligned, lines_of
from namer_edge_runtime.formula.expression import Expression
from namer_edge_runtime.ink.text_lines import best_cut
from namer_edge_runtime.recognition.lines import MOST_LINES
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.server.openapi import description
from namer_edge_runtime.server.responses import to_json
from namer_edge_runtime.server.settings import Settings
from namer_edge_runtime.server.worker import ReadResponse

from ..handwriting import written

Ink = list[NDArray[np.float32]]
PAGES = ((2, 4), (4, 10, 2), (10, 4, 2, 5), (12, 2, 9, 4))
"""Numbers of `handwriting.WRITTEN`: sums, equations, fractions and roots."""


@pytest.fixture(scope="module")
def packaged() -> Recognizer:
    return Recognizer.from_pretrained(threads=1)


def page(numbers: Sequence[int], gap: float, slope: float, seed: int) -> tuple[Ink, list[int]]:
    """Formulas below each other with `gap` between their boxes in heights of a glyph, all of them
    sloping by `slope` degrees; and the line of each stroke."""
    strokes: Ink = []
    own: list[int] = []
    bottom = 0.0
    for line, number in enumerate(numbers):
        ink = written(number, seed).strokes
        points = np.concatenate(ink)
        top = bottom + (gap if line else 0.0) - points[:, 1].min()
        shift = np.array([-points[:, 0].min(), top], np.float32)
        strokes += [stroke + shift for stroke in ink]
        own += [line] * len(ink)
        bottom = float(points[:, 1].max() + top)
    cos, sin = np.cos(np.radians(slope)), np.sin(np.radians(slope))
    turn = np.array([[cos, sin], [-sin, cos]], np.float32)
    return [stroke @ turn for stroke in strokes], own


def picture(strokes: Ink, height: float = 60) -> NDArray[np.uint8]:
    points = np.concatenate(strokes) * height
    low, high = points.min(0) - 40, points.max(0) + 40
    width, tall = np.ceil(high - low).astype(int).tolist()
    drawn = np.full((tall, width), 245, np.uint8)
    lines = [((stroke * height - low) * 16).astype(np.int32) for stroke in strokes]
    cv2.polylines(drawn, lines, False, 30, 4, cv2.LINE_AA, 4)
    return drawn


@pytest.mark.parametrize("slope", [0.0, 3.0, -4.0])
@pytest.mark.parametrize("numbers", PAGES)
def test_lines_of_ink_are_found_and_read_as_alone(
    packaged: Recognizer, numbers: Sequence[int], slope: float
) -> None:
    strokes, own = page(numbers, 0.9, slope, 1)
    lines = packaged(strokes).lines
    found = [line.strokes for line in lines]
    assert found == [
        tuple(n for n, line in enumerate(own) if line == number) for number in range(len(numbers))
    ]
    for line in lines:
        assert line.strokes is not None
        alone = packaged([strokes[number] for number in line.strokes])
        assert (line.canonical, line.score) == (alone.canonical, alone.score)
        assert line.tokens == alone.tokens
        assert line.box == alone.lines[0].box


@pytest.mark.parametrize("numbers", PAGES)
def test_lines_of_a_picture_are_found_in_their_places(
    packaged: Recognizer, numbers: Sequence[int]
) -> None:
    strokes, own = page(numbers, 1.0, 0.0, 1)
    result = packaged(picture(strokes))
    assert len(result.lines) == len(numbers)
    low = np.concatenate(strokes).min(0)
    for number, line in enumerate(result.lines):
        ink = np.concatenate([s for s, o in zip(strokes, own, strict=True) if o == number])
        expected = [*((ink.min(0) - low) * 60 + 40), *((ink.max(0) - low) * 60 + 40)]
        assert line.box == pytest.approx(expected, abs=8)
        assert line.strokes is None
        for token in line.tokens:
            assert expected[0] - 15 <= token.x <= expected[2] + 15
            assert expected[1] - 15 <= token.y <= expected[3] + 15


@pytest.mark.parametrize("number", range(16))
def test_one_formula_is_one_line(packaged: Recognizer, number: int) -> None:
    ink = written(number, 3).strokes
    result = packaged(ink)
    (line,) = result.lines
    assert (line.canonical, line.score, line.tokens) == (
        *(result.canonical, result.score, result.tokens),
    )
    assert line.strokes == tuple(range(len(ink)))
    assert "lines" not in result.to_json()
    assert len(packaged(picture(ink)).lines) == 1


def test_a_blank_page_has_no_line(packaged: Recognizer) -> None:
    assert packaged.strokes([]).lines == ()


def test_what_stands_in_one_pair_of_brackets_or_behind_a_brace_stays_whole() -> None:
    rows, _ = page((4, 10, 2), 0.9, 0.0, 1)
    assert best_cut(rows) is not None
    points = np.concatenate(rows)
    (left, top), (right, bottom) = points.min(0), points.max(0)
    tall = np.linspace(top - 0.2, bottom + 0.2, 30, dtype=np.float32)
    bracket = np.stack([np.full_like(tall, left - 0.4), tall], axis=1)
    assert best_cut([bracket, *rows]) is None
    closing = np.stack([np.full_like(tall, right + 0.4), tall], axis=1)
    assert best_cut([bracket, *rows, closing]) is None


def test_a_fraction_bar_binds_what_is_above_and_below_it() -> None:
    rows, own = page((4, 10), 1.2, 0.0, 1)
    assert best_cut(rows) is not None
    upper = np.concatenate([s for s, o in zip(rows, own, strict=True) if o == 0])
    points = np.concatenate(rows)
    x = np.linspace(points[:, 0].min(), points[:, 0].max(), 30, dtype=np.float32)
    bar = np.stack([x, np.full_like(x, upper[:, 1].max() + 0.6)], axis=1)
    assert best_cut([*rows, bar]) is None


def test_the_whole_is_aligned_in_all_forms(packaged: Recognizer) -> None:
    strokes, _ = page((4, 10, 2), 0.9, 2.0, 1)
    result = packaged(strokes, alternatives=3)
    assert lines_of(result.canonical.split()) == [
        tuple(line.canonical.split()) for line in result.lines
    ]
    assert result.latex.startswith("\\begin{aligned}")
    assert result.latex.endswith("\\end{aligned}")
    assert result.latex.count("&") == 3
    assert result.latex.count("\\\\") == 2
    assert result.score == pytest.approx(np.prod([line.score for line in result.lines]))
    assert result.tokens == tuple(token for line in result.lines for token in line.tokens)
    table = ElementTree.fromstring(result.expression.mathml(marked=True))
    places = [int(e.get("data-token", "")) for e in table.iter() if e.get("data-token")]
    inked = [n for n, t in enumerate(result.tokens) if t.text not in ("^", "_", "\\limits")]
    assert sorted(places) == inked
    assert len([e for e in table.iter() if e.tag.endswith("mtr")]) == 3
    graph = result.label_graph("page").splitlines()
    objects = [line.split(", ") for line in graph if line.startswith("O, ")]
    assert sorted(int(n) for line in objects for n in line[4:]) == list(range(len(strokes)))
    assert len({line[1] for line in objects}) == len(inked)
    related = [line for line in graph if line.startswith("R, ")]
    assert len(related) == len(inked) - 3  # three trees
    assert result.draw().ndim == 3
    assert 0 < len(result.alternatives) <= 3
    for other in result.alternatives:
        assert len(lines_of(other.canonical.split())) == 3
        assert other.canonical != result.canonical


def test_json_and_server_show_the_lines(packaged: Recognizer) -> None:
    strokes, _ = page((4, 2), 0.9, 0.0, 1)
    result = packaged(strokes)
    value: dict[str, Any] = json.loads(json.dumps(to_json(ReadResponse(result, 1.0))))
    assert [line["latex"] for line in value["lines"]] == [line.latex for line in result.lines]
    schemas = description(Settings({}))["components"]["schemas"]
    assert value.keys() <= schemas["Result"]["properties"].keys()
    for line in value["lines"]:
        assert line.keys() <= schemas["Line"]["properties"].keys()
        assert line["mathml"].startswith("<math")


def test_a_pen_session_follows_the_lines(packaged: Recognizer) -> None:
    strokes, own = page((4, 2), 0.9, 0.0, 1)
    session = packaged.session()
    for stroke in strokes:
        session.add(stroke)
    assert len(session.result().lines) == 2
    symbols = session.symbols()
    assert [s.text for s in symbols] == [t.text for t in session.result().tokens]
    assert sorted(n for s in symbols for n in s.strokes) == list(range(len(strokes)))
    for number, line in enumerate(own):
        if line == 1:
            session.remove(number)
    assert len(session.result().lines) == 1
    assert [s.id for s in session.symbols()] == [s.id for s in symbols if own[s.strokes[0]] == 0]


def test_alignment_and_lines_that_begin_with_a_bracket() -> None:
    rows = [("[", "a", "]", "=", "2"), ("x", "+", "1"), ("f", "(", "x", "=", "1", ")", "<", "3")]
    tokens = aligned(rows)
    assert lines_of(tokens) == rows
    assert Expression(tokens).latex == ("\\begin{aligned}[a]&=2\\\\&x+1\\\\f(x=1)&<3\\end{aligned}")
    assert aligned(rows[:1]) == rows[0]
    assert lines_of(rows[0]) == [rows[0]]


def test_a_line_of_a_picture_is_read_as_in_a_picture_without_the_others(
    packaged: Recognizer,
) -> None:
    strokes, own = page((4, 10, 2), 1.0, 0.0, 1)
    lines = packaged(picture(strokes)).lines
    assert len(lines) == 3
    for number, line in enumerate(lines):
        others = [i for i, o in enumerate(own) if o != number]
        erased = picture(strokes)
        low = np.concatenate(strokes).min(0) - 40 / 60
        places = [((strokes[i] - low) * 60 * 16).astype(np.int32) for i in others]
        cv2.polylines(erased, places, False, 245, 8, cv2.LINE_8, 4)
        alone = packaged(erased)
        assert line.canonical == alone.canonical
        assert line.box == pytest.approx(alone.lines[0].box, abs=2)


@pytest.mark.parametrize("rows", [45, 70])
def test_a_long_page_is_taken_apart_though_it_reads_surely(packaged: Recognizer, rows: int) -> None:
    """Scaled down to fit, a page may read as a sure 1."""
    ticks = [[(x, y), (x + 2, y + 9)] for y in range(0, 30 * rows, 30) for x in (0, 14, 28)]
    lines = packaged.strokes(ticks).lines
    assert len(lines) == min(rows, MOST_LINES)
    assert lines[0].canonical == "1 1 1"
