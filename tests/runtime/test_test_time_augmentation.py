"""A reading that is not sure is tried again at other sizes, and the looks elect the answer."""

from dataclasses import replace

import numpy as np
import pytest

from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.engine.base import VatOutput
from namer_edge_runtime.errors import ModelFileError
from namer_edge_runtime.inputs import open_input, prepare_input
from namer_edge_runtime.preprocessing import turned
from namer_edge_runtime.recognition.voting import Votes
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Milliseconds, Reading, Result

from .tiny_model import formula


class Doubting:
    """The tiny model's engine, unsure of what it sees in pictures lower than `height` pixels."""

    def __init__(self, recognizer: Recognizer, height: int) -> None:
        self.inner, self.height = recognizer.engine, height
        self.name, self.device, self.precision = "doubting", "CPU", "fp32"
        self.looks: list[tuple[int, int]] = []

    def vat(self, images: np.ndarray) -> VatOutput:
        self.looks += [images.shape[2:]] * len(images)
        seen = self.inner.vat(images)
        if images.shape[2] < self.height:
            return replace(seen, none=np.ones_like(seen.none))
        return seen

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


def doubting(
    recognizer: Recognizer, looks: tuple[float, ...], sure: float = 0.5, height: int = 64
) -> Recognizer:
    decoding = replace(recognizer.decoding, tta_scales=looks, confidence_threshold=sure)
    return Recognizer(
        Doubting(recognizer, height), recognizer.preprocessing, recognizer.vocabulary, decoding
    )  # type: ignore[arg-type]


STROKES = [np.array(stroke, np.float32) for stroke in formula("1 - 1")]


def test_one_look_is_enough_where_the_model_is_sure(recognizer: Recognizer) -> None:
    plain = recognizer.strokes(STROKES)
    assert plain.score > 0.5
    several = replace(recognizer.decoding, tta_scales=(2.0, 3.0), confidence_threshold=0.5)
    again = Recognizer(recognizer.engine, recognizer.preprocessing, recognizer.vocabulary, several)
    assert replace(again.strokes(STROKES), milliseconds=plain.milliseconds) == plain


def test_a_doubtful_reading_is_tried_again_until_it_is_settled(recognizer: Recognizer) -> None:
    reader = doubting(recognizer, (2.0, 3.0, 2.5, 3.5))
    result = reader.strokes(STROKES)
    assert result.canonical == "1 - 1"
    heights = [height for height, _ in reader.engine.looks]  # type: ignore[attr-defined]
    assert 3 <= len(heights) < 5  # the last look would hardly have changed the answer
    assert heights[0] < 64 <= heights[1]
    x = [token.x for token in result.tokens]
    assert x == sorted(x)  # positions are those of the input, whichever look found them
    assert x[-1] == pytest.approx(recognizer.strokes(STROKES).tokens[-1].x, abs=8)


def test_without_second_looks_the_first_reading_stands(recognizer: Recognizer) -> None:
    assert doubting(recognizer, ()).strokes(STROKES).canonical == ""


def test_what_slopes_and_is_not_surely_read_is_read_level_where_that_is_surer(
    recognizer: Recognizer,
) -> None:
    sloping = [turned(stroke, 0.4) for stroke in formula("1 - 1 - 1")]
    first = doubting(recognizer, (), sure=1.0, height=0).strokes(sloping)
    assert first.canonical != "1 - 1 - 1"
    assert first.prepared is not None
    assert first.prepared.turn == 0  # with one pass there is no second
    reader = doubting(recognizer, (1.1, 1.2), sure=1.0, height=0)
    result = reader.strokes(sloping)
    assert result.canonical == "1 - 1 - 1"
    assert result.prepared is not None
    assert result.prepared.turn == pytest.approx(-0.4, abs=0.1)
    # As it stands, level, and level at one other size: then it is settled.
    assert len(reader.engine.looks) == 3  # type: ignore[attr-defined]


class Upright(Doubting):
    """The tiny model's engine, unsure where less than half of the ink lies in the upper left."""

    def vat(self, images: np.ndarray) -> VatOutput:
        self.looks += [images.shape[2:]] * len(images)
        seen = self.inner.vat(images)
        rows, columns = (np.nonzero(images.max((0, 1)))[axis] for axis in (0, 1))
        middles = (rows.min() + rows.max()) / 2, (columns.min() + columns.max()) / 2
        lies = np.mean(rows < middles[0]) > 0.5 and np.mean(columns < middles[1]) > 0.5
        return seen if lies else replace(seen, none=np.ones_like(seen.none))


