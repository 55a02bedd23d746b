"""`namer-edge train average`: checkpoint averaging, the mean of several checkpoints' weights.

It makes sense for checkpoints of one run, or of several runs and the weights that they started
from. `namer-edge evaluate` measures what it is worth.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

SUMMARY = "average the weights of several checkpoints of like models"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checkpoints", nargs="+", type=Path, metavar="CHECKPOINT.safetensors")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="MEAN.safetensors")


def run(arguments: argparse.Namespace) -> int:
    average_checkpoints(arguments.checkpoints, arguments.output)
    return 0


def average_checkpoints(checkpoints: Sequence[Path], output: Path) -> None:
    """Writes the mean of weights and batch statistics to `output`, with the JSON of the last
    checkpoint and, under `averaged`, the `provenance` of each.

    Checkpoints without stroke planes count as having zero weights for them if the last one reads
    them. Raises `CheckpointError` for a file that cannot be read, and for checkpoints that differ
    otherwise in architecture, vocabulary or preprocessing.
    """
    import torch

    from namer_edge_runtime.errors import CheckpointError

    from .load_pretrained import widen_input
    from .weights import load_model, provenance, save_weights

    loaded = [load_model(path) for path in checkpoints]
    model, preprocessing, record = loaded[-1]
    channels = model.architecture.channels
    states = []
    for path, (other, its_preprocessing, _) in zip(checkpoints, loaded, strict=True):
        architecture = other.architecture
        states.append(widen_input(other.state_dict(), channels - architecture.channels))
        if preprocessing.stroke_planes and not its_preprocessing.stroke_planes:
            architecture = replace(architecture, channels=channels)
            its_preprocessing = replace(its_preprocessing, stroke_planes=True)
        same = (architecture, other.vocabulary, its_preprocessing)
        if same != (model.architecture, model.vocabulary, preprocessing):
            raise CheckpointError(
                f"{path} differs from {checkpoints[-1]} in architecture, vocabulary or "
                "preprocessing: only weights of like models have a mean"
            )
    mean = model.state_dict()
    for name, value in mean.items():
        if value.is_floating_point():
            mean[name] = torch.stack([state[name] for state in states]).mean(0)
    model.load_state_dict(mean)
    kept = {k: v for k, v in record.items() if k in ("progress", "config", "data", "licence")}
    averaged = [provenance(its_record) for _, _, its_record in loaded]
    save_weights(output, model, preprocessing, {**kept, "averaged": averaged})
