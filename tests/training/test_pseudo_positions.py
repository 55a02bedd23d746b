"""A NAMER tells where the tokens of ink and pictures are that nobody marked."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from namer_edge.data.formula import Formula, unplaced
from namer_edge.data.pack import Pack, load_pack, save_pack
from namer_edge.data.report import Report
from namer_edge.training.positions import with_positions
from namer_edge.training.pseudo_positions import align_positions
from namer_edge_runtime.ink.strokes import symbol_height

from ..handwriting import WRITTEN, written

SHIPPED = Path(__file__).parents[2] / "export" / "checkpoints" / "crohme-edge.safetensors"


def test_what_was_misread_keeps_its_place_and_what_was_missed_is_spread_out() -> None:
    points = np.array([[0.0, 0.0], [11.0, 4.0], [30.0, 3.0]])
    places = align_positions(["a", "+", "\\smiley", "2"], ["a", "t", "2"], points)
    assert places is not None
    # `t` stands for two tokens, so that neither of them has its place for sure.
    assert places.tolist() == [[0, 0], [10, 1], [20, 2], [30, 3]]
    places = align_positions(["a", "\\smiley", "2"], ["a", "t", "2"], points)
    assert places is not None
    assert places.tolist() == points.tolist()
    assert align_positions(["a", "b", "c", "d", "e"], ["a", "x"], points[:2]) is None
    assert align_positions(["a"], [], np.zeros((0, 2))) is None


@pytest.fixture
def unmarked(tmp_path: Path) -> Path:
    formulas = [written(number) for number in range(len(WRITTEN))]
    loose = [unplaced(f.name, f.tokens, f.strokes) for f in formulas]
    loose[0] = replace(loose[0], tokens=("\\smiley", *loose[0].tokens[1:]))
    save_pack(tmp_path / "unmarked.npz", Pack(loose, Report(16), {}))
    return tmp_path / "unmarked.npz"


def test_the_shipped_weights_place_unmarked_ink(unmarked: Path) -> None:
    """A symbol that they do not know gets a place, too."""
    packed = load_pack(unmarked).formulas
    taught = with_positions(packed, unmarked, str(SHIPPED), unsegmented=True)
    placed = [formula for formula in taught if formula.placed]
    assert len(placed) >= 15
    off = np.concatenate([_cells_off(formula) for formula in placed])
    assert np.median(off) < 1.5
    assert taught[0].placed
    assert taught[0].positions.shape == written(0).positions.shape


def _cells_off(formula: Formula) -> np.ndarray:
    """How far each token is from where its ink is, in cells at 26 pixels."""
    known = written(int(formula.name.split("-")[0]))
    unit = 26.0 / symbol_height(formula.strokes) / 8
    return np.abs(formula.positions - known.positions).max(1) * unit
