"""The torch engine: the two graphs of a NAMER run by PyTorch, on CPU or CUDA."""

import numpy as np
import torch
from numpy.typing import NDArray

from namer_edge_runtime.engine.base import PgdOutput, VatOutput
from namer_edge_runtime.errors import EngineError

from .namer import Namer, PgdGraph, VatGraph


class TorchEngine:
    """Runs a `Namer` behind the runtime's engine interface; same shapes as the ONNX graphs."""

    name = "torch"
    precision = "fp32"

    def __init__(self, namer: Namer, device: str | None = None, threads: int | None = None) -> None:
        """Raises `EngineError` where `device` ("cpu", "cuda", "cuda:1" …) is not there."""
        if threads:
            torch.set_num_threads(threads)
        try:
            self.device = (device or "cpu").lower()
            self._namer = namer.eval().to(self.device)
        except (RuntimeError, AssertionError) as error:
            raise EngineError(f"torch cannot use device {device!r}: {error}") from None
        self._vat, self._pgd = VatGraph(self._namer), PgdGraph(self._namer)

    @torch.inference_mode()
    def vat(self, images: NDArray[np.uint8]) -> VatOutput:
        scores, classes, none, features, memory = self._vat(
            torch.from_numpy(images).to(self.device)
        )
        # Features stay where they are: PGD reads them there.
        return VatOutput(
            scores.cpu().numpy(), classes.cpu().numpy(), none.cpu().numpy(), features, memory
        )

    @torch.inference_mode()
    def pgd(
        self,
        features: torch.Tensor,
        memory: torch.Tensor,
        cells: NDArray[np.int64],
        classes: NDArray[np.int64],
        endings: NDArray[np.int64],
        scores: NDArray[np.float32],
        mask: NDArray[np.float32],
    ) -> PgdOutput:
        nodes = (torch.from_numpy(x).to(self.device) for x in (cells, classes, endings, scores, mask))
        return PgdOutput(*(x.cpu().numpy() for x in self._pgd(features, memory, *nodes)))
