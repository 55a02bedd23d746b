"""The torch engine: runs the two graphs of a NAMER in PyTorch, on CPU or CUDA."""

from contextlib import AbstractContextManager

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load

from namer_edge_runtime.engine.base import PgdInputs, PgdOutput, VatOutput, check_format
from namer_edge_runtime.errors import EngineError, ModelFileError
from namer_edge_runtime.model_file import ModelFile

from .namer import Architecture, Namer, PgdGraph, VatGraph


class TorchEngine:
    """Runs a model file of format `torch` behind the runtime's engine interface, in fp32.

    `TorchEngine.of` runs a `Namer` in memory.
    """

    name = "torch"
    precision = "fp32"

    def __init__(
        self,
        model: ModelFile,
        *,
        device: str | None = None,
        threads: int | None = None,
        fallback: bool = False,
    ) -> None:
        """`device`: cpu, cuda, cuda:1 …

        Raises `EngineError` for another format, or a device that is not there unless `fallback`
        (then the CPU runs, and `device` says so), `ModelFileError` for weights that do not fit
        their architecture.
        """
        check_format(model, self.name, "torch")
        try:
            namer = Namer(Architecture.from_json(model.meta["architecture"]), model.vocabulary)
            weights = load(model.read("weights"))
            namer.load_state_dict(
                {k: v.float() if v.is_floating_point() else v for k, v in weights.items()}
            )
        except (KeyError, TypeError, RuntimeError, SafetensorError) as error:
            raise ModelFileError(
                f"{model.path}: weights and architecture differ: {error}"
            ) from None
        if threads:
            torch.set_num_threads(threads)
        try:
            self._place(namer, device)
        except EngineError:
            if not fallback:
                raise
            self._place(namer, None)

    @classmethod
    def of(cls, namer: Namer, device: str | None = None) -> "TorchEngine":
        """The engine of a model, which is put into eval mode and onto `device`."""
        engine = cls.__new__(cls)
        engine._place(namer, device)
        return engine

    def _place(self, namer: Namer, device: str | None) -> None:
        self._device = (device or "cpu").lower()
        try:
            namer = namer.eval().to(self._device)
        except (RuntimeError, AssertionError) as error:
            raise EngineError(
                f"torch cannot use device {device!r} ({error}): choose another, or allow "
                "fallback=True"
            ) from None
        self.namer, self._vat, self._pgd = namer, VatGraph(namer), PgdGraph(namer)

    @property
    def device(self) -> str:
        return self._device.upper()

    @torch.inference_mode()
    def vat(self, images: NDArray[np.uint8]) -> VatOutput:
        with _exact():
            scores, classes, none, features, memory = self._vat(
                torch.from_numpy(images).to(self._device)
            )
        # Features stay on the device: PGD reads them there.
        return VatOutput(
            scores.cpu().numpy(), classes.cpu().numpy(), none.cpu().numpy(), features, memory
        )

    @torch.inference_mode()
    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        nodes = (
            torch.from_numpy(x).to(self._device)
            for x in (inputs.cells, inputs.classes, inputs.endings, inputs.scores, inputs.mask)
        )
        with _exact():
            answers = self._pgd(inputs.features, inputs.memory, *nodes)
        return PgdOutput(*(x.cpu().numpy() for x in answers))


def _exact() -> AbstractContextManager[None]:
    """cuDNN with deterministic algorithms and without TF32, as on a CPU."""
    flags: AbstractContextManager[None] = torch.backends.cudnn.flags(
        enabled=True, deterministic=True, allow_tf32=False
    )
    return flags
