"""How far a teacher looks from where the ink is: exactly as far as it was made to."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from namer_edge.checkpoints.weights import save_weights
from namer_edge.data.formula import Formula
from namer_edge.explanation import teacher_picture as pictures
from namer_edge.explanation.teacher_picture import teacher_picture
from namer_edge.explanation.teacher_report import (
    ALL,
    INKED,
    SCRIPTS,
    STRUCTURES,
    TeacherReport,
    teacher_report,
)
from namer_edge_runtime.command import main
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.preprocessing import CELL, Preprocessing

from ..autoregressive.small import small
from ..handwriting import VOCABULARY, WRITTEN, written
from ..training.conftest import pack  # noqa: F401 (a fixture)

LOOK = Preprocessing(symbol_height=24.0)


def report_of(
    formulas: Sequence[Formula],
    right: int,
    exact: Sequence[str] = (),
    preprocessing: Preprocessing = LOOK,
) -> TeacherReport:
    """Of a teacher that looks so many cells to the right of the ink, save at `exact` tokens."""
    taught = []
    for formula in formulas:
        tokens = [t for t in formula.tokens if t not in "{}"][: len(formula.positions)]
        far = np.array([0.0 if t in exact else right for t in tokens])
        away = np.stack([far, np.zeros_like(far)], 1) * CELL
        taught.append(formula.positions + away / render(formula.strokes, LOOK).scale)
    return teacher_report(formulas, taught, preprocessing, VOCABULARY)


def formulas() -> list[Formula]:
    return [written(number) for number in (0, 1, 2, 14)]


def test_a_teacher_that_looks_at_the_ink_is_not_apart() -> None:
    report = report_of(formulas(), 0)
    assert (len(report.formulas), report.left_out) == (4, 0)
    spread = report.groups[ALL]
    assert (spread.mean, spread.right, spread.down) == (0, 0, 0)
    assert set(spread.within.values()) == {100}
    assert sum(s.count for s in report.classes.values()) == spread.count
    assert sum(report.groups[g].count for g in (INKED, SCRIPTS, STRUCTURES)) == spread.count


def test_a_shift_is_told_by_token_and_by_window() -> None:
    # In `3 - y` and others there is room to the right; at the edge of a picture cells end.
    report = report_of(formulas(), 2, ["^"])
    assert report.groups[SCRIPTS].mean == 0
    symbols = report.groups[INKED]
    assert symbols.median == 2
    assert 1.5 < symbols.right <= 2
    assert symbols.within[3] < 50
    assert symbols.within[5] == symbols.within[7] == 100
    assert report.classes["^"].count == 2
    assert next(iter(report.classes.values())).count == max(
        s.count for s in report.classes.values()
    )
    table = "\n".join(report.lines())
    assert "in 5x5" in table
    assert "100.0%" in table


def test_cells_are_those_of_the_model_to_be_taught() -> None:
    twice = replace(LOOK, symbol_height=2 * LOOK.symbol_height)
    shift = report_of(formulas(), 2).groups[ALL].right
    assert report_of(formulas(), 2, preprocessing=twice).groups[ALL].right == pytest.approx(
        2 * shift, abs=0.6
    )


def test_formulas_without_positions_are_counted() -> None:
    loose = replace(written(3), positions=np.zeros((0, 2), np.float32))
    report = report_of([written(0), loose], 1)
    assert (len(report.formulas), report.left_out) == (1, 1)


def test_the_picture_has_red_arrows_where_the_window_is_left() -> None:
    def red(report_picture: NDArray[np.uint8]) -> int:
        return int((report_picture == pictures.OUTSIDE).all(-1).sum())

    assert not red(teacher_picture(report_of(formulas(), 2)))
    assert red(teacher_picture(report_of(formulas(), 3)))


def test_the_command_reports_and_draws(
    pack: Path,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    weights = tmp_path / "can.safetensors"
    save_weights(weights, small("can", vocabulary=VOCABULARY), LOOK, {})
    drawn, kept = tmp_path / "report.png", tmp_path / "report.json"
    arguments = [str(weights), str(pack), "-o", str(drawn), "--json", str(kept), "--limit", "8"]
    assert main(["teacher-report", *arguments]) == 0
    assert "8 formulas" in capsys.readouterr().out
    value = json.loads(kept.read_text())
    assert (value["model"], value["formulas"]) == ("can", len(WRITTEN) // 2)
    assert value["groups"][ALL]["count"] == sum(c["count"] for c in value["classes"].values())
    assert cv2.imread(str(drawn)) is not None
