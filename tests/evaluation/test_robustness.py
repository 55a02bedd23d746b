"""Robustness counts what is read the same, of what was read right at 100 %."""

import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from namer_edge.evaluation.robustness import Drawing, measure_robustness
from namer_edge_runtime.command import main
from namer_edge_runtime.picture.skew import skew
from namer_edge_runtime.result import Result

from ..handwriting import WRITTEN, written

FORMULAS = [written(number) for number in range(len(WRITTEN))]


def size(png: bytes) -> tuple[int, int]:
    height, width = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_GRAYSCALE).shape
    return height, width


class KnowsItsPictures:
    """Knows pictures of every formula but the first, unless they are small."""

    def __init__(self) -> None:
        self.known = {
            drawing.png(formula.strokes): " ".join(formula.tokens)
            for formula in FORMULAS[1:]
            for drawing in (Drawing(), Drawing(200.0, 8.0))
        }

    def __call__(self, png: bytes) -> Result:
        return Result("", self.known.get(png, "?"), 0.9, ())


def test_of_those_read_right_the_share_read_the_same_is_told() -> None:
    drawings = (Drawing(50.0, 2.0), Drawing(200.0, 8.0))
    seen: list[int] = []
    found = measure_robustness(KnowsItsPictures(), FORMULAS, drawings, lambda: seen.append(1))  # type: ignore[arg-type]
    assert (found.formulas, found.right) == (len(FORMULAS), len(FORMULAS) - 1)
    assert [found.share(drawing) for drawing in drawings] == [0.0, 100.0]
    assert found.to_json()["same"] == {"50 %, pen 2 px": 0.0, "200 %, pen 8 px": 100.0}
    assert len(seen) == len(FORMULAS)


def test_a_drawing_grows_with_its_percent() -> None:
    half, whole, double = (
        size(Drawing(p, 4.0 * p / 100).png(FORMULAS[0].strokes)) for p in (50, 100, 200)
    )
    for small, large in ((half, whole), (whole, double)):
        assert np.allclose(np.divide(large, small), 2, rtol=0.1)


def test_a_drawing_on_a_slope_is_the_same_formula_turned() -> None:
    level, sloping = (Drawing(turn=degrees).png(FORMULAS[4].strokes) for degrees in (0, 20))
    assert size(sloping)[0] > size(level)[0]
    ink = [
        255 - cv2.imdecode(np.frombuffer(p, np.uint8), cv2.IMREAD_GRAYSCALE)
        for p in (level, sloping)
    ]
    assert np.degrees(skew(ink[1])) == pytest.approx(20, abs=5)
    assert ink[1].sum() == pytest.approx(ink[0].sum(), rel=0.1)  # as large, with the same pen
    assert str(Drawing(turn=-10.0)) == "100 %, pen 4 px, turned -10 deg"


@pytest.mark.parametrize("former", ["steadiness", "doubt"])
def test_former_modules_report_a_wrong_pack_in_one_line(former: str, tmp_path: Path) -> None:
    pack = tmp_path / "test.npz"
    pack.write_bytes(b"no pack")
    more = ["--hands", str(pack)] if former == "doubt" else []
    command = [sys.executable, "-m", f"namer_edge.evaluation.{former}", str(pack), *more]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("namer-edge: error: ")
    assert str(pack) in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("verb", ["robustness", "unknown-signs", "reliability"])
def test_evaluate_has_sub_verbs(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", verb, "--help"]) == 0
    assert f"usage: namer-edge evaluate {verb}" in capsys.readouterr().out
    assert main(["evaluate", verb]) == 2
    assert main(["evaluate", "--help"]) == 0
    assert f"namer-edge evaluate {verb}" in capsys.readouterr().out
