"""Where training runs: the device, and the processes that train together."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from namer_edge_runtime.errors import ConfigError


@dataclass(frozen=True)
class World:
    """The processes that train together, as torchrun tells them."""

    rank: int = 0
    size: int = 1

    @classmethod
    @contextmanager
    def join(cls, device: torch.device) -> Iterator["World"]:
        """Process group of a torchrun start; just this process otherwise."""
        size = int(os.environ.get("WORLD_SIZE", "1"))
        if size == 1:
            yield cls()
            return
        torch.distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
        try:
            yield cls(torch.distributed.get_rank(), size)
        finally:
            torch.distributed.destroy_process_group()

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
