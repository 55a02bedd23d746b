"""Field augmentation: what a device would make of a picture, with tokens on their ink."""

from typing import Any

import numpy as np
import pytest

from namer_edge.data.augment import Augmentation
from namer_edge.data.batches import TrainingSet
from namer_edge.data.field.conditions import Condition, read_conditions
from namer_edge.data.field_augmentation import field_sample
from namer_edge.training.config import load_config
from namer_edge_runtime.errors import ConfigError
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.preprocessing import Preprocessing

from ..handwriting import VOCABULARY, WRITTEN, written

FORMULAS = [written(number) for number in range(len(WRITTEN))]
LOOK = Preprocessing()
MOVED = Augmentation(scale=0.2, rotation=2.0, pen=0.2)
FIELD = Augmentation(scale=0.2, rotation=2.0, pen=0.2, field=1.0)


def condition(**ranges: dict[str, Any]) -> Condition:
    (one,) = read_conditions({"picture": {"one": ranges}})
    return one


def test_samples_follow_from_their_seed_and_are_no_drawings() -> None:
    plain, field = (
        TrainingSet(FORMULAS, VOCABULARY, LOOK, augmentation) for augmentation in (MOVED, FIELD)
    )
    again = TrainingSet(FORMULAS, VOCABULARY, LOOK, FIELD)
    changed = 0
    for index in range(len(FORMULAS)):
        spec = field.sample_spec(index, seed=0, epoch=1)
        assert spec == plain.sample_spec(index, seed=0, epoch=1)
        one, same, drawn = field[spec], again[spec], plain[spec]
        assert (one.image == same.image).all()
        assert (one.cells == same.cells).all()
        assert one.image.shape == drawn.image.shape == (spec.height, spec.width)
        changed += bool((one.image != drawn.image).any())
    assert changed > len(FORMULAS) / 2


@pytest.mark.parametrize("channels", [1, 3])
def test_tokens_are_on_their_ink_in_turned_and_twisted_pictures(channels: int) -> None:
    look = Preprocessing(channels=channels)
    slanting = condition(view={"turn": 4.0, "twist": 0.06})
    for number in range(0, len(FORMULAS), 3):
        drawing = render(FORMULAS[number].strokes, look)
        strokes = [
            drawing.from_input(stroke).astype(np.float32) for stroke in FORMULAS[number].strokes
        ]
        positions = drawing.from_input(FORMULAS[number].positions)
        size = (drawing.image.shape[0] + 32, drawing.image.shape[1] + 32)
        rng = np.random.default_rng(number)
        sample = field_sample(strokes, positions, size, look, rng, slanting)
        assert sample is not None
        assert sample.image.shape == (size if channels == 1 else (*size, 3))
        shown = sample.image if channels == 1 else sample.image.max(axis=2)
        for x, y in sample.positions.astype(int).tolist():
            assert shown[max(0, y - 12) : y + 12, max(0, x - 12) : x + 12].any()
            assert 0 <= x < size[1]
            assert 0 <= y < size[0]


def test_a_clean_picture_comes_as_the_device_prepares_it() -> None:
    clean = condition(pen={"symbol": 60.0})
    drawing = render(FORMULAS[4].strokes, LOOK)
    strokes = [drawing.from_input(stroke).astype(np.float32) for stroke in FORMULAS[4].strokes]
    size = (drawing.image.shape[0] + 64, drawing.image.shape[1] + 64)
    nowhere = np.zeros((0, 2))
    sample = field_sample(strokes, nowhere, size, LOOK, np.random.default_rng(0), clean)
    assert sample is not None
    picture = clean.picture(strokes, "tune", np.random.default_rng(0), 150_000)
    prepared = prepare_input(picture.pixels, LOOK).image

    def cut(image: np.ndarray) -> np.ndarray:
        rows, columns = np.nonzero(image)
        return image[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]

    assert (cut(sample.image) == cut(prepared)).all()


@pytest.mark.parametrize(
    "lost",
    [
        {"pen": {"strength": 0.0}},  # nothing is left of the ink
        {"highlighter": {"color": "black", "strength": 1.0, "width": 0.8}},  # it is covered
    ],
)
def test_nothing_is_learned_from_a_formula_that_is_lost(lost: dict[str, Any]) -> None:
    drawing = render(FORMULAS[4].strokes, LOOK)
    strokes = [drawing.from_input(stroke).astype(np.float32) for stroke in FORMULAS[4].strokes]
    nowhere, rng = np.zeros((0, 2)), np.random.default_rng(0)
    size = drawing.image.shape[0], drawing.image.shape[1]
    assert field_sample(strokes, nowhere, size, LOOK, rng, condition(**lost)) is None


def test_it_is_a_key_of_configurations_and_off_by_default() -> None:
    assert load_config("edge").augmentation.field == 0
    assert load_config("edge", ["field=0.3"]).augmentation.field == 0.3
    with pytest.raises(ConfigError, match=r"field = 1\.5"):
        load_config("edge", ["field=1.5"])
