"""Where training runs: the device, and the processes that train together."""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import nn

from namer_edge_runtime.errors import ConfigError, TrainingError

LONGEST_WAIT = timedelta(hours=6)
"""For the first process, which alone has a teacher look at all pictures, and validates."""


@dataclass(frozen=True)
class ProcessGroup:
    """The processes that train together, as torchrun tells them."""

    rank: int = 0
    size: int = 1

    @classmethod
    @contextmanager
    def join(cls, device: torch.device) -> Iterator["ProcessGroup"]:
        """Process group of a torchrun start; just this process otherwise.

        Raises `TrainingError` where another process of the group is lost.
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
        """`module`, its gradients the mean over all processes."""
        if self.size == 1:
            return module
        ids = [device.index] if device.type == "cuda" else None
        return nn.parallel.DistributedDataParallel(module, device_ids=ids)

    def no_sync(self, module: nn.Module) -> AbstractContextManager[None]:
        """Where gradients only add up, to be shared later."""
        if isinstance(module, nn.parallel.DistributedDataParallel):
            return module.no_sync()
        return nullcontext()

    def mean(self, values: Mapping[str, float], device: torch.device) -> dict[str, float]:
        """Of each value over all processes; one that is no number makes it none."""
        if self.size == 1:
            return dict(values)
        summed = torch.tensor(list(values.values()), dtype=torch.float64, device=device)
        torch.distributed.all_reduce(summed)
        return dict(zip(values, (summed / self.size).tolist(), strict=True))

    def wait(self) -> None:
        if self.size > 1:
            torch.distributed.barrier()


def pick_device(name: str) -> torch.device:
    """`auto` is CUDA where there is one; raises `ConfigError` where one asked for is missing."""
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device = 'cuda', but torch finds none; use device=cpu or device=auto")
    if name == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
