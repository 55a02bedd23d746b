"""Field conditions: determined by their seed, within their ranges, and each what it says."""

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
import pytest

from namer_edge.data.field import ink, picture
from namer_edge.data.field.conditions import Condition, chosen, conditions, read_conditions
from namer_edge.data.field.pens import Pen
from namer_edge.data.field.ranges import HALVES, drawn, value
from namer_edge.data.field.sheet import Border
from namer_edge_runtime.errors import ConfigError
from namer_edge_runtime.inputs import open_input

from ..handwriting import WRITTEN, written

FORMULA = written(5)
PICTURES = [one for one in conditions() if one.kind == "picture"]
INK = [one for one in conditions() if one.kind == "ink"]

HELD = {
    # What the first reported inputs were made with, condition → ingredient.field → values.
    "scan border": {"border.width": (10, 40), "border.level": (6,)},
    "border on some sides": {"border.width": (10, 40), "border.sides": ("left top",)},
    "sheet on a desk": {"desk.turn": (-4, 0, 4), "desk.desk": ("wood",), "desk.around": (0.5,)},
    "box": {"frame.gap": (0.4, 0.7), "frame.shape": ("box",)},
    "box of another color": {"frame.color": ("red",), "pen.color": ("blue",)},
    "circled": {"frame.shape": ("ellipse",), "frame.gap": (0.3,)},
    "squared": {"ruling.spacing": (26, 40, 60), "paper.grain": (0, 1, 3), "ruling.strength": (1,)},
    "squared, turned": {"ruling.turn": (3.5,), "ruling.spacing": (26,)},
    "ruled": {"ruling.spacing": (60,), "paper.grain": (3,)},
    "pencil on squares": {"pen.strength": (0.45, 0.9), "paper.grain": (3,)},
    "underlined twice": {"underline.count": (2,), "underline.gap": (0.4,)},
    "two contexts": {"inkml.first": ("X Y F",), "inkml.second": ("F X Y", "T X Y")},
    "second context": {"inkml.second": ("T X Y",), "inkml.contexts": ("second",)},
    "canvas transform": {"inkml.transform": ("flip",)},
    "continued": {"inkml.continued": (1, 6)},
    "wildcards": {"inkml.coding": ("wildcards",), "inkml.size": (60,)},
    "y up, not declared": {"motion.up": (1,)},
}


def named(name: str) -> Condition:
    (condition,) = (one for one in conditions() if one.name == name)
    return condition


def holds(range_: Any, wanted: Any) -> bool:
    if not isinstance(range_, list):
        return bool(range_ == wanted)
    if isinstance(wanted, str):
        return wanted in range_
    return bool(range_[0] <= wanted <= range_[1])


@pytest.mark.parametrize("name", HELD)
def test_the_ranges_hold_what_was_first_reported(name: str) -> None:
    ranges, ingredients = named(name).ranges, {**picture.INGREDIENTS, **ink.INGREDIENTS}
    for place, values in HELD[name].items():
        ingredient, _, field = place.partition(".")
        default = getattr(ingredients[ingredient](), field)
        for wanted in values:
            assert holds(ranges[ingredient].get(field, default), wanted), (place, wanted)


def test_there_are_many_conditions_and_pairs_of_them() -> None:
    singles = [one for one in conditions() if not one.pair]
    assert len(singles) >= 60
    assert len(conditions()) - len(singles) >= 40
    assert len({one.name for one in conditions()}) == len(conditions())


