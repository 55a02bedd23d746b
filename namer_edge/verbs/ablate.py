"""`namer-edge ablate`: the paper's ablations, measured beside its figures."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from namer_edge_runtime.command import INTERRUPTED
from namer_edge_runtime.outputs import check_writable
from namer_edge_runtime.verbs.options import positive

if TYPE_CHECKING:
    from ..ablation.runs import Run

SUMMARY = "measure the rows of an ablation table beside the paper's figures"

EPILOG = """\
TABLE is edges (S3), heads (6), window (5), teachers (4), or all.

With --model CHECKPOINT, edges and heads are read from that one trained model, whose network runs
once for all rows: inference-time figures. With --train, rows are trained one after the other, each
from where it was stopped: as the paper did, or shortened and upon another configuration:

  namer-edge ablate window --train --config edge --epochs 12 --threads 1
  namer-edge ablate heads --train --config edge --epochs 2 --set init=X.safetensors \\
      --set 'frozen=["encoder", "vat"]'          # PGD alone, upon a trained encoder and VAT

A row whose teacher is a packaged configuration trains that first where its weights are missing or
unfinished; --teacher-set shortens it. --row ROW takes one row alone, and --dry-run prints a command
and estimated minutes for each:

  namer-edge ablate teachers --config edge --epochs 12 --teacher-set epochs=60 --dry-run
  namer-edge ablate teachers --config edge --epochs 12 --teacher-set epochs=60 --row CAN --train \\
      --data runs/data/test2013.npz runs/data/test2014.npz runs/data/test2016.npz

Rows that have weights (from --train, or from `namer-edge train paper-window-3` …) are measured;
what was not run is marked. Rows that read the same packs are compared with the paper's row, formula
by formula, all packs of --data pooled. Results go into --results, a JSON file, and as tables into
the .md beside it.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("table", metavar="TABLE", help="edges, heads, window, teachers or all")
    parser.add_argument(
        "--data",
        metavar="PACK",
        type=Path,
        nargs="+",
        default=[Path("runs/data/test2014.npz")],
        help="labeled packs, runs/data/test2014.npz if none is given",
    )
    parser.add_argument("--row", metavar="ROW", help="this row of the table alone")
    parser.add_argument("--model", metavar="CHECKPOINT", type=Path, help="inference-time rows")
    parser.add_argument(
        "--paper-nodes",
        action="store_true",
        help="with --model: cells become nodes by eq. 4 alone, not as the model was trained to",
    )
    parser.add_argument("--train", action="store_true", help="train the rows that are not done")
    parser.add_argument(
        "--config", metavar="NAME", help="train the rows upon this one, not as paper-…"
    )
    parser.add_argument("--epochs", type=positive, metavar="N", help="of each row's schedule")
    parser.add_argument(
        "--set", action="append", default=[], metavar="key=value", help="override a setting"
    )
    parser.add_argument(
        "--teacher-set",
        action="append",
        default=[],
        metavar="key=value",
        help="override a setting of the rows' teachers",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print each row's command and its estimated minutes, and stop",
    )
    parser.add_argument("--device", metavar="D", help="for reading: cpu, cuda …")
    parser.add_argument("--threads", type=positive, metavar="N", help="CPU threads of each process")
    parser.add_argument(
        "--results",
        metavar="OUT.json",
        type=Path,
        default=Path("ablations.json"),
        help="%(default)s",
    )


def run(arguments: argparse.Namespace) -> int:
    """Exit code 130 if a signal stopped the training of a row. Raises the typed errors of
    configurations, checkpoints and data."""
    from namer_edge_runtime.errors import UsageError
    from namer_edge_runtime.file_lock import exclusive

    from ..ablation.tables import TABLES

    names = list(TABLES) if arguments.table == "all" else [arguments.table]
    if not set(names) <= set(TABLES):
        known = ", ".join((*TABLES, "all"))
        raise UsageError(f"no table {arguments.table!r}: there are {known}")
    if arguments.model and not any(TABLES[name].at_inference for name in names):
        raise UsageError(f"the rows of {arguments.table} differ in training: give --train")
    known_rows = [row.name for name in names for row in TABLES[name].rows]
    if arguments.row and arguments.row not in known_rows:
        raise UsageError(f"no row {arguments.row!r}: there are {', '.join(known_rows)}")
    if arguments.dry_run:
        return _plan(arguments, names)
    check_writable(str(arguments.results))
    with exclusive(arguments.results, is_folder=False):
        return _measure(arguments, names)


def _runs(arguments: argparse.Namespace, names: list[str]) -> "dict[str, list[Run]]":
    """The runs of the rows asked for by table."""
    from ..ablation.runs import runs
    from ..ablation.tables import TABLES

    given = {"epochs": arguments.epochs, "threads": arguments.threads}
    settings = [*arguments.set, *(f"{key}={value}" for key, value in given.items() if value)]
    threads = [f"threads={arguments.threads}"] if arguments.threads else []
    teachers = [*arguments.teacher_set, *threads]
    planned = {name: runs(TABLES[name], arguments.config, settings, teachers) for name in names}
    return {
        name: [run for run in some if arguments.row in (None, run.name)]
        for name, some in planned.items()
    }


def _plan(arguments: argparse.Namespace, names: list[str]) -> int:
    import torch

    from ..ablation.schedule import HEADING, estimates

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    print(HEADING)
    planned = _runs(arguments, names)
    tables = {id(run): name for name, some in planned.items() for run in some}
    for estimate in estimates(run for some in planned.values() for run in some):
        print(estimate.text())
        if id(estimate.run) in tables:
            print("  " + _command(arguments, tables[id(estimate.run)], estimate.run.name))
    return 0


def _command(arguments: argparse.Namespace, table: str, row: str) -> str:
    """The command that trains and measures a row."""
    import shlex

    words = ["namer-edge", "ablate", table, "--row", row, "--train"]
    for option in ("config", "epochs", "threads", "device"):
        if getattr(arguments, option):
            words += [f"--{option}", str(getattr(arguments, option))]
    for option in ("set", "teacher_set"):
        for setting in getattr(arguments, option):
            words += [f"--{option.replace('_', '-')}", setting]
    words += ["--results", str(arguments.results), "--data", *map(str, arguments.data)]
    return shlex.join(words)


def _measure(arguments: argparse.Namespace, names: list[str]) -> int:
    import torch
    from tqdm import tqdm

    from ..ablation.measure import AtInference, LabeledPack, measure_run
    from ..ablation.results import Results, text
    from ..ablation.tables import TABLES

    results = Results.load(arguments.results)
    planned = _runs(arguments, names)
    if arguments.train and not all(run.train() for name in names for run in planned[name]):
        return INTERRUPTED  # the same command resumes
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    with tqdm(unit="formula", disable=None) as bar:
        for path in arguments.data:
            pack = LabeledPack.of(path, bar.update)
            if arguments.model:
                reader = AtInference.of(arguments.model, arguments.device, arguments.paper_nodes)
                for name in filter(lambda name: TABLES[name].at_inference, names):
                    for run in planned[name]:
                        results.add(reader.measure(name, TABLES[name].row(run.name), pack))
            for name in names:
                for run in planned[name]:
                    row = TABLES[name].row(run.name)
                    measured = measure_run(name, row, run.folder, pack)
                    if measured is not None:
                        results.add(measured)
    print(text(results, names))
    return 0
