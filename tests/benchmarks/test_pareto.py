"""Accuracy against speed as a picture: `namer-edge benchmark --plot`."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from namer_edge_benchmarks.pareto import HEIGHT, Point, draw_front, front
from namer_edge_runtime import command
from namer_edge_runtime.model_file import ModelFile


def test_the_front_holds_what_nothing_beats_in_both() -> None:
    quick, good = Point("quick", 100.0, 40.0), Point("good", 5.0, 60.0)
    between, beaten = Point("between", 20.0, 50.0), Point("beaten", 19.0, 50.0)
    twin = Point("twin", 100.0, 30.0)
    assert front([beaten, good, twin, quick, between]) == [quick, between, good]


def test_points_and_front_are_drawn() -> None:
    empty = draw_front([Point("alone", 10.0, 50.0)])
    picture = draw_front([Point("slow", 10.0, 50.0), Point("quick", 90.0, 40.0)])
    assert picture.shape[0] == HEIGHT
    assert (picture != 255).sum() > (empty != 255).sum()
    draw_front([Point("never right", 1.0, 0.0), Point("nor this one", 1.0, 0.0)])


def test_a_run_is_drawn(
    tiny_pack: Path, tiny_model: ModelFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "front.png"
    words = [str(tiny_pack), "--model", str(tiny_model.path), "--limit", "1", "--plot", str(out)]
    assert command.main(["benchmark", *words]) == 0
    assert "Not beaten in both speed and accuracy: tiny fp32" in capsys.readouterr().out
    assert len(np.unique(cv2.imread(str(out)).reshape(-1, 3), axis=0)) > 3
