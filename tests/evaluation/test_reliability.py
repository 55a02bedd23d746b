"""Scores against truth, as a picture."""

import json
from pathlib import Path

import pytest

from namer_edge.evaluation.calibration import Confidence
from namer_edge.evaluation.reliability import plot, read_report
from namer_edge_runtime.command import main


def report(path: Path, right: list[bool]) -> Path:
    confidence = Confidence.of([0.85] * len(right), right)
    path.write_text(json.dumps({"confidence": confidence.to_json()}))
    return path


def test_a_disc_stands_where_score_and_truth_meet(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    sure, unsure = (report(tmp_path / f"{n}.json", [True] * n + [False]) for n in (3, 1))
    out = tmp_path / "plot.png"
    assert main(["evaluate", "reliability", str(sure), str(unsure), "-o", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    diagrams = plot({path.stem: read_report(path) for path in (sure, unsure)}).axes
    assert [axes.get_title() for axes in diagrams] == ["3", "1"]
    for axes, share in zip(diagrams, (0.75, 0.5), strict=True):
        assert axes.collections[0].get_offsets().tolist() == [[pytest.approx(0.85), share]]


def test_another_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text("{}")
    assert (
        main(["evaluate", "reliability", str(tmp_path / "x.json"), "-o", str(tmp_path / "out.png")])
        == 1
    )
    assert "is no report with scores" in capsys.readouterr().err
    assert not (tmp_path / "out.png").exists()
