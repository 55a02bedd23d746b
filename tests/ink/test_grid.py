"""Grids of cells are found by their brackets and the white between cells."""

import numpy as np
import pytest

from namer_edge_runtime.ink.bracket_shapes import bracket
from namer_edge_runtime.ink.grid import Grid, find_grids
from namer_edge_runtime.ink.strokes import Strokes

from ..handwriting import WRITTEN, written


def line(*points: tuple[float, float]) -> np.ndarray:
    return np.array(points, np.float32)


def sign(x: float, y: float) -> np.ndarray:
    """A symbol a unit high."""
    return line((x, y), (x + 0.6, y + 1), (x + 0.7, y), (x, y + 0.9))


def arc(x: float, height: float, bulge: float) -> np.ndarray:
    t = np.linspace(0, 1, 30)
    return np.stack([x + bulge * (2 * t - 1) ** 2, height * t - 0.2], 1).astype(np.float32)


def grid(rows: int, columns: int, gap: float = 1.0) -> Strokes:
    """Cells of two symbols each, in round brackets."""
    high, wide = rows * 1.6 - 0.2, columns * (1.6 + gap) - gap
    cells = [
        sign(column * (1.6 + gap) + more, row * 1.6)
        for row in range(rows)
        for column in range(columns)
        for more in (0, 0.85)
    ]
    return [arc(-0.9, high, 0.5), *cells, arc(wide + 0.6, high, -0.5)]


@pytest.mark.parametrize(("rows", "columns"), [(2, 1), (2, 2), (3, 2), (3, 3), (4, 4), (2, 6)])
def test_a_matrix_is_found_with_its_cells_in_reading_order(rows: int, columns: int) -> None:
    (found,) = find_grids(grid(rows, columns))
    cells = [cell for row in found.cells for cell in row]
    assert [len(row) for row in found.cells] == [columns] * rows
    assert cells == [(2 * n + 1, 2 * n + 2) for n in range(rows * columns)]
    assert (found.bracket, found.opening, found.closing) == ("(", (0,), (2 * rows * columns + 1,))


def test_cases_have_a_brace_alone() -> None:
    brace = line(
        *((0.3, -0.2), (0, 0), (0, 1.0), (-0.3, 1.3), (0, 1.6), (0, 2.6), (0.3, 2.8)),
    ) + np.float32(0)
    inner = [sign(x, y) for y in (0, 1.6) for x in (1, 4)]
    (found,) = find_grids([brace, *inner])
    assert (found.bracket, found.closing) == ("{", ())
    assert found.cells == (((1,), (2,)), ((3,), (4,)))


def test_exponents_in_brackets_are_no_row() -> None:
    """They stand between the symbols of the row below, not over them."""
    base = [sign(x, 1.2) for x in (0, 1.8, 3.6)]
    raised = [0.5 * sign(x, 0) + np.float32((x / 2, 0)) for x in (0.85, 2.65, 4.45)]
    assert find_grids([arc(-0.9, 2.4, 0.5), *base, *raised, arc(5.6, 2.4, -0.5)]) == []


def test_a_fraction_in_brackets_is_no_matrix() -> None:
    bar = line((0, 1.3), (1.6, 1.32))
    inner = [sign(0.4, 0), bar, sign(0.4, 1.6)]
    assert find_grids([arc(-0.8, 3, 0.5), *inner, arc(2.4, 3, -0.5)]) == []


@pytest.mark.parametrize("number", range(len(WRITTEN)))
def test_formulas_have_no_grid(number: int) -> None:
    assert find_grids(written(number).strokes) == []


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_size_and_order_do_not_matter(scale: float) -> None:
    strokes = grid(2, 2)
    order = np.random.default_rng(0).permutation(len(strokes))
    (found,) = find_grids([strokes[n] * np.float32(scale) for n in order])
    (plain,) = find_grids(strokes)
    back = {old: new for new, old in enumerate(order.tolist())}
    renamed = plain.numbered([back[n] for n in range(len(strokes))])
    assert [[sorted(c) for c in row] for row in found.cells] == [
        [sorted(c) for c in row] for row in renamed.cells
    ]


@pytest.mark.parametrize(("bulge", "kind"), [(0.5, "("), (-0.5, ")"), (0.0, "|")])
def test_brackets_by_their_shape(bulge: float, kind: str) -> None:
    assert bracket(arc(0, 4, bulge)) == kind


def test_nothing_and_dots_have_no_grid() -> None:
    dot = line((0, 0))
    assert find_grids([]) == []
    assert find_grids([dot] * 9) == []
    assert Grid("(", (0,), (3,), (((1,),), ((2,),))).shapes == {0, 1, 2, 3}
