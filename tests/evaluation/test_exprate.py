"""ExpRate, counted by hand and against an edit distance written another way."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namer_edge.evaluation.exprate import (
    Prediction,
    Rate,
    by_length,
    by_structure,
    distance,
    rate,
    structures,
    wilson_interval,
)

TOKENS = st.lists(st.sampled_from(["x", "y", "^", "{", "}", "\\frac"]), max_size=7)


def reading(label: str, read: str | None, name: str = "f") -> Prediction:
    return Prediction(name, tuple(label.split()), None if read is None else tuple(read.split()))


def distance_by_definition(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    @cache
    def from_here(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return len(a) - i + len(b) - j
        if a[i] == b[j]:
            return from_here(i + 1, j + 1)
        return 1 + min(from_here(i + 1, j + 1), from_here(i + 1, j), from_here(i, j + 1))

    return from_here(0, 0)


@given(TOKENS, TOKENS)
def test_distance_equals_its_definition(a: list[str], b: list[str]) -> None:
    assert distance(a, b) == distance_by_definition(tuple(a), tuple(b))


@pytest.mark.parametrize(
    ("label", "read", "expected"),
    [
        ("x + 1", "x + 1", 0),
        ("x + 1", "x + 7", 1),
        ("x + 1", "+ 1", 1),
        ("x + 1", "x + 1 1", 1),
        ("x ^ { 2 }", "x 2", 3),
        ("x", "", 1),
        ("", "x y", 2),
        ("a b", "b a", 2),
    ],
)
def test_distance_of_hand_made_pairs(label: str, read: str, expected: int) -> None:
    assert distance(label.split(), read.split()) == expected


def test_files_without_an_answer_are_wrong_at_every_tolerance() -> None:
    readings = [reading("x", "x"), reading("x", None), reading("x + 1", "x + 7")]
    assert rate(readings) == Rate(total=3, exact=1, within_1=2, within_2=2)


def test_a_blank_answer_is_judged_by_its_distance() -> None:
    assert rate([reading("x", ""), reading("x y z", "")]) == Rate(2, 0, 1, 1)


def test_rates_are_percent_of_all_files() -> None:
    measured = Rate(total=986, exact=257, within_1=449, within_2=565)
    assert measured.exprate == pytest.approx(26.0649, abs=1e-4)
    assert measured.exprate_le2 == pytest.approx(57.3022, abs=1e-4)
    assert Rate(0, 0, 0, 0).exprate == 0.0


def test_the_interval_holds_the_rate_and_narrows_with_more_files() -> None:
    small, large = (wilson_interval(Rate(n, n // 4, n, n)) for n in (100, 10_000))
    assert small[0] < 25 < small[1]
    assert large[0] < 25 < large[1]
    assert large[1] - large[0] < small[1] - small[0]
    # The normal approximation: 25 ± 1.96 · sqrt(0.25 · 0.75 / 10000) percent.
    assert large == pytest.approx((24.15, 25.85), abs=0.1)
    # Worked by hand: z = 1.96, 18 of 23.
    assert wilson_interval(Rate(23, 18, 21, 22)) == pytest.approx((58.10, 90.34), abs=0.01)
    for files in range(1, 200):
        for exact in (0, files):
            low, high = wilson_interval(Rate(files, exact, files, files))
            assert 0 <= low < high <= 100


def test_lengths_fall_into_their_buckets() -> None:
    groups = by_length(
        [
            reading("x", "x"),
            reading("x " * 5, "x"),
            reading("x " * 6, None),
            reading("x " * 900, ""),
        ]
    )
    assert {name: group.total for name, group in groups.items()} == {"1-5": 2, "6-10": 1, "51+": 1}
    assert groups["1-5"].exprate == 50.0


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("a + b = 3", {"plain"}),
        ("\\{ x \\}", {"plain"}),
        ("x ^ { 2 }", {"script"}),
        ("\\frac { a _ { 1 } } { 2 }", {"fraction", "script"}),
        ("\\sqrt [ 3 ] { x }", {"root"}),
        ("\\sum \\limits _ { i } x", {"limits"}),
        ("\\sum \\limits _ { i } ^ { n } x", {"limits", "script"}),
        ("\\overline { x }", {"other"}),
        ("\\xrightarrow [ a ] { b }", {"other"}),
    ],
)
def test_structures_of_a_label(label: str, expected: set[str]) -> None:
    assert structures(label.split()) == expected


def test_a_formula_counts_in_every_structure_it_has() -> None:
    groups = by_structure([reading("\\frac { x ^ { 2 } } { 2 }", "x"), reading("x", "x")])
    assert {name: group.total for name, group in groups.items()} == {
        "fraction": 1,
        "script": 1,
        "plain": 1,
    }
