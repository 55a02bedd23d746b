"""Correcting a symbol: what is chosen is certain, at once and whatever is written later."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pytest

from namer_edge.data.formula import Formula
from namer_edge.evaluation.corrections import replay
from namer_edge.verbs import evaluate
from namer_edge_runtime.engine.base import PgdInputs, PgdOutput, VatOutput
from namer_edge_runtime.errors import UsageError
from namer_edge_runtime.formula.vocabulary import INKLESS
from namer_edge_runtime.ink.inkml import read_inkml
from namer_edge_runtime.recognition.evidence import Lock
from namer_edge_runtime.recognition.pen_session import CanvasSymbol, PenSession
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Milliseconds

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.inkml"))


class Counting:
    """An engine that counts what it is asked."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.calls = engine, 0
        self.name, self.device, self.precision = engine.name, engine.device, engine.precision

    def vat(self, images: np.ndarray) -> VatOutput:
        self.calls += 1
        return self.engine.vat(images)

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        self.calls += 1
        return self.engine.pgd(inputs)


@pytest.fixture(scope="module")
def packaged() -> Recognizer:
    recognizer = Recognizer.from_pretrained(threads=1)
    return Recognizer(
        Counting(recognizer.engine),
        recognizer.preprocessing,
        recognizer.vocabulary,
        recognizer.decoding,
        recognizer.score_calibration,
    )


def written(recognizer: Recognizer, name: str) -> PenSession:
    session = recognizer.session()
    for stroke in read_inkml(EXAMPLES / f"{name}.inkml").strokes:
        session.add(stroke)
    return session


def symbol(session: PenSession, text: str) -> CanvasSymbol:
    return next(one for one in session.symbols() if one.text == text)


def beyond(session: PenSession) -> list[tuple[float, float]]:
    """A stroke like the first, to the right of all."""
    strokes = list(session.strokes.values())
    right = max(stroke[:, 0].max() for stroke in strokes)
    width = right - min(stroke[:, 0].min() for stroke in strokes)
    return (strokes[0] + (right + 0.2 * width - strokes[0][:, 0].min(), 0)).tolist()


def inked(session: PenSession) -> Iterator[CanvasSymbol]:
    return (one for one in session.symbols() if one.strokes)


