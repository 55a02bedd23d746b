"""What makes training smaller or quicker leaves losses, gradients and checkpoints as they are."""

import csv
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from namer_edge.checkpoints.weights import load_state, load_weights
from namer_edge.model.densenet import DenseNetEncoder
from namer_edge.training.config import load_config
from namer_edge.training.loop import train
from namer_edge_runtime.command import main
from namer_edge_runtime.errors import ConfigError

from .conftest import PLAIN, SMALL


class LiveBytes(TorchDispatchMode):
    """Counts the bytes of all storages that operators made and that still live."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.known: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, Tensor):
                self._count(tensor.untyped_storage())
        return out

    def _count(self, storage: torch.UntypedStorage) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key in self.known:
            return
        self.known.add(key)
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._forget, key, size)

    def _forget(self, key: int, size: int) -> None:
        self.known.discard(key)
        self.now -= size


def encoded(checkpointing: bool) -> tuple[list[Tensor], list[Tensor], int]:
    """Gradients and buffers of a DenseNet after one step with dropout and padding, and the most
    bytes that it needed at once."""
    torch.manual_seed(0)
    encoder = DenseNetEncoder().train()
    encoder.checkpointing = checkpointing
    image = torch.rand(2, 1, 96, 192)
    masks = {s: torch.ones(2, 1, 96 // s, 192 // s) for s in (2, 4, 8, 16)}
    for mask in masks.values():
        mask[1, :, :, mask.shape[3] // 2 :] = 0
    with LiveBytes() as memory:
        f8, f16 = encoder(image, masks)
        (f8.square().mean() + f16.square().mean()).backward()
    gradients = [p.grad for p in encoder.parameters() if p.grad is not None]
    return gradients, list(encoder.buffers()), memory.peak


def test_checkpointing_needs_less_memory_for_the_same_gradients_and_statistics() -> None:
    plain, statistics, most = encoded(checkpointing=False)
    again, counted, less = encoded(checkpointing=True)
    assert len(plain) == len(again) > 100
    assert all(torch.equal(a, b) for a, b in zip(plain, again, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(statistics, counted, strict=True))
    assert less < 0.6 * most


def test_settings_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(ConfigError, match="densenet"):
        load_config("edge", ["checkpointing=true"])
    with pytest.raises(ConfigError, match="exclude each other"):
        load_config("paper-crohme", ["checkpointing=true", "compile=inductor"])
    with pytest.raises(ConfigError, match="choose one of none, inductor"):
        load_config("edge", ["compile=fast"])


def test_a_dry_run_prints_both(capsys: pytest.CaptureFixture[str]) -> None:
    less = [f"{key}=8" for key in ("vat_width", "pgd_width", "pgd_heads")]
    command = ["train", "edge", "--dry-run", *less, "pgd_width=16", "compile=aot_eager"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "checkpointing = False" in printed
    assert "compile = 'aot_eager'" in printed


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_run_has_the_losses_and_names_of_a_plain_one(
    pack: Path, tmp_path: Path, backend: str
) -> None:
    threads = torch.get_num_threads()
    settings = [*SMALL, *PLAIN, "widths=[8, 8, 16, 16]", "blocks=[0, 0, 0, 0]", "pgd_layers=1"]
    settings += [f'train=["{pack}"]', 'validation=""', "batch_size=8"]
    settings += ["precision=fp32", "epochs=2", "log_every=1"]
    runs = {name: tmp_path / name for name in ("none", backend)}
    try:
        for name, output in runs.items():
            one = [*settings, f"output={output}", f"compile={name}"]
            train(load_config("edge", [*one, "epochs=1"]))
            train(load_config("edge", one), resume=True)
    finally:
        torch.set_num_threads(threads)
        torch._dynamo.reset()
    plain, compiled = (losses(output) for output in runs.values())
    assert len(plain) == 4
    assert compiled == pytest.approx(plain, rel=1e-4)
    states = [load_state(output / "state.safetensors")[0]["model"] for output in runs.values()]
    assert set(states[0]) == set(states[1])
    assert load_weights(runs[backend] / "last.safetensors")[0].architecture


def losses(output: Path) -> list[float]:
    with (output / "log.csv").open(newline="") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]
