"""Distributed training: the device, and the group of processes that train together."""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from namer_edge_runtime.engine.cpus import usable_cpus
from namer_edge_runtime.errors import ConfigError, TrainingError

LONGEST_WAIT = timedelta(hours=6)
"""Collective timeout: other ranks wait while rank 0 computes teacher positions or validates."""


@dataclass(frozen=True)
class ProcessGroup:
    """Rank and size of the processes that torchrun started."""

    rank: int = 0
    size: int = 1

    @classmethod
    @contextmanager
    def join(cls, device: torch.device) -> Iterator["ProcessGroup"]:
        """The process group of torchrun; without torchrun, this process alone.

        Raises `TrainingError` if another process of the group is lost.
        """
        size = int(os.environ.get("WORLD_SIZE", "1"))
        if size == 1:
            yield cls()
            return
        backend = "nccl" if device.type == "cuda" else "gloo"
        torch.distributed.init_process_group(backend, timeout=LONGEST_WAIT)
        try:
            yield cls(torch.distributed.get_rank(), size)
        except RuntimeError as error:
            if not isinstance(error, torch.distributed.DistError) and "gloo" not in str(error):
                raise
            raise TrainingError(
                f"another process of this run is gone: go on with --resume ({error})"
            ) from error
        finally:
            torch.distributed.destroy_process_group()

    def wrap_ddp(self, module: nn.Module, device: torch.device) -> nn.Module:
        """`module` with gradients averaged over all processes."""
        if self.size == 1:
            return module
        ids = [device.index] if device.type == "cuda" else None
        return nn.parallel.DistributedDataParallel(module, device_ids=ids)

    def no_sync(self, module: nn.Module) -> AbstractContextManager[None]:
        """Accumulates gradients without exchanging them among processes."""
        if isinstance(module, nn.parallel.DistributedDataParallel):
            return module.no_sync()
        return nullcontext()

    def mean(self, values: Mapping[str, float], device: torch.device) -> dict[str, float]:
        """The mean of each value over all processes; NaN if any is."""
        if self.size == 1:
            return dict(values)
        summed = torch.tensor(list(values.values()), dtype=torch.float64, device=device)
        torch.distributed.all_reduce(summed)
        return dict(zip(values, (summed / self.size).tolist(), strict=True))

    def wait(self) -> None:
        """Blocks until all processes are here."""
        if self.size > 1:
            torch.distributed.barrier()


def pick_device(name: str) -> torch.device:
    """The device called `name`; `auto` is CUDA if available. Raises `ConfigError` if missing."""
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device = 'cuda', but torch finds none; use device=cpu or device=auto")
    if name == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


def drawing_processes(wanted: int, device: torch.device) -> int:
    """How many processes draw pictures, `wanted` where that is not -1: beside a GPU one for each
    CPU of this training process but one, else none."""
    if wanted >= 0:
        return wanted
    if device.type != "cuda":
        return 0
    return max(1, usable_cpus() // int(os.environ.get("LOCAL_WORLD_SIZE", "1")) - 1)


def attention_kernel(device: torch.device) -> AbstractContextManager[None]:
    """The attention kernel: on a CPU the plain one, because the backward pass of PyTorch's fused
    kernel takes several times as long (13 % of a whole step of `edge`)."""
    return sdpa_kernel(SDPBackend.MATH) if device.type == "cpu" else nullcontext()
