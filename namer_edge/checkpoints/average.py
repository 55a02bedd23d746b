"""The mean of several checkpoints' weights: what runs from the same weights learned, in one model.

    python -m namer_edge.checkpoints.average FIRST.safetensors SECOND.safetensors … -o MEAN.safetensors

Weights and batch statistics are averaged one by one. That makes sense for checkpoints of one run,
or of runs and the weights that they began from; what it is worth tells `namer-edge evaluate`.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from namer_edge_runtime.command import exit_code
from namer_edge_runtime.errors import CheckpointError

from .load_pretrained import with_inputs
from .weights import load_model, origin, save_weights

PROGRAM = "python -m namer_edge.checkpoints.average"


def mean(checkpoints: Sequence[Path], output: Path) -> None:
    """Writes the mean at `output`, with the JSON of the last and in it, as `averaged`, the `origin`
    of each.

    Those without stroke planes have zeros for them where the last has some. Raises
    `CheckpointError` for what cannot be read, and for checkpoints that differ in architecture,
    vocabulary or look otherwise.
    """
    loaded = [load_model(path) for path in checkpoints]
    model, preprocessing, record = loaded[-1]
    inputs = model.architecture.channels
    more: list[int] = []
    for path, (other, its_look, _) in zip(checkpoints, loaded, strict=True):
        architecture = other.architecture
        more.append(inputs - architecture.channels)
        if preprocessing.stroke_planes and not its_look.stroke_planes:
            architecture = replace(architecture, channels=inputs)
            its_look = replace(its_look, stroke_planes=True)
        same = (architecture, other.vocabulary, its_look)
        if same != (model.architecture, model.vocabulary, preprocessing):
            raise CheckpointError(
                f"{path} differs from {checkpoints[-1]} in architecture, vocabulary or look: only "
                "weights of like models have a mean"
            )
    weights = [
        with_inputs(other.state_dict(), number)
        for (other, _, _), number in zip(loaded, more, strict=True)
    ]
    averaged = [origin(its_record) for _, _, its_record in loaded]
    state = model.state_dict()
    for name, value in state.items():
        if value.is_floating_point():
            state[name] = torch.stack([w[name] for w in weights]).mean(0)
    model.load_state_dict(state)
    kept: dict[str, Any] = {
        key: record[key] for key in ("progress", "config", "data", "licence") if key in record
    }
    save_weights(output, model, preprocessing, {**kept, "averaged": averaged})


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code(PROGRAM, _run, arguments)


def _run(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(PROGRAM, description=__doc__.splitlines()[0])
    parser.add_argument("checkpoints", nargs="+", type=Path, metavar="CHECKPOINT.safetensors")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="MEAN.safetensors")
    options = parser.parse_args(arguments)
    mean(options.checkpoints, options.output)


if __name__ == "__main__":
    sys.exit(main())
