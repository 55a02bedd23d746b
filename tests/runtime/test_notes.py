"""What is left out of a picture is told; ink of which nothing is read is an error."""

import json
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest

from namer_edge_runtime import Recognizer
from namer_edge_runtime.errors import UnreadableError
from namer_edge_runtime.picture.sheet import OUTSIDE
from namer_edge_runtime.preprocessing import Prepared
from namer_edge_runtime.recognition import single_pass
from namer_edge_runtime.result import Result


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer.from_pretrained()


def written(border: int = 0) -> np.ndarray:
    page = np.full((160, 260), 255, np.uint8)
    cv2.putText(page, "12", (60, 120), cv2.FONT_HERSHEY_SIMPLEX, 3, 0, 5, cv2.LINE_AA)
    return np.pad(page, border)


def test_notes_say_what_is_left_out_and_are_empty_else(recognizer: Recognizer) -> None:
    plain, framed = recognizer([written(), written(20)])
    assert plain.notes == ()
    assert "notes" not in plain.to_json()
    assert framed.notes == (OUTSIDE,)
    assert framed.canonical == plain.canonical
    assert json.loads(json.dumps(framed.to_json()))["notes"] == [OUTSIDE]
    assert Result("", "", 0.0).notes == ()


def test_ink_of_which_nothing_is_read_is_an_error_and_stops_nothing(
    recognizer: Recognizer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ink.png").write_bytes(cv2.imencode(".png", written())[1].tobytes())
    blank = np.full((60, 90), 240, np.uint8)
    read = single_pass.SinglePass.__call__

    def nothing(self: single_pass.SinglePass, inputs: Sequence[object], *rest: object) -> list:
        answers = read(self, inputs, *rest)  # type: ignore[arg-type]
        return [Result("", "", 0.0, prepared=answer.prepared) for answer in answers]

    monkeypatch.setattr(single_pass.SinglePass, "__call__", nothing)
    ink, page, again = recognizer.each([tmp_path / "ink.png", blank, written()])
    assert isinstance(ink, UnreadableError)
    assert str(ink).startswith(f"{tmp_path / 'ink.png'}: there is ink")
    assert ink.exit_code == 1
    assert isinstance(page, Result)
    assert isinstance(again, UnreadableError)
    with pytest.raises(UnreadableError):
        recognizer(written())
    strokes = recognizer.strokes([[(0, 0), (10, 30)]])
    assert strokes.canonical == ""
    prepared = Prepared(np.full((32, 32), 255, np.uint8), 1.0, (0.0, 0.0))
    assert isinstance(recognizer.each([prepared])[0], Result)
