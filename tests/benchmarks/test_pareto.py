"""Accuracy against speed as a picture: `namer-edge benchmark --plot`."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from namer_edge_benchmarks.pareto import Point, front
from namer_edge_runtime import command
from namer_edge_runtime.model_file import ModelFile


def test_the_front_holds_what_nothing_beats_in_both() -> None:
    quick, good = Point("quick", 100.0, 40.0), Point("good", 5.0, 60.0)
    between, beaten = Point("between", 20.0, 50.0), Point("beaten", 19.0, 50.0)
    twin = Point("twin", 100.0, 30.0)
    assert front([beaten, good, twin, quick, between]) == [quick, between, good]


def test_points_and_front_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    from namer_edge_benchmarks.charts import draw_front

    found = [Point("quick", 90.0, 40.0), Point("beaten", 9.0, 30.0), Point("slow", 10.0, 50.0)]
    [axes] = draw_front(found).axes
    [line] = axes.lines
    assert line.get_xydata().tolist() == [[90.0, 40.0], [10.0, 50.0]]
    assert [tuple(disc.get_offsets()[0]) for disc in axes.collections] == [
        (point.fps, point.exact) for point in found
    ]
    assert axes.get_legend().get_texts()[1].get_text() == "2  beaten"


def test_a_run_is_drawn(
    tiny_pack: Path, tiny_model: ModelFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "front.png"
    words = [str(tiny_pack), "--model", str(tiny_model.path), "--limit", "1", "--plot", str(out)]
    assert command.main(["benchmark", *words]) == 0
    assert "Not beaten in both speed and accuracy: tiny fp32" in capsys.readouterr().out
    assert len(np.unique(cv2.imread(str(out)).reshape(-1, 3), axis=0)) > 3
