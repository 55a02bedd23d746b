"""What cannot be read is put before a recognizer as it is meant to be."""

from dataclasses import replace

import numpy as np

from namer_edge.data.symbols import OOV
from namer_edge.evaluation.out_of_distribution import (
    measure_out_of_distribution,
    scribble,
    stacked,
    with_sign,
)
from namer_edge_runtime.ink.strokes import Strokes, bounds
from namer_edge_runtime.result import Result

from ..handwriting import VOCABULARY, WRITTEN, written

FORMULAS = [written(number) for number in range(len(WRITTEN))]
CROSS: Strokes = [np.array([[0, 0], [9, 9]], np.float32), np.array([[9, 0], [0, 9]], np.float32)]


class KnowsItsFormulas:
    """Reads whole formulas as they were written, and nothing else."""

    vocabulary = VOCABULARY

    def strokes(self, strokes: Strokes) -> Result:
        for formula in FORMULAS[1:]:
            same = len(strokes) == len(formula.strokes) and all(
                one is other for one, other in zip(strokes, formula.strokes, strict=True)
            )
            if same:
                return Result("", " ".join(formula.tokens), 0.9, ())
        return Result("", "?", 0.1, ())


def test_scores_are_told_by_what_was_looked_at() -> None:
    stranger = replace(FORMULAS[0], strokes=CROSS, tokens=(OOV,))
    found = measure_out_of_distribution(KnowsItsFormulas(), FORMULAS, [stranger] * 5).to_json()  # type: ignore[arg-type]
    right = len(FORMULAS) - 1  # one was read wrong, and counts nowhere
    assert found["formulas read right"]["count"] == right
    assert found["formulas read right"]["median"] == 0.9
    assert found["with a stranger for a symbol"]["half_or_more"] == 0
    assert found["strangers alone"]["count"] == 5
    assert found["two formulas, one above the other"]["count"] == right // 2
    assert found["scribbles"]["count"] == 30


def test_a_stranger_takes_the_place_and_size_of_one_symbol() -> None:
    formula = next(f for f in FORMULAS if "x" in f.tokens)
    rng = np.random.default_rng(0)
    strange = with_sign(formula, CROSS, KnowsItsFormulas(), rng)  # type: ignore[arg-type]
    assert strange is not None
    kept = [any(stroke is own for own in formula.strokes) for stroke in strange]
    assert kept.count(False) == len(CROSS)
    x0, y0, x1, y1 = bounds(formula.strokes)
    reach = max(x1 - x0, y1 - y0)
    for stroke in strange:
        assert (stroke > np.array([x0, y0]) - reach).all()
        assert (stroke < np.array([x1, y1]) + reach).all()


def test_lines_do_not_touch_and_scribbles_are_ink() -> None:
    upper, lower = FORMULAS[1].strokes, FORMULAS[2].strokes
    both = stacked(upper, lower)
    above, below = bounds(both[: len(upper)]), bounds(both[len(upper) :])
    assert above[3] + 1.9 < below[1]
    assert above[0] == below[0] == 0
    assert all(np.isfinite(stroke).all() for stroke in scribble(np.random.default_rng(1)))
