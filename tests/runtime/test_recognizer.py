"""What a caller does with a `Recognizer`."""

import io
import logging
import multiprocessing
import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from namer_edge_runtime.errors import InkError, NamerEdgeError, PictureError, UsageError
from namer_edge_runtime.ink.inkml import read_inkml
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognition.single_pass import SinglePass
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result

from .drawing import CORNER, inkml, picture, png
from .tiny_model import formula, write_tiny_model

FORMULAS = ["1", "-", "1 - 1", "1 ^ 1", "- 1 1 - ^ 1 ^ -", "1 - 1 1 1 1 1 - - 1 1 -"]


def expected(tokens: str) -> str:
    """Canonical form: a `^` takes all that is right of it."""
    return tokens.replace("^", "^ {") + " }" * tokens.count("^")


@pytest.mark.parametrize("tokens", FORMULAS)
def test_strokes(recognizer: Recognizer, tokens: str) -> None:
    result = recognizer.strokes(formula(tokens))
    assert result.canonical == expected(tokens)
    assert 0 < result.score <= 1
    assert [token.text for token in result.tokens] == tokens.split()


def test_every_form_of_the_same_input_reads_the_same(
    recognizer: Recognizer, tmp_path: Path
) -> None:
    image = picture("1 ^ - 1")
    (tmp_path / "x.png").write_bytes(png(image))
    (tmp_path / "x.inkml").write_bytes(inkml("1 ^ - 1"))
    forms: list[Any] = [
        image,
        255 - image,
        image.astype(np.float64) / 255,
        np.repeat(image[:, :, None], 3, axis=2),
        png(image),
        bytearray(png(image)),
        io.BytesIO(png(image)),
        str(tmp_path / "x.png"),
        tmp_path / "x.png",
        Image.fromarray(image),
        tmp_path / "x.inkml",
        inkml("1 ^ - 1"),
        b"\xef\xbb\xbf" + inkml("1 ^ - 1"),
        io.BytesIO(inkml("1 ^ - 1")),
        read_inkml(inkml("1 ^ - 1")),
        formula("1 ^ - 1"),
        [np.array(stroke) for stroke in formula("1 ^ - 1")],
    ]
    assert {recognizer(form).canonical for form in forms} == {"1 ^ { - 1 }"}


@pytest.mark.parametrize("scale", [1.0, 2.0, 3.3, 8.0])
def test_positions_are_in_pixels_of_the_picture(recognizer: Recognizer, scale: float) -> None:
    result = recognizer(picture("1 - 1", scale, 2 * scale))
    middles = [(0, 10), (66, 10), (112, 10)]
    assert len(result.tokens) == 3
    for token, middle in zip(result.tokens, middles, strict=True):
        # A cell is 8 pixels where a symbol is 20 high, so half a cell each way is 4 of 20.
        wanted = (np.array(middle) + CORNER) * scale
        assert np.abs(np.array([token.x, token.y]) - wanted).max() < 8 * scale


def test_t6_a_batch_equals_one_by_one_in_order(either: Recognizer) -> None:
    inputs = [picture(tokens, scale) for scale in (1.5, 3.0) for tokens in FORMULAS]
    singles = [either(value) for value in inputs]
    for batch_size in (1, 3, 8):
        batch = either(inputs, batch_size=batch_size)
        for one, other in zip(singles, batch, strict=True):
            assert one.canonical == other.canonical
            assert one.score == pytest.approx(other.score, abs=1e-5)
            assert [t.x for t in one.tokens] == [t.x for t in other.tokens]


def test_lists_of_strokes_make_a_batch(recognizer: Recognizer) -> None:
    results = recognizer([formula("1 1"), formula("-")])
    assert [result.canonical for result in results] == ["1 1", "-"]


def test_an_empty_list_gives_an_empty_list(recognizer: Recognizer) -> None:
    assert recognizer([]) == []


@pytest.mark.parametrize("value", [0, 128, 255])
def test_a_blank_page_is_an_empty_result(recognizer: Recognizer, value: int) -> None:
    result = recognizer(np.full((100, 300), value, np.uint8))
    assert (result.latex, result.canonical, result.score, result.tokens) == ("", "", 0.0, ())
    assert result.engine == "onnxruntime"


