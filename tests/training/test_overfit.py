"""The whole line at once: sixteen formulas learned by heart, read through the exported model."""

from pathlib import Path

import pytest
import torch

from namer_edge.data.pack import load_pack
from namer_edge.training.config import load_config
from namer_edge.training.loop import train
from namer_edge_export.export import export
from namer_edge_runtime.recognizer import Recognizer

from .conftest import PLAIN, SMALL


@pytest.mark.slow
def test_sixteen_formulas_are_learned_and_read_by_the_exported_model(
    pack: Path, tmp_path: Path
) -> None:
    threads = torch.get_num_threads()
    settings = [
        *PLAIN,
        "dropout=0",
        f'train=["{pack}"]',
        f"validation={pack}",
        f"output={tmp_path / 'run'}",
        "epochs=140",
        "batch_size=16",
        "learning_rate=2e-3",
        "warmup_epochs=3",
        "pgd_weight=1",
        "ema=0.9",
        "evaluate_every=0",
    ]
    try:
        train(load_config("edge", SMALL + settings))
    finally:
        torch.set_num_threads(threads)
    model = export(tmp_path / "run" / "best.safetensors", tmp_path / "model.zip")
    recognizer = Recognizer.from_pretrained(model.path, threads=1)
    formulas = load_pack(pack).formulas
    answers = [recognizer.strokes(formula.strokes).canonical for formula in formulas]
    assert answers == [" ".join(formula.tokens) for formula in formulas]
