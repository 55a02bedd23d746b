"""Forms, alternatives and drawings that `namer-edge recognize` gives when asked."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import tqdm

from namer_edge_runtime.bulk import run as bulk
from namer_edge_runtime.bulk.input_files import Source
from namer_edge_runtime.recognizer import Recognizer

from .conftest import Run
from .drawing import inkml, picture, png


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "a.png"
    path.write_bytes(png(picture("1 ^ 1", 4.0)))
    return path


@pytest.mark.parametrize(
    ("format_", "shown"),
    [
        ("latex", "1^1"),
        ("spaced", "1 ^ { 1 }"),
        ("katex", "1^1"),
        ("mathml", "<msup><mn>1</mn><mn>1</mn></msup>"),
        ("mathml-word", "<mml:msup>"),
        ("omml", "<m:sSup>"),
        ("typst", "1^1"),
        ("sympy", "1**1"),
        ("svg", "<title>1^1</title>"),
    ],
)
def test_a_line_is_name_and_formula_in_the_form_asked_for(
    format_: str, shown: str, recognize: Run, page: Path
) -> None:
    code, output, errors = recognize(page, page, "--format", format_)
    assert (code, errors) == (0, "")
    for line in output.splitlines():
        name, formula = line.split("\t")
        assert name == str(page)
        assert shown in formula
    assert output.count("\n") == 2


def test_json_and_label_graphs(recognize: Run, page: Path) -> None:
    assert json.loads(recognize(page, "--format", "json")[1])["canonical"] == "1 ^ { 1 }"
    (page.parent / "b.inkml").write_bytes(inkml("1 1"))
    code, output, _ = recognize(page, page.parent / "b.inkml", "--format", "label-graph")
    lines = output.splitlines()
    assert code == 0
    assert [line for line in lines if line.startswith("# IUD")] == [
        f"# IUD, {page}",
        f"# IUD, {page.parent}/b.inkml",
    ]
    assert "R, 1_1, 1_2, Sup, 1.0" in lines
    assert "R, 1_1, 1_2, Right, 1.0" in lines


def test_alternatives_are_further_columns_or_stand_in_the_json(recognize: Run, page: Path) -> None:
    page.write_bytes(png(picture("1 - 1 -")))
    name, best, *others = recognize(page, "--alternatives", 2)[1].rstrip("\n").split("\t")
    assert (name, best, len({best, *others})) == (str(page), "1-1-", 3)
    (line,) = recognize(page, "--alternatives", 2, "--format", "json")[1].splitlines()
    assert [other["latex"] for other in json.loads(line)["alternatives"]] == others
    target = page.parent / "out.jsonl"
    assert recognize(page, "--alternatives", 2, "--jsonl", target)[0] == 0
    assert len(json.loads(target.read_text())["alternatives"]) == 2
    assert recognize(page, "--format", "label-graph", "--alternatives", 2)[0] == 2


def test_a_drawing_lies_over_the_picture_or_the_ink(
    recognize: Run, page: Path, recognizer: Recognizer
) -> None:
    target = page.parent / "drawn.png"
    assert recognize(page, "--draw", target) == (0, f"{page}\t1^1\n", "")
    drawn = cv2.imread(str(target))
    assert drawn is not None
    expected = recognizer(page).draw(page)
    assert np.array_equal(drawn[:, :, ::-1], expected)
    ink = page.parent / "b.inkml"
    ink.write_bytes(inkml("1 1"))
    assert recognize(ink, "--draw", target, "--show-steps", page.parent / "steps.png")[0] == 0
    assert (cv2.imread(str(target))[:, :, ::-1] == recognizer(ink).draw()).all()
    assert (page.parent / "steps.png").stat().st_size > 0
    code, _, errors = recognize(page, ink, "--draw", target)
    assert (code, "give a single picture" in errors) == (2, True)


def test_what_cannot_be_read_is_not_drawn(recognize: Run, page: Path) -> None:
    page.write_bytes(b"no picture")
    code, _, errors = recognize(page, "--draw", page.parent / "drawn.png")
    assert (code, "not a picture" in errors) == (1, True)
    assert not (page.parent / "drawn.png").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--format", "word"], "no format 'word': there are latex, spaced"),
        (["--format", "latex", "--jsonl", "-"], "--jsonl writes JSON, not latex"),
        (["--draw", "nowhere/drawn.png"], "there is no folder nowhere"),
        (["--draw", "drawn.png", "--ray"], "needs no --ray"),
        (["--alternatives", "-1"], "no whole number from 1 on"),
    ],
)
def test_options_that_do_not_fit_are_wrong_usage(
    options: list[str], says: str, recognize: Run, page: Path
) -> None:
    code, output, errors = recognize(page, *options)
    assert (code, output) == (2, "")
    assert says in errors


def test_the_bar_of_a_resumed_run_starts_where_the_last_one_stopped(
    recognize: Run, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        (page.parent / f"{number}.png").write_bytes(page.read_bytes())
    real = bulk.recognize_all

    def stopping(recognizer: Recognizer, inputs: list[Source], *how: int) -> Any:
        outcomes = real(recognizer, inputs, *how)
        yield next(outcomes)
        yield next(outcomes)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(bulk, "recognize_all", stopping)
        assert recognize(page.parent, "--jsonl", page.parent / "out.jsonl")[0] == 130
    bars = []

    def bar(outcomes: Iterator[object], **options: object) -> Iterator[object]:
        found = list(outcomes)
        bars.append((options["initial"], len(found), options["total"]))
        return iter(found)

    monkeypatch.setattr(tqdm, "tqdm", bar)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert recognize(page.parent, "--jsonl", page.parent / "out.jsonl", "--resume")[0] == 0
    assert bars == [(2, 3, 5)]
