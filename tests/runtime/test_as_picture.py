"""A model that sees strokes reads ink with them, and as a picture where it is asked to."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from namer_edge_runtime.engine.base import PgdInputs, PgdOutput, VatOutput
from namer_edge_runtime.inputs import open_input
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import STROKE_PLANES
from namer_edge_runtime.recognizer import Recognizer

from .drawing import formula, picture


class Seen:
    """An engine that keeps what it is shown, and passes the picture on."""

    def __init__(self, engine: Any) -> None:
        self.name, self.device, self.precision = engine.name, engine.device, engine.precision
        self.engine = engine
        self.images: list[NDArray[np.uint8]] = []

    def vat(self, images: NDArray[np.uint8]) -> VatOutput:
        self.images.append(images)
        output: VatOutput = self.engine.vat(images[:, :1])
        return output

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        output: PgdOutput = self.engine.pgd(inputs)
        return output


@pytest.mark.parametrize("as_picture", [False, True])
def test_strokes_are_shown_or_hidden(
    tiny_model: ModelFile, recognizer: Recognizer, as_picture: bool
) -> None:
    seen = Seen(recognizer.engine)
    preprocessing = replace(tiny_model.preprocessing, stroke_planes=True)
    reader = Recognizer(
        seen,
        preprocessing,
        tiny_model.vocabulary,
        replace(recognizer.decoding, second_looks=(1.1, 0.9, 1.2, 0.8), sure=2.0),
        as_picture=as_picture,
    )
    assert reader.strokes(formula("1 - 1")).canonical == "1 - 1"
    session = reader.session()
    for stroke in formula("1 ^ 1"):
        session.add(stroke)
    session.result()
    assert len(seen.images) > 2  # second looks too
    for image in seen.images:
        assert image.shape[1] == 1 + STROKE_PLANES
        assert image[:, 1:].any() != as_picture
    seen.images.clear()
    assert reader(picture("1 - 1")).canonical == "1 - 1"
    assert not any(image[:, 1:].any() for image in seen.images)


def test_pictures_and_ink_of_one_size_share_a_batch(
    tiny_model: ModelFile, recognizer: Recognizer
) -> None:
    seen = Seen(recognizer.engine)
    preprocessing = replace(tiny_model.preprocessing, stroke_planes=True)
    reader = Recognizer(seen, preprocessing, tiny_model.vocabulary)
    prepared = open_input(formula("1 - 1")).prepare(preprocessing)
    hidden = replace(prepared, strokes=None)
    reader.each([prepared, hidden])
    assert [plane.any() for plane in seen.images[-1][:, 1:]] == [True, False]
