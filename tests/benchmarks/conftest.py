"""A folder of formulas for the tiny model, one of them no picture, and a pack of the same."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from namer_edge.data.formula import unplaced
from namer_edge.data.pack import Pack, save_pack
from namer_edge.data.report import Report
from namer_edge.evaluation.robustness import Drawing
from namer_edge_runtime.model_file import ModelFile

from ..runtime.tiny_model import formula, write_tiny_model

FORMULAS = ("1 - 1", "1", "- 1", "1 1 1")


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def tiny_pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    formulas = [
        unplaced(str(number), tokens.split(), [np.array(s, np.float32) for s in formula(tokens)])
        for number, tokens in enumerate(FORMULAS)
    ]
    path = tmp_path_factory.mktemp("packs") / "tiny.npz"
    save_pack(path, Pack(formulas, Report(len(formulas)), {}))
    return path


@pytest.fixture
def tiny_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number, tokens in enumerate(FORMULAS):
        strokes = [np.array(s, np.float32) for s in formula(tokens)]
        (folder / f"{number}.png").write_bytes(Drawing().png(strokes))
    (folder / "broken.png").write_bytes(b"no picture at all")
    return folder
