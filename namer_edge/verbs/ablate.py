"""`namer-edge ablate`: the paper's ablations, measured beside its figures."""

import argparse
from pathlib import Path

from namer_edge_runtime.command import INTERRUPTED
from namer_edge_runtime.outputs import check_writable
from namer_edge_runtime.verbs.options import positive

SUMMARY = "measure the rows of an ablation table beside the paper's figures"

EPILOG = """\
TABLE is edges (S3), heads (6), window (5), teachers (4), or all.

With --model CHECKPOINT, edges and heads are read from that one trained model, whose network runs
once for all rows: inference-time figures. With --train, rows are trained one after the other, each
from where it was stopped: as the paper did, or shortened and upon another configuration:

  namer-edge ablate window --train --config edge --epochs 12 --threads 1
  namer-edge ablate heads --train --config edge --epochs 2 --set init=X.safetensors \\
      --set 'frozen=["encoder", "vat"]'          # PGD alone, upon a trained encoder and VAT

Rows that have weights (from --train, or from `namer-edge train paper-window-3` …) are measured;
what was not run is marked. Results go into --results, a JSON file, and as tables into the .md
beside it.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("table", metavar="TABLE", help="edges, heads, window, teachers or all")
    parser.add_argument(
        "--data",
        metavar="PACK",
        type=Path,
        default=Path("runs/data/test2014.npz"),
        help="%(default)s",
    )
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
    check_writable(str(arguments.results))
    with exclusive(arguments.results, is_folder=False):
        return _measure(arguments, names)


def _measure(arguments: argparse.Namespace, names: list[str]) -> int:
    import torch
    from tqdm import tqdm

    from ..ablation.measure import AtInference, LabeledPack, measure_run
    from ..ablation.results import Results, text
    from ..ablation.runs import runs
    from ..ablation.tables import TABLES

    results = Results.load(arguments.results)
    given = {"epochs": arguments.epochs, "threads": arguments.threads}
    settings = [*arguments.set, *(f"{key}={value}" for key, value in given.items() if value)]
    planned = {name: list(runs(TABLES[name], arguments.config, settings)) for name in names}
    if arguments.train and not all(run.train() for name in names for run in planned[name]):
        return INTERRUPTED  # the same command resumes
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    with tqdm(unit="formula", disable=None) as bar:
        pack = LabeledPack.of(arguments.data, bar.update)
        if arguments.model:
            reader = AtInference.of(arguments.model, arguments.device, arguments.paper_nodes)
            for name in filter(lambda name: TABLES[name].at_inference, names):
                for row in TABLES[name].rows:
                    results.add(reader.measure(name, row, pack))
        for name in names:
            for planned_run in planned[name]:
                measured = measure_run(name, planned_run.row, planned_run.folder, pack)
                if measured is not None:
                    results.add(measured)
    print(text(results, names))
    return 0
