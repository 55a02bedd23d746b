"""ONNX Runtime: the default engine."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineError, NamerEdgeError, UsageError
from ..model_file import ModelFile
from .base import PGD_OUTPUTS, VAT_OUTPUTS, PgdInputs, PgdOutput, VatOutput, check_format
from .cpus import usable_cpus
from .int8_sums import int8_sums
from .onnx_devices import (
    TENSORRT,
    bucketed,
    check_precision,
    computing,
    run_on_device,
    tensorrt_options,
)
from .process import PerProcess

LOGGER = logging.getLogger(__name__)
CPU = "CPUExecutionProvider"
CUDA = (
    "CUDAExecutionProvider",
    # An exhaustive search would be made anew for every size of picture; TF32 is not what CPUs do.
    {"cudnn_conv_algo_search": "HEURISTIC", "use_tf32": "0"},
)
DEVICES: dict[str, list[Any]] = {
    "cpu": [CPU],
    "cuda": [CUDA, CPU],
    "gpu": [CUDA, CPU],
    "tensorrt": [TENSORRT, CUDA, CPU],
    "coreml": ["CoreMLExecutionProvider", CPU],
}
SUFFIX = "ExecutionProvider"
BOUND = ("CUDA", "Tensorrt")
"""Devices on which what VAT hands to PGD stays."""


class OnnxRuntimeEngine:
    """The `vat` and `pgd` graphs of an ONNX model file, on CPU unless told otherwise.

    Only the model file and the options are kept when it is pickled; sessions are opened again
    in each process, also after a fork, where the old ones would have lost their threads.
    """

    name = "onnxruntime"

    def __init__(
        self,
        model: ModelFile,
        *,
        device: str | None = None,
        threads: int | None = None,
        providers: Sequence[Any] | None = None,
        session_options: Mapping[str, Any] | None = None,
        fallback: bool = False,
        optimize: bool = True,
        cache_dir: str | Path | None = None,
    ) -> None:
        """`providers` goes to ONNX Runtime as it is; `device` is short for the usual lists.
        `session_options` sets attributes of `SessionOptions`, and configuration entries such as
        "session.intra_op.allow_spinning". Without `optimize` int8 graphs are computed in float,
        exactly and slowly. `cache_dir` keeps TensorRT's engines for the next start.

        Raises `EngineError` for a provider that is not there, unless `fallback`; then what is
        there runs, and `device` says which.
        """
        check_format(model, self.name, "onnx")
        if providers is None:
            wanted = (device or "cpu").lower()
            if wanted not in DEVICES:
                raise EngineError(f"no device {device!r}: give one of {', '.join(DEVICES)}")
            providers = DEVICES[wanted]
        self._model = model
        self._providers = list(providers)
        self._threads = threads or usable_cpus()
        self._session_options = dict(session_options or {})
        self._fallback = fallback
        self._optimize = optimize
        self._cache_dir = Path(cache_dir or Path.home() / ".cache" / "namer-edge")
        names = [_name(provider) for provider in self._providers]
        if cache_dir is not None and TENSORRT not in names:
            raise UsageError(
                f"engine {self.name!r} takes no cache_dir, unless device is 'tensorrt': its other "
                "devices keep no compiled graphs"
            )
        check_precision(model, names)
        self._start()

    def _start(self) -> None:
        self._sessions = PerProcess(lambda: (self._session("vat"), self._session("pgd")))
        self.device = self._sessions()[0].get_providers()[0].removesuffix(SUFFIX)
        self._bound = self.device in BOUND
        for part, counts in self.computing().items():
            here = counts.get("CPU", 0)
            if 2 * here > sum(counts.values()):
                LOGGER.warning(
                    "%s: %s leaves %d of the %d nodes of part %r to the CPU",
                    *(self._model.path, self.device, here, sum(counts.values()), part),
                )

    def computing(self) -> dict[str, dict[str, int]]:
        """Part → provider → how many nodes of its graph the provider computes; on the CPU alone,
        where there is nothing to tell apart, empty."""
        return {
            part: {name.removesuffix(SUFFIX): count for name, count in computing(session).items()}
            for part, session in zip(("vat", "pgd"), self._sessions(), strict=True)
            if self.device != "CPU"
        }

    def __getstate__(self) -> dict[str, Any]:
        made = ("_sessions", "_bound", "device")
        return {key: value for key, value in self.__dict__.items() if key not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    @property
    def precision(self) -> str:
        return self._model.precision

    def _session(self, role: str) -> Any:
        try:
            session, wanted = self._loaded(self._model.read(role))
        except NamerEdgeError:
            raise
        except Exception as error:  # ONNX Runtime's own exceptions have no common base
            raise EngineError(
                f"{self._model.path}: ONNX Runtime cannot load part {role!r} ({error})"
            ) from error
        self._check_running(wanted, session.get_providers())
        return session

    def _loaded(self, graph: bytes) -> tuple[Any, list[Any]]:
        """A session of an ONNX graph, and the providers that were asked for."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        if not self._optimize:
            level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.graph_optimization_level = level
        options.log_severity_level = 3  # of this session only: the caller's logging is not ours
        # Waiting threads sleep, so that we share the machine; patterns of memory are per shape,
        # and an arena keeps the largest shape for ever.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.enable_mem_pattern = False
        options.enable_cpu_mem_arena = False
        for name, value in self._session_options.items():
            if hasattr(options, name):
                setattr(options, name, value)
            else:
                options.add_session_config_entry(name, str(value))
        providers = self._available(onnxruntime.get_available_providers())
        if any(_name(provider) != CPU for provider in providers):
            options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        if TENSORRT in providers:  # named without options of the caller's
            # Its options name the graph's inputs.
            plain = onnxruntime.InferenceSession(graph, options, providers=[CPU])
            inputs = {item.name: item.shape for item in plain.get_inputs()}
            configured = (TENSORRT, tensorrt_options(self._model, inputs, self._cache_dir))
            providers[providers.index(TENSORRT)] = configured
        return onnxruntime.InferenceSession(graph, options, providers=providers), providers

    def int8_sums(self) -> str:
        """Whether int8 products are added up exactly here: "exact" or "saturated"."""
        return int8_sums(
            lambda graph, inputs, outputs: self._loaded(graph)[0].run(outputs, dict(inputs))
        )

    def _available(self, available: list[str]) -> list[Any]:
        missing = [_name(p) for p in self._providers if _name(p) not in available]
        if missing and not self._fallback:
            hint = (
                "CUDA needs onnxruntime-gpu in place of onnxruntime, never both"
                if "CUDAExecutionProvider" in missing
                else "install the ONNX Runtime that has it"
            )
            raise EngineError(
                f"ONNX Runtime has no {', '.join(missing)} here, only {', '.join(available)}: "
                f"{hint}; or allow fallback=True"
            )
        found = [p for p in self._providers if _name(p) in available]
        return found or [CPU]

    def _check_running(self, wanted: list[Any], running: list[str]) -> None:
        # ONNX Runtime drops a provider whose libraries fail to load and says so only in its log.
        dropped = [_name(provider) for provider in wanted if _name(provider) not in running]
        if dropped and not self._fallback:
            raise EngineError(
                f"{', '.join(dropped)} is installed but failed to start, ONNX Runtime would run on "
                f"{', '.join(running)}: check driver and CUDA libraries, or allow fallback=True"
            )

    def vat(self, images: NDArray[np.uint8]) -> VatOutput:
        return VatOutput(*self._run(0, VAT_OUTPUTS, {"image": images}))

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        if not self._bound:
            return PgdOutput(*self._run(1, PGD_OUTPUTS, vars(inputs)))
        count = inputs.classes.shape[1]
        correction, *sides = self._run(1, PGD_OUTPUTS, vars(bucketed(inputs)))
        return PgdOutput(correction[:, :count], *(side[:, :count, :count] for side in sides))

    def _run(self, graph: int, outputs: tuple[str, ...], inputs: dict[str, Any]) -> list[Any]:
        session = self._sessions()[graph]
        try:
            if self._bound:
                return run_on_device(session, outputs, inputs)
            return session.run(outputs, inputs)
        except Exception as error:
            raise EngineError(
                f"{self._model.path}: ONNX Runtime failed on {self.device} ({error})"
            ) from error


def _name(provider: Any) -> str:
    """A provider is given as its name, or as (name, options)."""
    return str(provider if isinstance(provider, str) else provider[0])