@pytest.mark.parametrize("name", NAMES)
def test_a_session_reads_what_the_recognizer_reads(packaged: Recognizer, name: str) -> None:
    session = written(packaged, name)
    whole = packaged.strokes(list(session.strokes.values()))
    assert replace(session.result(), milliseconds=Milliseconds()) == replace(
        whole, milliseconds=Milliseconds()
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_alternative_of_every_symbol_can_be_chosen(packaged: Recognizer, name: str) -> None:
    for number, one in enumerate(written(packaged, name).symbols()):
        assert one.alternatives
        assert sum(other.score for other in one.alternatives) <= 1 + 1e-6
        scores = [other.score for other in one.alternatives]
        assert scores == sorted(scores, reverse=True)
        assert one.text not in [other.text for other in one.alternatives]
        for other in one.alternatives[:3]:
            assert (other.text in INKLESS) == (one.text in INKLESS)
            session = written(packaged, name)
            session.choose(session.symbols()[number], other.text)
            found = [s for s in session.symbols() if s.locked]
            assert [(s.text, s.strokes) for s in found] == [(other.text, one.strokes)]
            assert found[0].score > 0.99
            stroke = session.add(beyond(session))
            found = [s for s in session.symbols() if s.locked]
            assert [(s.text, s.strokes) for s in found] == [(other.text, one.strokes)]
            session.remove(stroke)
            assert [s.text for s in session.symbols() if s.locked] == [other.text]


def test_a_choice_needs_no_new_pass_and_a_small_part_of_the_time(packaged: Recognizer) -> None:
    session = written(packaged, "sum")
    first = symbol(session, "a")
    choices, readings = [], []
    for number in range(9):
        session.choose(first.id, ("c", "d")[number % 2])
        packaged.engine.calls = 0  # type: ignore[attr-defined]
        before = process_time()
        assert session.result().latex == ("c+b=3", "d+b=3")[number % 2]
        between = process_time()
        assert packaged.engine.calls == 0  # type: ignore[attr-defined]
        packaged.strokes(list(session.strokes.values()))
        choices.append(between - before)
        readings.append(process_time() - between)
    assert median(choices) < 0.5 * median(readings)


def test_what_is_chosen_for_one_symbol_leaves_the_others(packaged: Recognizer) -> None:
    session = written(packaged, "sum")
    session.choose(symbol(session, "a"), "\\alpha")
    session.choose(symbol(session, "3"), "z")
    assert session.result().canonical == "\\alpha + b = z"
    assert [one.text for one in session.symbols() if one.locked] == ["\\alpha", "z"]
    session.choose(symbol(session, "z"), "3")  # another choice takes the place of the first
    session.release(symbol(session, "\\alpha").strokes)
    assert session.result().canonical == "a + b = 3"
    assert [one.text for one in session.symbols() if one.locked] == ["3"]


def test_a_symbol_may_become_a_relation_and_a_relation_a_symbol(packaged: Recognizer) -> None:
    session = written(packaged, "root")
    session.choose(symbol(session, "\\sqrt"), "\\Delta")
    assert "\\Delta" in session.result().canonical
    assert "\\sqrt" not in session.result().canonical
    session.choose(symbol(session, "\\Delta"), "\\sqrt")
    assert session.result().latex == "\\sqrt{x}"
    session = written(packaged, "sum")
    minus = symbol(session, "=").strokes
    session.split(*([stroke] for stroke in minus))
    session.choose(next(s for s in session.symbols() if s.strokes == minus[:1]), "\\frac")
    assert "\\frac" in session.result().canonical


def test_strokes_are_joined_and_split(packaged: Recognizer) -> None:
    session = written(packaged, "sum")
    equals = symbol(session, "=").strokes
    assert len(equals) == 2
    session.split([equals[0]], [equals[1]])
    assert {equals[:1], equals[1:]} <= {one.strokes for one in session.symbols()}
    for stroke in equals:  # which classes they are is still to be said, where the model is misled
        part = next(one for one in session.symbols() if one.strokes == (stroke,))
        assert part.text == "-" or "-" in [other.text for other in part.alternatives]
        session.choose(part, "-")
    assert session.result().canonical.count("-") == 2
    session.join(equals)
    assert symbol(session, "=").strokes == equals
    assert session.result().latex == "a+b=3"
    plus, other = symbol(session, "+").strokes, symbol(session, "b").strokes
    session.join([*plus, *other], "k")
    assert symbol(session, "k").strokes == tuple(sorted(plus + other))
    session.add(beyond(session))
    assert symbol(session, "k").strokes == tuple(sorted(plus + other))


def test_scripts_are_chosen_deleted_and_said(packaged: Recognizer) -> None:
    session = written(packaged, "square")
    assert session.result().canonical == "x ^ { 2 } + 1"
    session.choose(symbol(session, "^"), "_")
    assert session.result().canonical == "x _ { 2 } + 1"
    session.delete(symbol(session, "_"))
    assert session.result().canonical == "x 2 + 1"
    later = session.add(beyond(session))
    assert session.result().canonical.startswith("x 2 + 1")
    session.remove(later)
    session.script(symbol(session, "2"), "^")
    assert session.result().canonical == "x ^ { 2 } + 1"
    session.script(symbol(session, "1"), "_")
    assert "_ { 1 }" in session.result().canonical


def test_a_deleted_symbol_goes_with_its_strokes(packaged: Recognizer) -> None:
    session = written(packaged, "sum")
    session.choose(symbol(session, "b"), "6")
    session.delete(symbol(session, "="))
    assert [one.text for one in session.symbols() if one.locked] == ["6"]
    assert len(session.strokes) == 5
    session.delete(symbol(session, "6"))
    assert session.locks == ()
    session.clear()
    assert session.symbols() == ()


def test_what_cannot_be_corrected_is_a_typed_error(packaged: Recognizer) -> None:
    session = written(packaged, "square")
    before = session.result().canonical
    with pytest.raises(UsageError, match="no symbol 99"):
        session.choose(99, "z")
    with pytest.raises(UsageError, match=r"'\\\\alhpa' is no symbol.*\\alpha"):
        session.choose(symbol(session, "x"), "\\alhpa")
    with pytest.raises(UsageError, match="written with no stroke"):
        session.choose(symbol(session, "x"), "^")
    with pytest.raises(UsageError, match="stroke"):
        session.choose(symbol(session, "^"), "2")
    with pytest.raises(UsageError, match="no stroke 17"):
        session.join([0, 17])
    with pytest.raises(UsageError, match="two parts"):
        session.split([0], [0, 1])
    with pytest.raises(UsageError, match="no stroke 17"):
        session.split([0], [17])
    with pytest.raises(UsageError, match="no symbol that this model knows"):
        session.join([0], "nope")
    for one_id in (session.join, session.split, session.release):
        with pytest.raises(UsageError, match="a list"):
            one_id(0)
    with pytest.raises(UsageError, match="no script"):
        session.script(symbol(session, "2"), "up")
    with pytest.raises(UsageError, match="nothing stands before"):
        session.script(symbol(session, "x"), "^")
    assert session.result().canonical == before
    assert session.locks == ()
    ink = list(session.strokes.values())
    for locks in ([Lock("x", (0,)), Lock("y", (0,))], [Lock("x", (9,))], [Lock("x")]):
        with pytest.raises(UsageError):
            packaged.corrected(ink, locks)

    class Plain:
        def strokes(self, strokes: Any, alternatives: int = 0) -> Any:
            return packaged.strokes(strokes, alternatives=alternatives)

    plain = PenSession(Plain())
    for stroke in ink:
        plain.add(stroke)
    assert [one.alternatives for one in plain.symbols()] == [()] * 5
    with pytest.raises(UsageError, match="Plain takes no corrections"):
        plain.choose(plain.symbols()[0], "y")


def test_results_of_one_look_models_can_be_corrected_too(packaged: Recognizer) -> None:
    one_look = Recognizer(
        packaged.engine,
        packaged.preprocessing,
        packaged.vocabulary,
        replace(packaged.decoding, tta_scales=(), k_best=0),
    )
    session = written(one_look, "sum")
    session.choose(symbol(session, "a"), "4")
    assert session.result().canonical == "4 + b = 3"


def test_a_replay_counts_corrections_until_the_formula_is_right(packaged: Recognizer) -> None:
    session = written(packaged, "square")
    symbols = session.symbols()
    owner = [next(n for n, s in enumerate(symbols) if k in s.strokes) for k in session.strokes]
    chosen = symbols[0].alternatives[0].text

    def formula(label: str) -> Formula:
        empty = np.zeros((0, 2), np.float32)
        strokes = list(session.strokes.values())
        return Formula(
            "made", strokes, np.array(owner, np.int32), tuple(label.split()), empty, empty
        )

    done = replay(packaged, formula(f"{chosen} _ {{ 2 }} + 1"))
    assert done.right
    assert len(done.corrections) == 2
    assert replay(packaged, formula("x ^ { 2 } + 1")).corrections == ()
    never = replay(packaged, formula("x ^ { 2 } + 1 + 1"))
    assert not never.right


def test_the_verb_is_declared() -> None:
    assert "corrections" in evaluate.SUB_VERBS
    assert json.dumps(evaluate.EPILOG).count("evaluate corrections") == 1


def test_a_symbol_of_one_of_several_lines_is_corrected(packaged: Recognizer) -> None:
    session = written(packaged, "sum")
    below = read_inkml(EXAMPLES / "square.inkml").strokes
    high = max(stroke[:, 1].max() for stroke in session.strokes.values())
    shift = 2.5 * high - min(stroke[:, 1].min() for stroke in below)
    for stroke in below:
        session.add(stroke + np.float32([0, shift]))
    assert [line.canonical for line in session.result().lines] == ["a + b = 3", "x ^ { 2 } + 1"]
    session.choose(symbol(session, "x"), "\\lambda")
    session.choose(symbol(session, "a"), "\\alpha")
    lines = ["\\alpha + b = 3", "\\lambda ^ { 2 } + 1"]
    assert [line.canonical for line in session.result().lines] == lines
    assert [one.text for one in session.symbols() if one.locked] == ["\\alpha", "\\lambda"]
    session.delete(symbol(session, "^"))
    assert session.result().lines[1].canonical == "\\lambda 2 + 1"
    session.add(beyond(session))
    assert [one.text for one in session.symbols() if one.locked] == ["\\alpha", "\\lambda"]
