"""`namer-edge train`: train a model from a configuration."""

import argparse
from dataclasses import fields
from pathlib import Path

from namer_edge_runtime.command import INTERRUPTED

SUMMARY = "train a model from a configuration"
SUB_VERBS = {"average": "namer_edge.checkpoints.average"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "config", metavar="CONFIG", help="a .toml file or the name of a packaged one"
    )
    parser.add_argument("settings", metavar="key=value", nargs="*", help="override a setting")
    parser.add_argument("--resume", action="store_true", help="go on from the run's saved state")
    parser.add_argument(
        "--weights",
        metavar="FILE",
        type=Path,
        help="go on from these weights and the place in the schedule that their JSON gives",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the configuration, parameters and GFLOPs, and stop",
    )
    parser.epilog = (
        "On your own data, from other weights: init=CHECKPOINT. Several processes: "
        "torchrun --nproc-per-node N -m namer_edge_runtime.command train CONFIG. "
        "Checkpoint averaging: namer-edge train average A B … -o MEAN"
    )


def run(arguments: argparse.Namespace) -> int:
    """Exit code 130 if a signal stopped the run before its end."""
    from ..training.config import load_config

    config = load_config(arguments.config, arguments.settings)
    if arguments.dry_run:
        for field in fields(config):
            print(f"{field.name} = {getattr(config, field.name)!r}")
        from ..training.building import cost_of

        print("", *cost_of(config).lines(), sep="\n")
        return 0
    from ..training.loop import train

    done = train(config, arguments.resume or arguments.weights is not None, arguments.weights)
    return 0 if done else INTERRUPTED