def test_an_empty_canvas_is_an_empty_result(recognizer: Recognizer) -> None:
    assert recognizer.strokes([]).canonical == ""
    assert [one.canonical for one in recognizer([formula("1"), [], formula("-")])] == ["1", "", "-"]


def test_further_channels_of_a_stroke_are_dropped(recognizer: Recognizer) -> None:
    timed = [np.pad(np.asarray(stroke, float), ((0, 0), (0, 1))) for stroke in formula("1 - 1")]
    assert timed[0].shape[1] == 3
    assert recognizer(timed).canonical == "1 - 1"


def test_no_more_large_pictures_are_open_than_need_be(
    recognizer: Recognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [picture("1"), picture("-"), picture("1 - 1"), picture("1")]
    wanted = [answer.canonical for answer in recognizer(pages)]
    windows: list[int] = []
    single_pass = SinglePass.__call__

    def counting(self: SinglePass, inputs: Sequence[Any], *more: Any) -> Any:
        windows.append(len(inputs))
        return single_pass(self, inputs, *more)

    monkeypatch.setattr(SinglePass, "__call__", counting)
    monkeypatch.setattr("namer_edge_runtime.recognizer.MAX_OPEN_PIXELS", pages[0].size + 1)
    assert [answer.canonical for answer in recognizer(pages)] == wanted
    assert len(windows) > 1
    assert max(windows) == 2


def test_ink_in_which_nothing_is_found_is_an_empty_result(tmp_path: Path) -> None:
    write_tiny_model(tmp_path / "m", max_nodes=2)
    result = Recognizer.from_pretrained(tmp_path / "m").strokes(formula("1 1"))
    assert (result.canonical, result.score, result.truncated) == ("", 0.0, True)


def test_what_exceeds_the_most_nodes_is_said(tmp_path: Path) -> None:
    write_tiny_model(tmp_path / "m", max_nodes=5)
    result = Recognizer.from_pretrained(tmp_path / "m").strokes(formula("1 1 1 1 1"))
    assert result.truncated
    assert len(result.tokens) == 3
    assert result.to_json()["truncated"] is True


def test_t6_a_bad_input_in_a_batch_is_named_by_its_number(recognizer: Recognizer) -> None:
    with pytest.raises(PictureError, match=r"input 1: .*not a picture"):
        recognizer([picture("1"), b"no picture at all", picture("-")])
    answers = recognizer.each([picture("1"), b"no picture", picture("-")])
    assert [isinstance(answer, NamerEdgeError) for answer in answers] == [False, True, False]


def test_bad_inputs_are_typed_errors(recognizer: Recognizer, tmp_path: Path) -> None:
    (tmp_path / "empty.png").touch()
    (tmp_path / "cut.png").write_bytes(png(picture("1"))[:60])
    (tmp_path / "nothing.inkml").write_bytes(b"<ink></ink>")
    for name, kind in [
        ("empty.png", PictureError),
        ("cut.png", PictureError),
        ("gone.png", PictureError),
        ("nothing.inkml", InkError),
        ("gone.inkml", InkError),
    ]:
        with pytest.raises(kind, match=name):
            recognizer(tmp_path / name)
    with pytest.raises(NamerEdgeError):
        recognizer(object())
    with pytest.raises(NamerEdgeError):
        recognizer(None)
    with pytest.raises(InkError):
        recognizer.strokes([[(0, 0), (float("nan"), 1)]])
    with pytest.raises(UsageError, match="binary"):
        recognizer(io.StringIO("text"))
    with pytest.raises(UsageError, match="batch_size"):
        recognizer([picture("1")], batch_size=0)
    for wrong in (-1, 1.5, "2"):
        with pytest.raises(UsageError, match=f"alternatives is {wrong!r}"):
            recognizer(picture("1"), alternatives=wrong)  # type: ignore[call-overload]
    with pytest.raises(InkError, match="int is no list of strokes"):
        recognizer.strokes(5)  # type: ignore[arg-type]
    with (tmp_path / "empty.png").open("rb") as closed:
        pass
    with pytest.raises(PictureError, match=r"empty\.png: cannot be read"):
        recognizer(closed)
    with pytest.raises(PictureError, match="null"):
        recognizer("a\0b.png")
    with pytest.raises(InkError, match="stroke 1 has shape"):
        recognizer([[(0, 0), (20, 20)], []])


def test_alternatives_come_from_weaker_edges_and_second_classes(recognizer: Recognizer) -> None:
    # The tiny model is sure of its edges: what is left is another class, or a token less.
    result = recognizer(picture("1 - 1 -"), alternatives=3)
    others = [other.canonical for other in result.alternatives]
    assert result.canonical == "1 - 1 -"
    assert len(others) == len({*others, result.canonical}) - 1 == 3
    scores = [other.score for other in result.alternatives]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[0] < result.score
    assert [value["canonical"] for value in result.to_json()["alternatives"]] == others
    assert recognizer(picture("1 - 1 -")).alternatives == ()


def test_alternatives_say_where_their_tokens_stand(recognizer: Recognizer) -> None:
    image = picture("1 - 1 -", 3.0)
    result = recognizer(image, alternatives=3)
    places = {(token.x, token.y) for token in result.tokens}
    for other in result.alternatives:
        assert [token.text for token in other.tokens] == other.canonical.split()
        assert {(token.x, token.y) for token in other.tokens} <= places  # with a token less, fewer
        assert other.katex == other.latex
        assert other.mathml.startswith("<math")
        assert list(other.to_json()) == ["latex", "canonical", "score", "tokens"]


def test_the_json_object_has_the_promised_form(recognizer: Recognizer) -> None:
    value = recognizer(picture("1 ^ 1")).to_json()
    assert list(value) == [
        "latex",
        "canonical",
        "score",
        "tokens",
        "engine",
        "device",
        "precision",
        "milliseconds",
    ]
    assert list(value["tokens"][0]) == ["text", "score", "x", "y"]
    assert list(value["milliseconds"]) == ["prepare", "vat", "pgd", "path", "total"]
    assert (value["engine"], value["device"], value["precision"]) == ("onnxruntime", "CPU", "fp32")


def test_a_result_gives_mathml(recognizer: Recognizer) -> None:
    mathml = recognizer(picture("1 ^ 1")).mathml
    assert mathml.startswith("<math")
    assert "msup" in mathml


def test_a_model_of_three_channels_gets_them(tiny_model: ModelFile, recognizer: Recognizer) -> None:
    from dataclasses import replace

    three = Recognizer(
        recognizer.engine, replace(tiny_model.preprocessing, channels=3), tiny_model.vocabulary
    )
    assert three(picture("1 - 1")).canonical == "1 - 1"


def test_t8_eight_threads_on_one_recognizer(either: Recognizer) -> None:
    inputs = [picture(tokens) for tokens in FORMULAS] * 4
    serial = [either(value).canonical for value in inputs]
    with ThreadPoolExecutor(8) as threads:
        assert [r.canonical for r in threads.map(either, inputs)] == serial


def test_t8_it_can_be_pickled(either: Recognizer) -> None:
    data = pickle.dumps(either)
    assert len(data) < 20_000  # no graph inside
    copy = pickle.loads(data)
    assert copy(picture("1 - 1")).canonical == "1 - 1"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_t8_it_works_in_another_process(either: Recognizer, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system does not {method}")
    either(picture("1", 8.0))  # threads of this process are alive when it forks
    with multiprocessing.get_context(method).Pool(1) as pool:
        result = pool.apply_async(either, (picture("1 - 1", 8.0),)).get(timeout=120)
    assert isinstance(result, Result)
    assert result.canonical == "1 - 1"


def test_the_same_input_gives_the_same_answer(recognizer: Recognizer) -> None:
    image = picture("- 1 1 - ^ 1 ^ -")
    first, second = recognizer(image), recognizer(image)
    assert (first.canonical, first.score, first.tokens) == (
        second.canonical,
        second.score,
        second.tokens,
    )


def test_it_leaves_the_callers_logging_alone(
    recognizer: Recognizer, capfd: pytest.CaptureFixture[str]
) -> None:
    before = logging.getLogger().handlers.copy(), logging.getLogger().level
    recognizer(picture("1"))
    assert before == (logging.getLogger().handlers, logging.getLogger().level)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("wrong", [{"name_or_path": 3}, {"threads": "2"}, {"threads": 1.5}])
def test_a_model_or_number_of_threads_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="give"):
        Recognizer.from_pretrained(**wrong)
