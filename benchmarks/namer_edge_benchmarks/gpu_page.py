"""FPS and memory on an NVIDIA GPU beside the paper's, of fp32 and fp16 exports of checkpoints."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from namer_edge_runtime.command import main
from namer_edge_runtime.errors import UsageError
from namer_edge_runtime.outputs import check_writable, write_text
from namer_edge_runtime.verbs.options import positive

from .configuration import Configuration, Row
from .formulas import find
from .machine import Machine
from .report import table
from .worker import in_own_process

SUMMARY = "FPS and memory on a GPU beside the paper's, of fp32 and fp16 exports"
BATCHES = (1, 32, 256)
PRECISIONS = ("fp32", "fp16")
HEAD = ("model", "batch", "formulas a second", "GPU memory, MB")
PAPER = ["the paper (V100, torch)", 1, 30.0, 2569]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", metavar="DATA", type=Path)
    parser.add_argument(
        "--checkpoint", metavar="C", type=Path, action="append", required=True, help="repeatable"
    )
    parser.add_argument("--device", metavar="D", default="cuda", help="cuda or tensorrt (cuda)")
    parser.add_argument("--limit", metavar="N", type=positive, default=512, help="formulas (512)")
    parser.add_argument("--markdown", metavar="OUT", help="the page that is printed, as a file")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 where a row has no figures; 0 where there is no GPU, which the page says."""
    check_writable(arguments.markdown)
    machine = Machine.here()
    rows = measured(arguments) if machine.gpu else []
    text = page(machine, arguments.checkpoint, rows)
    if arguments.markdown:
        write_text(arguments.markdown, text)
    print(text)
    return int(any(row.measured is None for row in rows))


def measured(arguments: argparse.Namespace) -> list[Row]:
    """A row for each export and batch, each in a process of its own."""
    rows, data = [], str(find(arguments.data))
    with TemporaryDirectory() as folder:
        for checkpoint in arguments.checkpoint:
            for precision in PRECISIONS:
                model = str(Path(folder) / f"{checkpoint.stem}-{precision}")
                if main(["export", str(checkpoint), "--precision", precision, "-o", model]):
                    raise UsageError(f"{checkpoint} cannot be exported in {precision}")
                rows += [
                    in_own_process(
                        Configuration(
                            data,
                            model,
                            device=arguments.device,
                            batch=batch,
                            limit=arguments.limit,
                            one_look=True,
                        )
                    )
                    for batch in BATCHES
                ]
    return rows


def page(machine: Machine, checkpoints: Sequence[Path], rows: Sequence[Row]) -> str:
    """Markdown of the rows beside the paper's, or that no GPU was had."""
    names = ", ".join(path.stem for path in checkpoints)
    if machine.gpu is None:
        about = (
            f"No NVIDIA GPU was had on this machine ({machine.processor}, {machine.time}), so of "
            f"{names} there are no figures: the same command makes them where there is one."
        )
    else:
        about = (
            f"One pass, from ink to LaTeX, on {machine.gpu} ({machine.time}, revision "
            f"{machine.revision}). Memory is that of the process, the device's context included."
        )
    figures = [
        [
            Path(str(row.trial.model)).name,
            row.trial.batch,
            row.measured.fps if row.measured else row.error,
            row.measured.gpu_memory if row.measured else None,
        ]
        for row in rows
    ]
    return f"# On a GPU\n\n{about}\n\n{table(HEAD, [PAPER, *figures])}\n"
