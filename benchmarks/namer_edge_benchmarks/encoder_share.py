"""How much of the first graph is the encoder, and what the model was given on the way.

Encoder and VAT are one graph in a model file. Where the part up to F16, which the encoder gives,
can be run by itself, that is timed beside the whole graph, on the same pictures in turn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from namer_edge.evaluation.samples import Sample
from namer_edge_runtime.engine.base import Engine, PgdInputs, PgdOutput, VatOutput
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

Images = NDArray[np.uint8]
ROUNDS = 3
"""Turns that graph and encoder take on each picture; the best counts, in processor time."""


@dataclass
class Watching:
    """An engine that times its encoder alone as well, and keeps the sizes it was given."""

    engine: Engine
    encode: Callable[[Images], object] | None
    encoder: float = 0.0
    graph: float = 0.0
    sizes: list[tuple[int, int, int]] = field(default_factory=list)
    """Height, width and nodes of each picture."""
    _shape: tuple[int, ...] = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def vat(self, images: Images) -> VatOutput:
        self._shape = images.shape
        output = self.engine.vat(images)
        if self.encode is not None:
            self.encode(images)  # the first run in a size makes room for it
            graphs, encoders = [], []
            for _ in range(ROUNDS):
                started = process_time()
                self.engine.vat(images)
                between = process_time()
                self.encode(images)
                graphs.append(between - started)
                encoders.append(process_time() - between)
            self.graph += min(graphs)
            self.encoder += min(encoders)
        return output

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        height, width = self._shape[2:]
        self.sizes += [(height, width, int(nodes)) for nodes in inputs.mask.sum(1)]
        return self.engine.pgd(inputs)

    @property
    def share(self) -> float | None:
        """Of the encoder in the first graph; None where it was not to be had alone, or could not be
        told apart."""
        return self.encoder / self.graph if self.encoder < self.graph else None

    @property
    def size(self) -> tuple[int, int, int] | None:
        """The look with the median number of pixels; None where all pages were blank."""
        ordered = sorted(self.sizes, key=lambda size: (size[0] * size[1], size[2]))
        return ordered[len(ordered) // 2] if ordered else None


def watch(
    recognizer: Recognizer, samples: Sequence[Sample], model: ModelFile | None, threads: int
) -> Watching:
    """Reads the samples once more, one by one; `model` is None where a checkpoint is read."""
    watching = Watching(recognizer.engine, _encoder(recognizer.engine, model, threads))
    reader = Recognizer(
        watching,
        recognizer.preprocessing,
        recognizer.vocabulary,
        recognizer.decoding,
        recognizer.score_calibration,
    )
    for sample in samples:
        reader.each([sample.source.value], 1)
    return watching


def _encoder(
    engine: Engine, model: ModelFile | None, threads: int
) -> Callable[[Images], object] | None:
    """The encoder alone on the same engine and device, or None where it cannot run so."""
    namer = getattr(engine, "namer", None)
    if namer is not None and engine.device == "CPU":
        import torch

        def by_torch(images: Images) -> object:
            with torch.inference_mode():
                return namer.encoder(torch.from_numpy(images).float() / 255.0)

        return by_torch
    if engine.name != "onnxruntime" or engine.device != "CPU" or model is None:
        return None
    import onnxruntime

    try:
        import onnx.utils
    except ModuleNotFoundError:  # it cuts the encoder out of the graph
        return None
    whole = onnx.load_model_from_string(model.read("vat"))
    encoder = onnx.utils.Extractor(whole).extract_model(["image"], ["memory"])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # As the engine does.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_mem_pattern = options.enable_cpu_mem_arena = False
    session = onnxruntime.InferenceSession(
        encoder.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def by_onnxruntime(images: Images) -> object:
        return session.run(["memory"], {"image": images})

    return by_onnxruntime
