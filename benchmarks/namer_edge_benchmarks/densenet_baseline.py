"""The paper's model beside ours: its DenseNet in fp32, with random weights, for time alone.

    python -m namer_edge_benchmarks.densenet_baseline OUT [--model M]

It gets the look and the vocabulary of model M, so that both can be given the same pictures. The
paper's own symbols are larger, which would cost it more.
"""

import argparse
import tempfile
from dataclasses import asdict
from pathlib import Path

import torch

from namer_edge.checkpoints.weights import save_weights
from namer_edge.model.namer import Namer
from namer_edge.training.config import load_config
from namer_edge_export.export import export
from namer_edge_runtime.model_file import ModelFile

CONFIG = "paper-crohme"


def write_rival(out: Path, model: ModelFile) -> ModelFile:
    """Writes an fp32 ONNX model file with the paper's encoder and widths; raises as `export`."""
    torch.manual_seed(0)
    config = load_config(CONFIG)
    namer = Namer(config.architecture, model.vocabulary)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "densenet.safetensors"
        save_weights(checkpoint, namer, model.preprocessing, {"config": asdict(config)})
        export(checkpoint, out)
    return ModelFile.open(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--model")
    arguments = parser.parse_args()
    write_rival(arguments.out, ModelFile.open(arguments.model))


if __name__ == "__main__":
    main()