@pytest.mark.parametrize("mirror", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_ink_upside_down_or_mirrored_is_read_upright_where_that_is_surer(
    recognizer: Recognizer, mirror: tuple[int, int]
) -> None:
    written = [*formula("1 1 1"), [(268, 4), (288, 4)]]
    given = [np.array(stroke) * mirror for stroke in written]
    for looks, read in (((1.0,), "1 1 1 -"), ((), "1 1 1 -" if mirror == (1, 1) else "")):
        decoding = replace(recognizer.decoding, tta_scales=looks, confidence_threshold=0.5)
        engine = Upright(recognizer, 0)
        reader = Recognizer(engine, recognizer.preprocessing, recognizer.vocabulary, decoding)  # type: ignore[arg-type]
        result = reader.strokes(given)
        assert result.canonical == read
        # Once more at most, and positions are those of the input.
        assert len(engine.looks) == 1 + (mirror != (1, 1) and looks != ())
        x = [token.x * mirror[0] for token in result.tokens]
        assert x == sorted(x)


def test_what_is_prepared_already_is_looked_at_once(recognizer: Recognizer) -> None:
    reader = doubting(recognizer, (2.0,))
    (result,) = reader.each([prepare_input(STROKES, recognizer.preprocessing)])
    assert result.canonical == ""  # type: ignore[union-attr]
    (result,) = reader.each([open_input(STROKES)])
    assert result.canonical == "1 - 1"  # type: ignore[union-attr]


def test_a_batch_is_read_as_one_by_one(recognizer: Recognizer) -> None:
    inputs = [formula("1 " * n) for n in range(1, 8)] * 3
    reader = doubting(recognizer, (1.5, 2.0, 3.0))
    together = [result.canonical for result in reader(inputs, batch_size=2)]
    assert together == [reader(value).canonical for value in inputs]
    assert together[:2] == ["1", "1 1"]


def test_the_looks_that_agree_outvote_one_that_is_surer() -> None:
    ballot = Votes([said("1", 0.3), said("7", 0.4)])
    assert ballot.winner().canonical == "7"
    ballot.add(said("1", 0.2))
    winner = ballot.winner()
    assert winner.canonical == "1"
    assert winner.score == pytest.approx((0.3 + 0.2) / 3)  # the dissenting look counts too
    assert winner.milliseconds.total == pytest.approx(3.0)
    assert not ballot.is_decided(1)  # a look that reads 7 with 0.1 turns it
    assert ballot.is_decided(0)
    ballot.add(said("1", 0.95))
    assert ballot.is_decided(2)  # a lead of 1.05: two looks would need more than a half each
    assert not ballot.is_decided(3)


def test_what_other_looks_read_is_an_alternative_and_gathers_scores() -> None:
    looks = [
        said("1", 0.9, Reading("l", "l", 0.06)),
        said("7", 0.1, Reading("l", "l", 0.06), Reading("1", "1", 0.02)),
    ]
    winner = Votes(looks).winner(3)
    assert [other.canonical for other in winner.alternatives] == ["l", "7"]
    assert winner.alternatives[0].score == pytest.approx(0.06)
    assert Votes(looks).winner().alternatives == ()


def said(canonical: str, score: float, *others: Reading) -> Result:
    return Result(canonical, canonical, score, (), others, "", "", "", Milliseconds(vat=1.0))


def test_the_constants_travel_with_the_model() -> None:
    decoding = DecodingOptions(tta_scales=(0.9, 1.2), confidence_threshold=0.5)
    value = decoding.to_json()
    assert (
        DecodingOptions.from_json({**value, "second_looks": list(value["second_looks"])})
        == decoding
    )
    for wrong in (3, [0.0], ["x"], [True], [1e9], [float("nan")]):
        with pytest.raises(ModelFileError, match="second_looks"):
            DecodingOptions.from_json({"second_looks": wrong})
    for wrong in (-0.1, 2, float("nan")):
        with pytest.raises(ModelFileError, match="sure"):
            DecodingOptions.from_json({"sure": wrong})
    assert DecodingOptions.from_json({"routes": 3}).k_best == 3
    for wrong in (-1, 2.5, 10**9):
        with pytest.raises(ModelFileError, match="routes"):
            DecodingOptions.from_json({"routes": wrong})
