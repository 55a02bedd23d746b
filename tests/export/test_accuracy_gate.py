"""The comparison of fp32 and int8 behind the gate."""

import pytest

from namer_edge.evaluation.exprate import Prediction
from namer_edge_export.quantization.accuracy_gate import Comparison, EvaluationSet, Measured


def compared(before: list[str], after: list[str]) -> Comparison:
    """Two models that read formulas labeled `x` as told."""
    two = [
        tuple(Prediction(f"{n}", ("x",), (read,)) for n, read in enumerate(reads))
        for reads in (before, after)
    ]
    data = EvaluationSet((), "some.npz", None)
    return Comparison(data, Measured("fp32", 8, two[0], 2.0), Measured("int8", 2, two[1], 1.0))


def test_a_comparison_names_what_flipped() -> None:
    both = compared(["x", "x", "y", "y", "y"], ["x", "y", "x", "y", "z"])
    assert [a.name for a, _ in both.lost] == ["1"]
    assert [a.name for a, _ in both.won] == ["2"]
    assert both.changed == 3
    assert both.drop == 0


def test_only_flips_widen_the_interval_of_the_drop() -> None:
    same = compared(["x", "y"] * 300, ["x", "y"] * 300)
    assert same.interval() == (0.0, 0.0)
    worse = compared(["x", "y"] * 300, ["y"] * 20 + ["x", "y"] * 290)
    low, high = worse.interval()
    assert low < worse.drop < high
    # Ten lost of 600: 1.67 points, and a standard deviation of half a point.
    assert worse.drop == pytest.approx(10 / 6)
    assert high - low == pytest.approx(4 * 0.52, rel=0.1)
