"""OpenVINO: Intel's processors, and its graphics and neural units."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import openvino
from numpy.typing import NDArray

from ..errors import EngineError
from ..model_file import ModelFile
from ..preprocessing import CELL
from .base import PGD_OUTPUTS, VAT_OUTPUTS, PgdInputs, PgdOutput, VatOutput, check_format
from .cpus import usable_cpus
from .int8_sums import int8_sums
from .openvino_rounding import round_before_sums
from .process import PerProcess

LOGGER = logging.getLogger(__name__)
DEVICES = ("CPU", "GPU", "NPU", "AUTO")
ANY_SHAPE = ("CPU",)
"""Devices that run one compiled graph at any size. On one thread a graph compiled for its size is
a third faster, but takes as long to compile as 50 to 200 readings do, and tens of megabytes."""
KEPT = 32
"""Graphs compiled for one size that are kept, the last used ones."""
SIDE, NODES = 64, 16
"""The least height and width, and length of a node list, that a graph is
compiled for where it must be for one size. The next ones double: 6 heights and widths in all."""
PRECISIONS = {"f32": "fp32", "f16": "fp16", "bf16": "bf16"}


class OpenVinoEngine:
    """The `vat` and `pgd` graphs of an OpenVINO or ONNX model file, on CPU unless told otherwise.

    CPU runs everything that is not int8 in fp32, whatever it would choose by itself. Only the
    model file and the options are kept when it is pickled; graphs are compiled again in each
    process, also after a fork, where the old ones would have lost their threads.

    Where graphs are compiled for one size, pictures get blank space on the right and below up to
    the next such size. It is seen like any blank space round the ink: a reading may change by it.
    """

    name = "openvino"

    def __init__(
        self,
        model: ModelFile,
        *,
        device: str | None = None,
        threads: int | None = None,
        fallback: bool = False,
        cache_dir: str | Path | None = None,
        fixed_sizes: bool | None = None,
    ) -> None:
        """`device`: cpu, gpu, gpu.1, npu, or auto, which leaves the choice to OpenVINO.

        `cache_dir` is a folder where compiled graphs are kept for the next start; without it no
        file is written, and one that cannot be used is no reason to fail. `fixed_sizes` has graphs
        compiled for one size each; None: where the device needs that. Raises `EngineError` for a
        device that is not there, unless `fallback`; then the CPU runs, and `device` says so, and
        for sizes left open on a device that cannot have that.
        """
        check_format(model, self.name, "openvino", "onnx")
        self._model = model
        self._wanted = (device or "cpu").upper()
        if self._wanted.partition(".")[0] not in DEVICES:
            raise EngineError(
                f"no device {device!r}: give one of {', '.join(DEVICES).lower()}, or gpu.1 for "
                "the second of a kind"
            )
        self._threads = threads or usable_cpus()
        self._fallback = fallback
        self._cache = None if cache_dir is None else str(cache_dir)
        self._fixed = fixed_sizes
        self._start()

    def _start(self) -> None:
        self._open = PerProcess(self._load)
        self._open()

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_model", "_wanted", "_threads", "_fallback", "_cache", "_fixed")
        return {key: self.__dict__[key] for key in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    @property
    def device(self) -> str:
        return self._open().device

    @property
    def precision(self) -> str:
        return self._open().precision

    @property
    def cached(self) -> bool:
        """Whether this process found its first graph in `cache_dir`, and did not compile it."""
        return self._open().cached

    def _load(self) -> "_Opened":
        core = openvino.Core()
        available = core.available_devices
        device = self._available(available)
        running = [name for name in available if device in ("AUTO", name.partition(".")[0], name)]
        options = {name: self._options(name) for name in running}
        chosen = {"DEVICE_PROPERTIES": options} if device == "AUTO" else options[running[0]]
        any_shape = all(name in ANY_SHAPE for name in running)
        if self._fixed is False and not any_shape:
            raise EngineError(f"{device} runs graphs of fixed sizes only: leave fixed_sizes out")
        any_shape = any_shape and not self._fixed
        vat, pgd = (
            _Graph(self._read(core, role), core, device, chosen, self._cache, any_shape)
            for role in ("vat", "pgd")
        )
        try:
            compiled = vat.compiled({"image": (1, self._model.preprocessing.inputs, SIDE, SIDE)})
            if any_shape:
                pgd.compiled({})
        except Exception as error:
            raise EngineError(
                f"{self._model.path}: OpenVINO cannot compile it for {device} ({error})"
            ) from error
        runs_on = compiled.model.get_property("EXECUTION_DEVICES")[0].strip("()")
        hint = options.get(runs_on, options[running[0]])["INFERENCE_PRECISION_HINT"]
        precision = "int8" if self._model.precision == "int8" else PRECISIONS[hint]
        return _Opened(vat, pgd, runs_on, precision, compiled.cached)

    def _available(self, available: list[str]) -> str:
        """The device that is used: the wanted one, where there is such a one."""
        kinds = {name.partition(".")[0] for name in available}
        if self._wanted == "AUTO" or self._wanted in kinds or self._wanted in available:
            return self._wanted
        if self._fallback:
            return "CPU"
        raise EngineError(
            f"OpenVINO finds no {self._wanted} here, only {', '.join(available)}: install its "
            "driver, choose another device, or allow fallback=True"
        )

    def _options(self, device: str) -> dict[str, Any]:
        if device != "CPU":
            # What is exported for precision is run so; else the device's units for half floats.
            return {"INFERENCE_PRECISION_HINT": "f32" if self._model.precision == "fp32" else "f16"}
        return {
            "INFERENCE_NUM_THREADS": self._threads,
            "INFERENCE_PRECISION_HINT": "f32",  # bf16 is its own choice where there is such a unit
            "ENABLE_CPU_PINNING": False,  # we share the machine
        }

    def _read(self, core: Any, role: str) -> Any:
        try:
            if self._model.engine_format == "onnx":
                graph = core.read_model(self._model.read(role))
                round_before_sums(graph)
                return graph
            return core.read_model(self._model.read(role), self._model.read(f"{role}.bin"))
        except Exception as error:  # OpenVINO's exceptions have no common base
            raise EngineError(
                f"{self._model.path}: OpenVINO cannot load part {role!r} ({error})"
            ) from error

    def int8_sums(self) -> str:
        """Whether int8 products are added up exactly here: "exact" or "saturated"."""
        core, device = openvino.Core(), self.device

        def run(graph: bytes, inputs: Any, outputs: tuple[str, ...]) -> list[NDArray[Any]]:
            compiled = core.compile_model(core.read_model(graph), device, self._options(device))
            answers = compiled(inputs)
            return [answers[name] for name in outputs]

        return int8_sums(run)

    def vat(self, images: NDArray[np.uint8]) -> VatOutput:
        graph = self._open().vat
        height, width = images.shape[2:]
        if not graph.any_shape:
            images = _lengthened(images, 2, _doubled(height, SIDE))
            images = _lengthened(images, 3, _doubled(width, SIDE))
        *seen, features, memory = self._run(graph, {"image": images}, VAT_OUTPUTS)
        scores, classes, none = (x[..., : height // CELL, : width // CELL] for x in seen)
        return VatOutput(scores, classes, none, features, memory)

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        graph = self._open().pgd
        real = inputs.mask.shape[1]
        # Nodes of zeros, which the mask leaves out: devices, and their memory, meet few lengths.
        length = -(-real // NODES) * NODES if graph.any_shape else _doubled(real, NODES)
        lengthened = {
            name: value if name in ("features", "memory") else _lengthened(value, 1, length)
            for name, value in vars(inputs).items()
        }
        correction, left, right = self._run(graph, lengthened, PGD_OUTPUTS)
        return PgdOutput(correction[:, :real], left[:, :real, :real], right[:, :real, :real])

    def _run(
        self, graph: "_Graph", inputs: Mapping[str, NDArray[Any]], outputs: tuple[str, ...]
    ) -> list[NDArray[Any]]:
        try:
            return graph.run(inputs, outputs)
        except Exception as error:
            raise EngineError(
                f"{self._model.path}: OpenVINO failed on {self._wanted} ({error})"
            ) from error


def _was_cached(compiled: Any) -> bool:
    try:
        return bool(compiled.get_property("LOADED_FROM_CACHE"))
    except Exception:  # AUTO, which compiles in the background, cannot tell
        return False


def _doubled(length: int, least: int) -> int:
    """The next fixed length from this one on."""
    while least < length:
        least *= 2
    return least


def _lengthened(values: NDArray[Any], axis: int, length: int) -> NDArray[Any]:
    """Values with zeros added along an axis."""
    missing = [(0, 0)] * values.ndim
    missing[axis] = (0, length - values.shape[axis])
    return np.pad(values, missing)


@dataclass(frozen=True)
class _Opened:
    """Model and graphs that one process has loaded."""

    vat: "_Graph"
    pgd: "_Graph"
    device: str
    precision: str
    cached: bool


@dataclass(frozen=True)
class _Compiled:
    """A compiled graph, and the requests that wait for a thread to use them."""

    model: Any
    cached: bool
    idle: list[Any] = field(default_factory=list)

    @contextmanager
    def request(self) -> Iterator[Any]:
        """A request that no other thread uses meanwhile."""
        try:
            request = self.idle.pop()
        except IndexError:
            request = self.model.create_infer_request()
        yield request
        self.idle.append(request)


class _Graph:
    """One graph on one device: compiled once where any shape runs, else once for each shape."""

    def __init__(
        self,
        model: Any,
        core: Any,
        device: str,
        options: dict[str, Any],
        cache: str | None,
        any_shape: bool,
    ) -> None:
        self._model, self._core = model, core
        self._device, self._options, self._cache = device, options, cache
        self.any_shape = any_shape
        self._compiled: OrderedDict[Any, _Compiled] = OrderedDict()
        self._lock = threading.Lock()

    def compiled(self, shapes: dict[str, tuple[int, ...]]) -> _Compiled:
        """The graph for inputs of these shapes."""
        key = None if self.any_shape else tuple(shapes.items())
        with self._lock:
            if key not in self._compiled:
                self._compiled[key] = self._compile(shapes)
            self._compiled.move_to_end(key)
            if len(self._compiled) > KEPT:
                self._compiled.popitem(last=False)
            return self._compiled[key]

    def _compile(self, shapes: dict[str, tuple[int, ...]]) -> _Compiled:
        model = self._model
        if not self.any_shape:
            model = model.clone()
            model.reshape(shapes)
        if self._cache is not None:
            kept = {**self._options, "CACHE_DIR": self._cache}
            try:
                compiled = self._core.compile_model(model, self._device, kept)
            except Exception as error:
                LOGGER.warning("cache_dir %s cannot be used (%s)", self._cache, error)
                self._cache = None
            else:
                return _Compiled(compiled, _was_cached(compiled))
        return _Compiled(self._core.compile_model(model, self._device, self._options), False)

    def run(
        self, inputs: Mapping[str, NDArray[Any]], outputs: tuple[str, ...]
    ) -> list[NDArray[Any]]:
        """The outputs [B, …] for inputs [B, …]."""
        if self.any_shape:
            return self._infer(inputs, outputs)
        # One by one, for each size in a batch of its own would be many more graphs to compile.
        size = len(next(iter(inputs.values())))
        rows = [
            self._infer({name: x[row : row + 1] for name, x in inputs.items()}, outputs)
            for row in range(size)
        ]
        return [np.concatenate(parts) for parts in zip(*rows, strict=True)]

    def _infer(
        self, inputs: Mapping[str, NDArray[Any]], outputs: tuple[str, ...]
    ) -> list[NDArray[Any]]:
        compiled = self.compiled({name: x.shape for name, x in inputs.items()})
        with compiled.request() as request:
            answers = request.infer(inputs, share_inputs=True)
            return [answers[name] for name in outputs]
