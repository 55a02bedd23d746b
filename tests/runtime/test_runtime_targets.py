"""The command that tells which targets of the runtime are met, and what a plain install costs."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from namer_edge.data.formula import Formula
from namer_edge_benchmarks.runtime_targets import Target, _reading
from namer_edge_runtime.diagnostics.cold_start import CROSS, cold_start
from namer_edge_runtime.model_file import ModelFile


def test_a_target_says_whether_it_is_met() -> None:
    assert Target("share", 25.0, 25, "%").met
    assert not Target("share", 25.1, 25, "%").met
    assert not Target("ratio", 5.9, 6, "x", at_least=True).met
    assert str(Target("ratio", 6.5, 6, "x", at_least=True)).endswith(" met")


def test_a_model_beside_itself_is_about_as_quick(tiny_model: ModelFile) -> None:
    strokes = [np.array(stroke, np.float32) for stroke in CROSS]
    none = np.zeros((0, 4), np.float32)
    formula = Formula("x", strokes, np.zeros(2, np.int32), ("x",), none[:, :2], none)
    found = {target.name: target.measured for target in _reading(tiny_model, tiny_model, [formula])}
    shares = [share for name, share in found.items() if name.startswith("preparation")]
    assert len(shares) == 2
    assert all(0 < share < 100 for share in shares)
    ratios = [ratio for name, ratio in found.items() if name.startswith("as quick")]
    assert len(ratios) == 2
    assert all(0.2 < ratio < 5 for ratio in ratios)


def test_a_plain_install_starts_without_what_numba_takes_along(
    tiny_model: ModelFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = tmp_path / "taken"
    (tmp_path / "scipy.py").write_text(f"open({str(taken)!r}, 'w').close()\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    cold_start(tiny_model.path, base=True)
    assert not taken.exists()
