"""A teacher's attention gives positions; they are kept, and take the place of the ink's."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from namer_edge.autoregressive.model import DecoderOutput
from namer_edge.autoregressive.teacher import Teacher, maxima
from namer_edge.checkpoints.weights import save_weights
from namer_edge.data.pack import load_pack
from namer_edge.training import positions
from namer_edge.training.config import load_config
from namer_edge.training.loop import train
from namer_edge.training.positions import with_positions
from namer_edge_runtime.errors import ConfigError, DataError
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.preprocessing import CELL, Preprocessing

from ..handwriting import VOCABULARY, written
from ..training.conftest import PLAIN, SMALL, pack  # noqa: F401 (a fixture)
from .small import small

LOOK = Preprocessing(symbol_height=20.0)


def weights(folder: Path, name: str = "dwap") -> Path:
    path = folder / f"{name}.safetensors"
    save_weights(path, small(name, vocabulary=VOCABULARY), LOOK, {})
    return path


@pytest.mark.parametrize("stride", [8, 16])
def test_who_looks_at_each_token_in_turn_says_where_it_stands(
    stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told what to write, it looks where the ink has each visual node, and elsewhere for braces."""
    formulas = [written(number) for number in (0, 5, 12)]
    teacher = Teacher(small("dwap", vocabulary=VOCABULARY), LOOK)
    alphabet = teacher.model.alphabet
    by_label = {tuple(alphabet.numbers(f.tokens)): f for f in formulas}

    def looks(context: object, tokens: torch.Tensor) -> DecoderOutput:
        (row,) = tokens.tolist()
        formula = by_label[tuple(row[1:])]
        prepared = render(formula.strokes, LOOK)
        height, width = (size // stride for size in prepared.image.shape)
        attention = torch.zeros(1, len(row), height, width)
        attention[:, :, 0, 0] = 0.5
        points = formula.positions * prepared.scale + np.array(prepared.offset)
        cells = np.floor(points / stride).astype(int)
        for place, (x, y) in zip(alphabet.visual_places(formula.tokens), cells, strict=True):
            attention[0, place, y, x] = 0.9
        return DecoderOutput(torch.zeros(0), attention, {})

    monkeypatch.setattr(teacher.model, "teacher_forcing", looks)
    found = teacher.positions(formulas, batch_size=1)
    for formula, positions_ in zip(formulas, found, strict=True):
        prepared = render(formula.strokes, LOOK)
        off = np.abs(positions_ - formula.positions) * prepared.scale
        assert positions_.shape == formula.positions.shape
        # Half a cell of the map that attends, and half of one more that upsampling may move it.
        assert off.max() <= (CELL / 2 if stride == 8 else 16 / 2 + CELL / 2) + 1e-3


def test_attention_on_f16_is_upsampled_to_f8() -> None:
    attention = torch.zeros(2, 2, 3)
    attention[0, 1, 2], attention[1, 0, 1], attention[1, 1, 1] = 1.0, 1.0, 0.9
    cells = maxima(attention, height=32)
    assert tuple(cells[0] // 2) == (1, 2)
    assert tuple(cells[1]) == (0, 2)  # the first of those cells where it is largest
    assert maxima(torch.eye(12).view(12, 4, 3), height=32).tolist() == [
        [row, column] for row in range(4) for column in range(3)
    ]


def test_positions_are_computed_once_for_a_pack_and_a_teacher(
    pack: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    formulas = load_pack(pack).formulas
    assert with_positions(formulas, pack, "") == formulas
    teacher = weights(tmp_path)
    taught = with_positions(formulas, pack, str(teacher))
    assert all(
        a.positions.shape == b.positions.shape for a, b in zip(taught, formulas, strict=True)
    )
    assert any((a.positions != b.positions).any() for a, b in zip(taught, formulas, strict=True))
    (kept,) = tmp_path.glob("*.positions-*.npz")
    none = np.zeros((0, 2), np.float32)
    loose = [replace(formula, positions=none) for formula in formulas]
    for unsegmented in (False, True):
        placed = with_positions(loose, pack, str(teacher), unsegmented=unsegmented)
        assert {formula.placed for formula in placed} == {unsegmented}

    def asked(*_: object) -> None:
        raise AssertionError("the teacher was asked again")

    monkeypatch.setattr(positions.Teacher, "positions", asked)
    again = with_positions(formulas, pack, str(teacher))
    assert all((a.positions == b.positions).all() for a, b in zip(taught, again, strict=True))
    with pytest.raises(AssertionError, match="asked again"):
        with_positions(formulas, pack, str(weights(tmp_path, "bttr")))
    with pytest.raises(DataError, match="other data"):
        with_positions(formulas[:-1], pack, str(teacher))
    kept.write_bytes(b"no positions")
    with pytest.raises(DataError, match="delete the file"):
        with_positions(formulas, pack, str(teacher))


@pytest.mark.slow
def test_namer_learns_from_a_teachers_positions(pack: Path, tmp_path: Path) -> None:  # noqa: F811
    threads = torch.get_num_threads()
    teacher = weights(tmp_path, "dwap-msa")
    settings = [
        *SMALL,
        *PLAIN,
        f"teacher={teacher}",
        f'train=["{pack}"]',
        'validation=""',
        f"output={tmp_path / 'run'}",
        "epochs=1",
        "batch_size=8",
    ]
    try:
        train(load_config("edge", settings))
        namer = tmp_path / "run" / "last.safetensors"
        wrong = load_config("edge", [*settings, f"teacher={namer}", f"output={tmp_path / 'other'}"])
        with pytest.raises(DataError, match="none of its labels"):  # it reads nothing yet
            train(wrong)
    finally:
        torch.set_num_threads(threads)
    assert len(list(tmp_path.glob("*.positions-*.npz"))) == 2


def test_an_autoregressive_recognizer_has_no_teacher() -> None:
    with pytest.raises(ConfigError, match="teacher"):
        load_config("dwap", ["teacher=some.safetensors"])
