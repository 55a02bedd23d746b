"""PGD alone is fine-tuned, with fewer heads, upon an encoder and a VAT that stay as they are."""

from pathlib import Path

import pytest
import torch

from namer_edge.checkpoints.weights import load_weights, save_weights
from namer_edge.model.namer import Namer
from namer_edge.training.config import load_config
from namer_edge.training.loop import train
from namer_edge_runtime.errors import ConfigError

from ..handwriting import VOCABULARY
from .conftest import PLAIN, SMALL, pack  # noqa: F401 (a fixture)

LESS = [
    *SMALL,
    *PLAIN,
    *("widths=[8, 8, 16, 16]", "blocks=[0, 0, 0, 1]", "vat_width=16", "pgd_width=16"),
    *("symbol_height=10", "epochs=1", "batch_size=8", 'validation=""'),
]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    config = load_config("edge", LESS)
    torch.manual_seed(0)
    path = tmp_path / "whole.safetensors"
    save_weights(path, Namer(config.architecture, VOCABULARY), config.preprocessing, {})
    return path


@pytest.mark.slow
def test_what_is_frozen_stays_and_heads_may_be_left_behind(
    pack: Path,  # noqa: F811
    whole: Path,
    tmp_path: Path,
) -> None:
    threads = torch.get_num_threads()
    settings = [
        *LESS,
        f"init={whole}",
        'frozen=["encoder", "vat"]',
        'pgd_parts=["self", "left"]',
        f'train=["{pack}"]',
        f"output={tmp_path / 'run'}",
    ]
    try:
        train(load_config("edge", settings))
    finally:
        torch.set_num_threads(threads)
    before, _, _ = load_weights(whole)
    after, _, _ = load_weights(tmp_path / "run" / "last.safetensors")
    old, new = before.state_dict(), after.state_dict()
    assert {name.split(".")[1] for name in old.keys() - new.keys()} == {"right_head"}
    changed = {name for name, value in new.items() if not torch.equal(value, old[name])}
    # Batch statistics belong to a part as its weights do.
    assert {name.partition(".")[0] for name in changed} == {"pgd"}
    assert {"self_head", "left_head", "memory"} <= {name.split(".")[1] for name in changed}
    assert "right_head" not in {name.split(".")[1] for name in changed}


def test_heads_that_the_weights_lack_cannot_be_taken_over(
    pack: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    config = load_config("edge", [*LESS, 'pgd_parts=["left"]'])
    path = tmp_path / "left.safetensors"
    save_weights(path, Namer(config.architecture, VOCABULARY), config.preprocessing, {})
    wanted = [*LESS, f"init={path}", f'train=["{pack}"]', f"output={tmp_path / 'run'}"]
    with pytest.raises(ConfigError, match="asks for"):
        train(load_config("edge", wanted))


@pytest.mark.parametrize("frozen", ['["encoder", "vat", "pgd"]', '["head"]'])
def test_what_can_be_frozen_is_named(frozen: str) -> None:
    with pytest.raises(ConfigError, match="encoder, vat, pgd"):
        load_config("edge", [f"frozen={frozen}"])
    with pytest.raises(ConfigError, match="frozen"):
        load_config("dwap", ['frozen=["encoder"]'])
