"""Writing on a canvas, stroke by stroke."""

from dataclasses import replace
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pytest

from namer_edge_runtime.engine.base import PgdInputs, PgdOutput, VatOutput
from namer_edge_runtime.errors import InkError, UsageError
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Milliseconds, Result

from .tiny_model import formula


def moved(stroke: list[tuple[float, float]], x: float) -> list[tuple[float, float]]:
    return [(a + x, b) for a, b in stroke]


def test_the_result_follows_each_stroke(recognizer: Recognizer) -> None:
    session = recognizer.session()
    assert session.result().canonical == ""
    one, minus, other = formula("1 - 1")
    first = session.add(one)
    assert session.result().canonical == "1"
    second = session.add(minus)
    session.add(other)
    assert session.result().canonical == "1 - 1"
    session.remove(second)
    assert session.result().canonical == "1 1"
    session.replace(first, formula("-")[0])
    assert session.result().canonical == "- 1"
    assert list(session.strokes) == [0, 2]
    session.clear()
    assert session.result().canonical == ""
    assert session.symbols() == ()


def test_symbols_keep_their_identity(recognizer: Recognizer) -> None:
    session = recognizer.session()
    one, minus, other = formula("1 - 1")
    session.add(one)
    session.add(other)
    before = session.symbols()
    assert [symbol.text for symbol in before] == ["1", "1"]
    assert [symbol.strokes for symbol in before] == [(0,), (1,)]
    session.add(minus)  # written last, read in the middle
    after = session.symbols()
    assert [symbol.text for symbol in after] == ["1", "-", "1"]
    assert (after[0].id, after[2].id) == (before[0].id, before[1].id)
    assert after[1].id not in {symbol.id for symbol in before}
    session.remove(0)
    assert [symbol.id for symbol in session.symbols()] == [after[1].id, after[2].id]
    # Written anew, it is another symbol; replaced, it is the same, whatever it reads as now.
    session.add(one)
    again = session.symbols()
    assert again[0].id not in {symbol.id for symbol in after}
    session.replace(2, moved(one, 56))
    assert [symbol.text for symbol in session.symbols()] == ["1", "1", "1"]
    assert [symbol.id for symbol in session.symbols()] == [symbol.id for symbol in again]


def test_scripts_keep_their_identity_too(recognizer: Recognizer) -> None:
    class Scripted:
        """A recognizer that reads what it is told."""

        def __init__(self) -> None:
            self.reads: list[Result] = []

        def strokes(self, strokes: list[Any], alternatives: int = 0) -> Result:
            return replace(self.reads.pop(0), ink=strokes)

    plain = recognizer.strokes(formula("1 ^ 1"))
    token = plain.tokens[0]
    tokens = tuple(
        replace(token, text=text, x=x) for text, x in (("1", 0.0), ("^", 30.0), ("2", 56.0))
    )
    scripted = Scripted()
    scripted.reads = [
        replace(plain, tokens=tokens),
        replace(plain, tokens=(*tokens, replace(token, text="+", x=112.0))),
    ]
    session = Recognizer.session(scripted)  # type: ignore[arg-type]
    one, *_, two = formula("1 1 1")[:2]
    session.add(one)
    session.add(two)
    before = [symbol.id for symbol in session.symbols()]
    session.add(formula("1 1 1")[2])
    after = [symbol.id for symbol in session.symbols()]
    assert after[:3] == before
    assert after[3] not in before


def test_an_update_costs_one_recognition_and_asking_again_nothing(recognizer: Recognizer) -> None:
    class Counting:
        name, device, precision = "counting", "CPU", "fp32"
        calls = 0

        def vat(self, images: np.ndarray) -> VatOutput:
            self.calls += 1
            return recognizer.engine.vat(images)

        def pgd(self, inputs: PgdInputs) -> PgdOutput:
            self.calls += 1
            return recognizer.engine.pgd(inputs)

    engine = Counting()
    counted = Recognizer(
        engine, recognizer.preprocessing, recognizer.vocabulary, recognizer.decoding
    )
    session = counted.session()
    for stroke in formula("1 - 1 1"):
        session.add(stroke)
        engine.calls = 0
        result = session.result()
        session.symbols()
        session.result()
        updated, engine.calls = engine.calls, 0
        whole = counted.strokes(list(session.strokes.values()))
        assert updated == engine.calls > 0
        assert replace(result, milliseconds=Milliseconds()) == replace(
            whole, milliseconds=Milliseconds()
        )


def test_an_update_takes_no_longer_than_a_recognition_of_the_same_ink(
    recognizer: Recognizer,
) -> None:
    session = recognizer.session()
    strokes = formula("1 - 1 1 - 1")
    updates, wholes = [], []
    for _ in range(7):  # by turns, so that what else the machine does falls on both
        for stroke in strokes:
            session.add(stroke)
            session.symbols()
        session.remove(next(iter(session.strokes)))
        before = process_time()
        session.result()
        between = process_time()
        recognizer.strokes(list(session.strokes.values()))
        updates.append(between - before)
        wholes.append(process_time() - between)
        session.clear()
    assert median(updates) < 1.5 * median(wholes)  # what is above 1 is for a busy machine


def test_what_is_not_there_or_no_stroke_is_a_typed_error(recognizer: Recognizer) -> None:
    session = recognizer.session()
    session.add(formula("1")[0])
    with pytest.raises(UsageError, match="no stroke 7"):
        session.remove(7)
    with pytest.raises(UsageError, match="no stroke 7"):
        session.replace(7, formula("1")[0])
    for wrong in ([], [(0, float("nan"))], "stroke"):
        with pytest.raises(InkError):
            session.add(wrong)
        with pytest.raises(InkError):
            session.replace(0, wrong)
    assert session.result().canonical == "1"


def test_alternatives_come_with_each_result(recognizer: Recognizer) -> None:
    session = recognizer.session(alternatives=2)
    for stroke in formula("1 - 1"):
        session.add(stroke)
    assert len(session.result().alternatives) == 2