@pytest.mark.parametrize("condition", PICTURES, ids=lambda one: one.name)
def test_a_picture_shows_the_formula_and_follows_from_its_seed(condition: Condition) -> None:
    rng = np.random.default_rng(3)
    shown = condition.picture(FORMULA.strokes, "tune", rng, largest=40_000)
    again = condition.picture(FORMULA.strokes, "tune", np.random.default_rng(3), largest=40_000)
    other = condition.picture(FORMULA.strokes, "report", np.random.default_rng(3), largest=40_000)
    assert (shown.pixels == again.pixels).all()
    assert shown.pixels.shape != other.pixels.shape or (shown.pixels != other.pixels).any()
    height, width = shown.pixels.shape[:2]
    points = shown.moved(np.concatenate(FORMULA.strokes))
    assert (points > -1).all()
    assert (points < (width + 1, height + 1)).all()
    # The pixels on the strokes differ from those beside them.
    gray = shown.pixels.astype(float).mean(axis=2)
    x, y = np.clip(points.astype(int), 0, (width - 1, height - 1)).T
    around = cv2.blur(gray, (2 * (height // 8) + 1, 2 * (height // 8) + 1))
    difference = np.abs(gray - around)
    assert difference[y, x].mean() > 1.2 * np.median(difference), condition.name


@pytest.mark.parametrize("condition", [*INK, *PICTURES[::8]], ids=lambda one: one.name)
def test_an_input_is_opened_and_determined(condition: Condition) -> None:
    first, again, other = (
        condition.input(FORMULA.strokes, "tune", seed, "a") for seed in (1, 1, 2)
    )
    assert first == again
    opened = open_input(first)
    if condition.kind == "picture":
        assert opened.picture is not None
        assert first != other
    else:
        assert opened.strokes


def box(strokes: Any) -> Any:
    points = np.concatenate(strokes)
    return np.ptp(points, axis=0)


@pytest.mark.parametrize("name", ["channels in another order", "values", "y up, declared"])
def test_ink_in_a_form_that_is_read_is_the_same_ink(name: str) -> None:
    for seed in range(4):
        opened = open_input(named(name).input(FORMULA.strokes, "report", seed, "a"))
        assert opened.strokes is not None
        assert len(opened.strokes) == len(FORMULA.strokes)
        assert np.divide(*box(opened.strokes)) == pytest.approx(
            np.divide(*box(FORMULA.strokes)), rel=0.02
        )


def test_pieces_put_together_are_the_strokes() -> None:
    whole = [np.arange(24, dtype=np.float32).reshape(12, 2)]
    rng = np.random.default_rng(0)
    for points in range(2, 15):
        shared = ink.Pieces(points, shared=1.0).change(whole, rng)
        assert (np.concatenate([shared[0], *(p[1:] for p in shared[1:])]) == whole[0]).all()
        apart = ink.Pieces(points, shared=0.0).change(whole, rng)
        assert (np.concatenate(apart) == whole[0]).all()


def test_halves_share_no_value_and_stay_within_the_range() -> None:
    rng = np.random.default_rng(0)
    tuned, reported = (
        np.array([value([2, 60], float, half, rng) for _ in range(400)]) for half in HALVES
    )
    for values in (tuned, reported):
        assert values.min() >= 2
        assert values.max() <= 60
        assert np.ptp(values) > 45
    eighth = 58 / 8
    assert set(((tuned - 2) // eighth).astype(int)) == {0, 2, 4, 6}
    assert set(((reported - 2) // eighth).astype(int)) == {1, 3, 5, 7}
    whole = [{value([1, 6], int, half, rng) for _ in range(60)} for half in HALVES]
    assert whole == [{1, 3, 5}, {2, 4, 6}]
    sides = ["left", "top", "right", "below"]
    chosen_ = [{value(sides, str, half, rng) for _ in range(40)} for half in HALVES]
    assert chosen_ == [{"left", "right"}, {"top", "below"}]
    assert {value(["a", "b"], str, "tune", rng) for _ in range(40)} == {"a", "b"}
    assert drawn(Border, {"width": [3, 3]}, "tune", rng) == Border(3.0)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"picture": {"a": {"bordr": {}}}}, "a.bordr: no such ingredient of pictures"),
        ({"picture": {"a": {"border": {"wide": 3}}}}, "a.border has no 'wide'"),
        ({"picture": {"a": {"border": {"width": [3]}}}}, r"a.border.width = \[3\]"),
        ({"picture": {"a": {"border": {"width": [5, 3]}}}}, r"a.border.width = \[5, 3\]"),
        ({"picture": {"a": {"border": {"width": "wide"}}}}, "a.border.width = 'wide'"),
        ({"ink": {"a": {"pieces": {"points": [1.5, 3]}}}}, "a.pieces.points"),
        ({"ink": {"a": {"border": {}}}}, "a.border: no such ingredient of inks"),
        ({"ink": {"a": {}}, "pairs": {"ink": [["a", "b"]]}}, "pairs.ink has 'b'"),
    ],
)
def test_a_wrong_file_is_named_with_its_place(tables: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_conditions(tables)


def test_conditions_are_chosen_by_kind_and_by_name() -> None:
    assert set(chosen(["ink"])) >= set(INK)
    assert {one.kind for one in chosen(["pieces"])} == {"ink"}
    assert len(chosen(["squared"])) > 5
    assert chosen([]) == conditions()
    with pytest.raises(ConfigError, match="no condition 'sqared'"):
        chosen(["sqared"])


def test_the_map_leads_ink_to_its_place_on_a_page_of_any_size() -> None:
    for number in range(0, len(WRITTEN), 5):
        strokes = written(number).strokes
        plain = picture.field_picture(
            strokes, {"view": {"turn": 5.0}}, "tune", np.random.default_rng(0)
        )
        dark = np.argwhere(plain.pixels[..., 0] < 120)[:, ::-1] + 0.5
        points = plain.moved(np.concatenate(strokes))
        middle = Pen().width * Pen().symbol
        assert np.abs(dark.min(0) - points.min(0)).max() < middle
        assert np.abs(dark.max(0) - points.max(0)).max() < middle
