"""The runtime's targets, each with what is measured and whether it is met.

    namer-edge benchmark targets PACK [--model M] [--formulas 100] [--rival MODEL] [--steady 200]
        [--json OUT]

Formulas of a pack, spread evenly, are read as pictures (arrays, symbols 64 pixels high), one at a
time and on one thread, as shipped and with one pass. Shares and ratios are of sums over all.
Times are those of the thread (its processor time), so that they hold on a machine with other work;
the start is measured in a fresh process, with the kernels in the disk cache and without.

The rival is the paper's DenseNet in fp32 (`densenet_baseline.py`; made for this run where none is
given). Its weights are random, so it gets the same pictures and the nodes that our model found, on
the same engine, look by look: only the time in its graphs differs. Of `--steady` formulas it is
told how many are read the same in other sizes and with other pens (`evaluation/robustness.py`).
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import thread_time
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge.data.formula import Formula
from namer_edge.data.pack import load_pack
from namer_edge.evaluation.cli_options import spread
from namer_edge.evaluation.robustness import Drawing, measure_robustness
from namer_edge_runtime.decode import warm_up
from namer_edge_runtime.diagnostics.cold_start import cold_start
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
from namer_edge_runtime.outputs import STANDARD_OUTPUT, check_writable, write_text
from namer_edge_runtime.recognizer import Recognizer

from .densenet_baseline import write_rival
from .path_time import path_time
from .target import Target

SUMMARY = "measure the runtime's targets, each met or missed"
ROUNDS = 5
"""Times that bare graphs and engine take turns on each formula."""
NODES = 60
STEADY = 90.0
"""Percent that should be read the same."""


@dataclass
class Watched:
    """Two engines on the same pictures and nodes: one reads, of both the thread's time is kept."""

    engine: Engine
    rival: Engine
    seconds: float = 0.0
    rival_seconds: float = 0.0
    images: Any = None
    inputs: Any = None
    _maps: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def vat(self, images: NDArray[np.uint8]) -> VatOutput:
        self.images = images
        started = thread_time()
        output = self.engine.vat(images)
        between = thread_time()
        self._maps = self.rival.vat(images)
        self.seconds += between - started
        self.rival_seconds += thread_time() - between
        return output

    def pgd(self, inputs: PgdInputs) -> PgdOutput:
        self.inputs = inputs
        theirs = replace(inputs, features=self._maps.features, memory=self._maps.memory)
        started = thread_time()
        output = self.engine.pgd(inputs)
        between = thread_time()
        self.rival.pgd(theirs)
        self.seconds += between - started
        self.rival_seconds += thread_time() - between
        return output


def measure(
    pack: Path,
    model: str | None = None,
    formulas: int = 100,
    rival: str | None = None,
    steady: int = 200,
) -> list[Target]:
    """All targets. Raises as `load_pack`, `ModelFile.open` and `write_rival`."""
    file = ModelFile.open(model)
    every = load_pack(pack).formulas
    warm_up()
    with tempfile.TemporaryDirectory() as folder:
        other = ModelFile.open(rival) if rival else write_rival(Path(folder) / "rival", file)
        found = _reading(file, other, spread(every, formulas))
    found += [_path(file), *_start(file)]
    if steady:
        shipped = Recognizer.from_pretrained(file.path, threads=1)
        same = measure_robustness(shipped, spread(every, steady))
        found += [
            Target(f"read the same at {drawing}", same.share(drawing), STEADY, "%", at_least=True)
            for drawing in same.same
        ]
    return found


def _reading(file: ModelFile, rival: ModelFile, formulas: list[Formula]) -> list[Target]:
    """Shares of a recognition, as shipped and with one pass, and the engine beside bare graphs."""
    watched = Watched(open_engine(None, file, threads=1), open_engine(None, rival, threads=1))
    bare = _bare(file)
    pictures = [
        cv2.imdecode(np.frombuffer(Drawing().png(formula.strokes), np.uint8), cv2.IMREAD_GRAYSCALE)
        for formula in formulas
    ]
    targets, overheads = [], []
    for policy, looks in (("as shipped", file.decoding.tta_scales), ("one pass", ())):
        decoding = replace(file.decoding, tta_scales=looks)
        recognizer = Recognizer(
            watched, file.preprocessing, file.vocabulary, decoding, file.score_calibration
        )
        recognizer(pictures[0])
        watched.seconds = watched.rival_seconds = 0.0
        started = thread_time()
        for picture in pictures:
            recognizer(picture)
        outside = thread_time() - started - watched.seconds - watched.rival_seconds
        ours, theirs = outside + watched.seconds, outside + watched.rival_seconds
        targets += [
            Target(f"preparation and path of the whole, {policy}", 100 * outside / ours, 25, "%"),
            Target(f"as quick as DenseNet fp32, {policy}", theirs / ours, 6, "x", at_least=True),
        ]
    for picture in pictures:
        recognizer(picture)
        overheads.append(_overhead(watched.engine, bare, watched.images, watched.inputs))
    over = 100 * (statistics.median(overheads) - 1)
    return [*targets, Target("engine over the same graphs called bare", over, 10, "%")]


def _start(file: ModelFile) -> list[Target]:
    """A fresh process of a plain install, by processor time, which other work does not change."""
    with tempfile.TemporaryDirectory() as empty:
        warm = cold_start(file.path, base=True)
        before = os.environ.get("NUMBA_CACHE_DIR")
        os.environ["NUMBA_CACHE_DIR"] = empty
        try:
            cold = cold_start(file.path, base=True)
        finally:
            os.environ.pop("NUMBA_CACHE_DIR")
            if before is not None:
                os.environ["NUMBA_CACHE_DIR"] = before
    first = "import to first LaTeX"
    return [
        Target(f"{first}, processor time, kernels cached", warm.to_first_latex_cpu, 1000, "ms"),
        Target(f"{first}, processor time, none cached", cold.to_first_latex_cpu, 2500, "ms"),
        Target(f"{first}, wall clock, kernels cached", warm.to_first_latex, 1000, "ms"),
        Target(f"{first}, wall clock, none cached", cold.to_first_latex, 2500, "ms"),
        Target("highest resident memory, all kernels loaded", warm.peak_memory or 0.0, 220, "MB"),
    ]


def _path(file: ModelFile) -> Target:
    """`decode`, arrays checked and a `Hypothesis` made."""
    microseconds = path_time(file.vocabulary.endings, NODES, file.decoding.k_best)
    return Target(f"path selection of {NODES} nodes", microseconds, 50, "us")


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


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pack", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--formulas", type=int, default=100)
    parser.add_argument(
        "--rival", metavar="MODEL", help="the paper's DenseNet (default: made for this run)"
    )
    parser.add_argument("--steady", type=int, default=200, help="formulas; 0: leave that out")
    parser.add_argument("--json", metavar="OUT", help="the targets as JSON; - is standard output")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 where a target is missed."""
    check_writable(arguments.json)
    found = measure(
        arguments.pack, arguments.model, arguments.formulas, arguments.rival, arguments.steady
    )
    if arguments.json:
        rows = [{**asdict(target), "met": target.met} for target in found]
        write_text(arguments.json, json.dumps(rows, indent=1) + "\n")
    print(*found, sep="\n", file=sys.stderr if arguments.json == STANDARD_OUTPUT else sys.stdout)
    return int(not all(target.met for target in found))


if __name__ == "__main__":  # the former name
    from namer_edge_runtime.command import main

    sys.exit(main(["benchmark", "targets", *sys.argv[1:]]))
