"""What goes wrong in training is said in a sentence, with what to do about it."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from namer_edge.checkpoints.weights import load_state, save_weights
from namer_edge.data.batches import Batch
from namer_edge.data.formula import unplaced
from namer_edge.data.pack import Pack, load_pack, save_pack
from namer_edge.data.report import Report
from namer_edge.model.namer import Namer
from namer_edge.training import loop
from namer_edge.training.config import TrainConfig, load_config
from namer_edge.training.loss import Objective
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import CheckpointError, ConfigError, DataError, TrainingError
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..handwriting import VOCABULARY
from .conftest import PLAIN, SMALL


@pytest.fixture
def settings(pack: Path, tmp_path: Path) -> list[str]:
    return [
        *(*SMALL, *PLAIN, "precision=fp32", "epochs=2", "batch_size=4", "evaluate_every=0"),
        *(f'train=["{pack}"]', 'validation=""', f"output={tmp_path / 'run'}"),
        *("checkpoint_minutes=0.0", "workers=0"),
    ]


@pytest.fixture
def train(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Trains with something that happens in the pass of a number, counted from 1."""

    def run(config: TrainConfig, number: int = 0, event: Any = None, **keywords: Any) -> None:
        passes = 0

        class Eventful(Objective):
            def forward(self, batch: Batch, seed: tuple[int, ...]) -> dict[str, torch.Tensor]:
                nonlocal passes
                passes += 1
                losses = super().forward(batch, seed)
                return event(losses) if passes == number else losses

        def objective_of(model: Namer, config: TrainConfig) -> nn.Module:
            return Eventful(model, config.loss, config.candidates)

        threads = torch.get_num_threads()
        with monkeypatch.context() as patch:
            patch.setattr(loop, "objective_of", objective_of)
            try:
                loop.train(config, **keywords)
            finally:
                torch.set_num_threads(threads)

    return run


def test_a_loss_that_is_no_number_stops_before_the_weights_take_it(
    settings: list[str], train: Callable[..., None], tmp_path: Path
) -> None:
    """The batch is named, the last good state kept, and the run goes on from it."""

    def nothing(losses: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {name: loss * float("nan") for name, loss in losses.items()}

    config = load_config("edge", settings)
    with pytest.raises(TrainingError) as caught:
        train(config, 7, nothing)
    said = str(caught.value)
    assert "loss nan" in said
    assert "epoch 2, batch 3 of 4 (" in said
    assert sum(f"{number}-0" in said for number in range(16)) >= 4  # the names of its formulas
    assert "--resume" in said
    state = tmp_path / "run" / "state.safetensors"
    assert str(state) in said
    tensors, about = load_state(state)
    assert about["progress"]["step"] == 6
    assert all(value.isfinite().all() for value in tensors["model"].values())
    train(config, resume=True)
    assert load_state(state)[1]["progress"]["step"] == 8


def test_gradients_that_are_no_numbers_stop_too(
    settings: list[str], train: Callable[..., None], tmp_path: Path
) -> None:
    def steep(losses: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        loss = losses["loss"]
        return {**losses, "loss": loss + (loss * 0).sqrt()}  # 0, of infinite slope

    with pytest.raises(TrainingError, match=r"norm of the gradients.*nothing was saved yet"):
        train(load_config("edge", settings), 1, steep)
    assert not (tmp_path / "run" / "state.safetensors").exists()


@pytest.mark.parametrize(
    ("error", "more", "advice"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), [], r"try batch_size=2, .*accumulate=2"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), [], "try batch_size=2"),
        (MemoryError(), ["accumulate=2"], r"2 pictures at once: try batch_size=2, .*accumulate=4"),
        (torch.OutOfMemoryError("CUDA"), ["accumulate=4"], "lower symbol_height"),
    ],
)
def test_out_of_memory_says_which_batch_size_to_try(
    error: Exception, more: list[str], advice: str, settings: list[str], train: Callable[..., None]
) -> None:
    def full(losses: object) -> object:
        raise error

    with pytest.raises(TrainingError, match=f"out of memory in epoch 1, batch 1 .*{advice}"):
        train(load_config("edge", [*settings, *more]), 1, full)


def test_other_errors_stay_what_they_are(settings: list[str], train: Callable[..., None]) -> None:
    def wrong(losses: object) -> object:
        raise RuntimeError("shapes do not fit")

    with pytest.raises(RuntimeError, match="shapes do not fit"):
        train(load_config("edge", settings), 1, wrong)


def test_a_state_of_another_vocabulary_or_model_is_refused(
    settings: list[str], train: Callable[..., None], tmp_path: Path
) -> None:
    """As many classes, or more, or another width: each belongs to another run."""
    train(load_config("edge", [*settings, "epochs=1"]))
    for number, symbols in enumerate(
        [("\\smiley", *VOCABULARY.symbols[1:]), ("\\smiley", *VOCABULARY.symbols)]
    ):
        path = tmp_path / f"{number}.json"
        other = replace(VOCABULARY, name="other", symbols=symbols)
        path.write_text(json.dumps(other.to_json()), "utf-8")
        with pytest.raises(CheckpointError, match="vocabulary is 'crohme'"):
            train(load_config("edge", [*settings, f"vocabulary={path}"]), resume=True)
    with pytest.raises(CheckpointError, match="begun with"):
        train(load_config("edge", [*settings, "pgd_width=32"]), resume=True)


def test_weights_of_another_vocabulary_do_not_resume(
    settings: list[str], train: Callable[..., None], tmp_path: Path
) -> None:
    config = load_config("edge", settings)
    namer = Namer(config.architecture, Vocabulary.load("hme100k"))
    path = tmp_path / "hme100k.safetensors"
    save_weights(path, namer, config.preprocessing, {"config": asdict(config), "progress": {}})
    with pytest.raises(ConfigError, match=r"another vocabulary.*give init="):
        train(config, resume=True, weights=path)


def test_a_corrupt_pack_is_named(
    settings: list[str], pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = bytearray(pack.read_bytes())
    whole[len(whole) // 2] ^= 1
    pack.write_bytes(whole)
    assert main(["train", "edge", *settings]) == 1
    error = capsys.readouterr().err
    assert f"{pack}: no pack, or a damaged one" in error
    assert "not what was written" in error
    assert "Traceback" not in error


def test_unsegmented_ink_asks_for_a_teacher(
    pack: Path, settings: list[str], train: Callable[..., None]
) -> None:
    formulas = [unplaced(f.name, f.tokens, f.strokes) for f in load_pack(pack).formulas]
    save_pack(pack, Pack(formulas, Report(16), {}))
    with pytest.raises(DataError, match=r"unsegmented ink has no positions.*teacher=WEIGHTS"):
        train(load_config("edge", settings))
