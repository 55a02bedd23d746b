"""What the runtime adds to its graphs, and what it costs to start: the targets, measured.

    python -m namer_edge_benchmarks.runtime_targets PACK [--model M] [--formulas 300] [--json OUT]

Formulas of a pack are read as pictures (symbols 64 pixels high) and as ink, one at a time, on one
thread and with one look.
Times are those of the thread (its processor time), so that they hold on a machine with other work;
the start is measured in a fresh process, with the kernels in the disk cache and without, by the
wall clock and by processor time. Path selection is timed at 60 nodes.
"""

import argparse
import json
import os
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import process_time, thread_time
from typing import Any

import cv2
import numpy as np

from namer_edge.data.pack import load_pack
from namer_edge.evaluation.steadiness import Drawing
from namer_edge_runtime.decode import Nodes, decode, warm_up
from namer_edge_runtime.engine.base import (
    PGD_OUTPUTS,
    VAT_OUTPUTS,
    Engine,
    PgdInputs,
    PgdOutput,
    VatOutput,
    open_engine,
)
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.start_up import StartUp, start_up

ROUNDS = 5
"""Times that bare graphs and engine take turns on each formula."""
NODES = 60


@dataclass
class Watched:
    """An engine that keeps what it was given, and the time it took of its thread."""

    engine: Engine
    seconds: float = 0.0
    images: Any = None
    inputs: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def vat(self, images: Any) -> VatOutput:
        self.images = images
        started = thread_time()
        output = self.engine.vat(images)
        self.seconds += thread_time() - started
        return output

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        self.inputs = inputs
        started = thread_time()
        output = self.engine.pgd(inputs)
        self.seconds += thread_time() - started
        return output


@dataclass(frozen=True)
class Targets:
    """Shares and overheads in percent, times in microseconds or milliseconds."""

    formulas: int
    outside_the_graphs_from_pictures: float
    """Of the whole recognition, picture array to LaTeX: all that is not VAT or PGD."""
    outside_the_graphs_from_ink: float
    engine_over_bare_graphs: float
    """Median over formulas of how much longer the engine takes than the same graphs called bare."""
    path_of_60_nodes: float
    """Microseconds of `decode`, arrays checked and a `Path` made."""
    start_warm: StartUp
    start_cold: StartUp


def measure(pack: Path, model: str | None = None, formulas: int = 300) -> Targets:
    """All targets, on the first formulas of a pack. Raises as `load_pack` and `ModelFile.open`."""
    file = ModelFile.open(model)
    watched = Watched(open_engine(None, file, threads=1))
    once = replace(file.decoding, second_looks=())
    recognizer = Recognizer(watched, file.look, file.vocabulary, once)
    warm_up()
    bare = _bare(file)
    shares: dict[str, list[float]] = {"picture": [], "ink": []}
    overheads = []
    chosen = load_pack(pack).formulas[:formulas]
    for formula in chosen:
        png = np.frombuffer(Drawing().png(formula.strokes), np.uint8)
        inputs = {"picture": cv2.imdecode(png, cv2.IMREAD_GRAYSCALE), "ink": formula.strokes}
        for kind, value in inputs.items():
            watched.seconds = 0.0
            started = thread_time()
            recognizer(value)
            shares[kind].append(1 - watched.seconds / (thread_time() - started))
        overheads.append(_overhead(watched.engine, bare, watched.images, watched.inputs))
    with tempfile.TemporaryDirectory() as empty:
        warm = start_up(file.path)
        before = os.environ.get("NUMBA_CACHE_DIR")
        os.environ["NUMBA_CACHE_DIR"] = empty
        try:
            cold = start_up(file.path)
        finally:
            os.environ.pop("NUMBA_CACHE_DIR")
            if before is not None:
                os.environ["NUMBA_CACHE_DIR"] = before
    return Targets(
        formulas=len(chosen),
        outside_the_graphs_from_pictures=round(100 * statistics.median(shares["picture"]), 1),
        outside_the_graphs_from_ink=round(100 * statistics.median(shares["ink"]), 1),
        engine_over_bare_graphs=round(100 * (statistics.median(overheads) - 1), 1),
        path_of_60_nodes=round(_path_time(file.vocabulary.endings), 1),
        start_warm=warm,
        start_cold=cold,
    )


Bare = Callable[[Any, Any], Any]


def _bare(file: ModelFile) -> Bare:
    """The graphs as anyone would call them, on one thread, with ONNX Runtime's own defaults."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    vat, pgd = (
        onnxruntime.InferenceSession(file.read(role), options, providers=["CPUExecutionProvider"])
        for role in ("vat", "pgd")
    )

    def run(images: Any, inputs: dict[str, Any]) -> Any:
        maps = dict(zip(VAT_OUTPUTS, vat.run(VAT_OUTPUTS, {"image": images}), strict=True))
        own = {**inputs, "features": maps["features"], "memory": maps["memory"]}
        return pgd.run(PGD_OUTPUTS, own)

    return run


def _overhead(engine: Engine, bare: Bare, images: Any, inputs: PgdInputs) -> float:
    """Time of the engine / that of the bare graphs, each the best of some turns."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        started = thread_time()
        bare(images, vars(inputs))
        theirs.append(thread_time() - started)
        started = thread_time()
        maps = engine.vat(images)
        engine.pgd(replace(inputs, features=maps.features, memory=maps.memory))
        ours.append(thread_time() - started)
    return min(ours) / min(theirs)


def _path_time(endings: Any) -> float:
    """Microseconds of a sure path through 60 nodes, the best of 30 runs of 20."""
    random = np.random.default_rng(0)
    order = np.r_[0, 2 + random.permutation(NODES - 2), 1]
    left, right = np.full((2, NODES, NODES), 0.1 / NODES, np.float32)
    right[order[:-1], order[1:]] = left[order[1:], order[:-1]] = 0.9
    symbol = int(np.flatnonzero(endings == 0)[0])
    classes = np.full(NODES, symbol)
    probs = np.full((NODES, len(endings) + 2), 1e-3, np.float32)
    probs[:, symbol] = 0.9
    none = np.zeros(NODES, np.int64)
    nodes = Nodes(np.zeros((NODES, 2), np.int64), classes, none, none - 1, probs[:, symbol].copy())
    best = float("inf")
    for _ in range(30):
        started = process_time()
        for _ in range(20):
            decode(probs, left, right, nodes, endings)
        best = min(best, (process_time() - started) / 20)
    return best * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pack", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--formulas", type=int, default=300)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = asdict(measure(arguments.pack, arguments.model, arguments.formulas))
    text = json.dumps(found, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
