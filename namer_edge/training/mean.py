"""The mean of several checkpoints' weights: what runs from the same weights learnt, in one model.

    python -m namer_edge.training.mean FIRST.safetensors SECOND.safetensors … -o MEAN.safetensors

Weights and batch statistics are averaged one by one. That makes sense for checkpoints of one run,
or of a run and the weights that it began from; what it is worth tells `namer-edge evaluate`.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from namer_edge_runtime.errors import CheckpointError, NamerEdgeError

from .checkpoint import load_model, save_weights


def mean(checkpoints: Sequence[Path], output: Path) -> None:
    """Writes the mean at `output`, with the JSON of the last and in it, as `averaged`, whose mean
    it is: SHA-256 and place in the schedule of each.

    Raises `CheckpointError` for what cannot be read, and for checkpoints that differ in
    architecture, vocabulary or look.
    """
    model, look, record = load_model(checkpoints[-1])
    weights, averaged = [], []
    for path in checkpoints:
        other, its_look, its_record = load_model(path)
        same = (other.architecture, other.vocabulary, its_look)
        if same != (model.architecture, model.vocabulary, look):
            raise CheckpointError(
                f"{path} differs from {checkpoints[-1]} in architecture, vocabulary or look: only "
                "weights of like models have a mean"
            )
        weights.append(other.state_dict())
        averaged.append({"sha256": its_record["sha256"], "progress": its_record.get("progress")})
    state = model.state_dict()
    for name, value in state.items():
        if value.is_floating_point():
            state[name] = torch.stack([w[name] for w in weights]).mean(0)
    model.load_state_dict(state)
    written_anew = ("format", "format_version", "architecture", "look", "vocabulary", "sha256")
    kept = {key: value for key, value in record.items() if key not in written_anew}
    save_weights(output, model, look, {**kept, "averaged": averaged})


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("checkpoints", nargs="+", type=Path, metavar="CHECKPOINT.safetensors")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="MEAN.safetensors")
    options = parser.parse_args(arguments)
    try:
        mean(options.checkpoints, options.output)
    except NamerEdgeError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
