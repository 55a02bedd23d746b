"""The interface between recognition and what computes the network, and the table of engines."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from ..decode.pick import NodeBatch
from ..errors import EngineError, MissingExtraError, UsageError
from ..model_file import ModelFile
from ..plugins import ENGINES as GROUP
from ..plugins import plugins
from .int8_sums import CURE, SATURATED, needs_exact_sums, sums_of

LOGGER = logging.getLogger(__name__)
MOST_THREADS = 1024
"""Most threads that may be asked for; guards against a typing error that would start thousands."""
ENGINES = {"onnx": "onnxruntime", "openvino": "openvino", "torch": "torch"}
"""Format of a model file → the engine that reads it where no other is asked for."""


VAT_OUTPUTS = ("scores", "classes", "none", "features", "memory")
PGD_OUTPUTS = ("self", "left", "right")
"""Names in the graphs of what `VatOutput` and `PgdOutput` hold, in their order; the input of VAT is
called `image`, those of PGD as in `PgdInputs`."""


@dataclass(frozen=True)
class VatOutput:
    """Output of the visual aware tokenizer for B pictures of one padded size; h = H/8, w = W/8."""

    scores: NDArray[np.float32]
    """[B, C, h, w]: probabilities of each cell's C best visual classes, falling."""
    classes: NDArray[np.integer]
    """[B, C, h, w]: those classes."""
    none: NDArray[np.float32]
    """[B, h, w]: P(none)."""
    features: Any
    """[B, D, h, w], F_out; only the engine looks inside."""
    memory: Any
    """[B, E, H/16, W/16], F16; only the engine looks inside."""


@dataclass(frozen=True)
class PgdInputs:
    """The maps of B pictures and their nodes, N with padding; nodes 0 and 1 are <sos> and <eos>."""

    features: Any
    memory: Any
    """Feature maps as VAT returned them."""
    cells: NDArray[np.int64]
    """[B, N, 2] (row, column) on the H/8 grid."""
    classes: NDArray[np.int64]
    """[B, N]."""
    endings: NDArray[np.int64]
    """[B, N]."""
    scores: NDArray[np.float32]
    """[B, N] VAT's probability of the class."""
    mask: NDArray[np.float32]
    """[B, N] 1 real, 0 padding."""

    @classmethod
    def of(cls, vat: VatOutput, nodes: NodeBatch) -> "PgdInputs":
        """The nodes picked from these maps."""
        arrays = (nodes.cells, nodes.classes, nodes.endings, nodes.scores, nodes.mask)
        return cls(vat.features, vat.memory, *arrays)


@dataclass(frozen=True)
class PgdOutput:
    """Output of the parallel graph decoder for the nodes of B pictures; all values are
    probabilities."""

    correction: NDArray[np.float32]
    """[B, N, K + 2], the self correction head: visual classes, `}`, delete."""
    left: NDArray[np.float32]
    """[B, N, N]: left[b, j, i] = P(the left neighbor of j is i), eq. 7."""
    right: NDArray[np.float32]
    """[B, N, N]: right[b, i, j] = P(the right neighbor of i is j)."""


class EngineOptions(TypedDict, total=False):
    """Options that not every engine takes; each engine declares those that it does."""

    providers: Sequence[Any]
    """ONNX Runtime's execution providers, as it takes them."""
    session_options: Mapping[str, Any]
    """ONNX Runtime's: attributes of its `SessionOptions` and configuration entries, by name."""
    fallback: bool
    """Whether the CPU may stand in for a device that is not there."""
    cache_dir: str | Path
    """Folder for graphs that OpenVINO or TensorRT has compiled."""
    fixed_sizes: bool
    """Whether OpenVINO compiles a graph for each of a few sizes."""


class Engine(Protocol):
    """Computes the two graphs. Usable by several threads at once.

    One that computes ONNX graphs says by `int8_sums()` whether their int8 products are added up
    exactly, "exact" or "saturated". A class named in the entry points is called as
    `(model_file, *, device, threads)`, with the `EngineOptions` beside them that the caller gave.
    """

    @property
    def name(self) -> str:
        """As given to `--engine`."""

    @property
    def device(self) -> str:
        """Device that is really used: "CPU", "CUDA" …"""

    @property
    def precision(self) -> str:
        """ "fp32", "fp16" or "int8"."""

    def vat(self, images: NDArray[np.uint8]) -> VatOutput:
        """Images [B, channels, H, W], ink 255 on 0, all of one padded size."""

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        """Computes the PGD graph for these nodes."""


def engine_names() -> list[str]:
    """Names of all engines that are declared, runnable here or not."""
    return list(plugins(GROUP))


def open_engine(
    name: str | None,
    model: ModelFile,
    device: str | None = None,
    threads: int | None = None,
    **given: Unpack[EngineOptions],
) -> Engine:
    """The engine of this name, for None that of the model's format, with `model` loaded.

    Raises `UsageError` for an unknown name or impossible `threads`, `MissingExtraError` where its
    packages are not installed, `EngineError` where device or provider is not there.
    """
    possible = threads is None or (isinstance(threads, int) and 1 <= threads <= MOST_THREADS)
    if not possible:
        raise UsageError(f"{threads!r} threads: give 1 to {MOST_THREADS}, or none for the default")
    points = plugins(GROUP)
    name = name or ENGINES.get(model.engine_format, model.engine_format)
    if name not in points:
        raise UsageError(f"no engine {name!r}: there are {', '.join(points)}")
    try:
        kind = points[name].load()
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"engine {name!r}: {MissingExtraError.of(error)}") from error
    options = {key: value for key, value in given.items() if value is not None}
    if not options.get("fallback"):
        options.pop("fallback", None)  # an engine without devices need not know of it
    try:
        engine: Engine = getattr(kind, "open", kind)(
            model, device=device, threads=threads, **options
        )
    except TypeError as error:
        foreign = [option for option in options if option in str(error)]
        if foreign:
            raise UsageError(f"engine {name!r} takes no {' or '.join(foreign)}") from error
        raise
    # Weights of 7 bits cannot saturate: such models are not held up by a probe.
    if needs_exact_sums(model) and sums_of(engine) == SATURATED:
        LOGGER.warning(
            "%s: sums of int8 saturate on this processor (%s), so this model of 8-bit weights "
            "reads wrong here: %s",
            model.path,
            engine.name,
            CURE,
        )
    return engine


def check_format(model: ModelFile, engine: str, *readable: str) -> None:
    """Raises `EngineError` where the model's graphs are of no format that the engine reads."""
    if model.engine_format not in readable:
        raise EngineError(
            f"engine {engine!r} reads {' and '.join(readable)} models and {model.name!r} is "
            f"{model.engine_format}: export it with --format {readable[0]}, or choose another "
            "engine"
        )
