"""`namer-edge benchmark`: speed, memory and cost on this machine, beside accuracy."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from namer_edge_runtime.outputs import STANDARD_OUTPUT, check_writable, write_text
from namer_edge_runtime.verbs.options import as_written, positive

SUMMARY = "measure speed, memory and cost on this machine, beside accuracy"

EPILOG = """\
DATA is a pack (.npz), or a folder or zip of pictures or InkML (default: runs/data/test2014.npz).
Options that may be given several times are combined, and each combination is measured in a process
of its own. What cannot run here is a row that says why.

  namer-edge benchmark --limit 100 --threads 1 --threads 4
  namer-edge benchmark scans/ --model MODEL-fp32 --model MODEL-int8 --engine onnxruntime
  namer-edge benchmark --paper --limit 20 --teacher dwap=runs/paper-dwap/best.safetensors
  namer-edge benchmark --scaling --plot scaling.png
  namer-edge benchmark --accuracy 2014=test2014.npz --accuracy 2019=test2019.zip

Further measurements, each with --help:

  namer-edge benchmark targets PACK    the runtime's targets, each met or missed
  namer-edge benchmark gpu DATA        FPS and memory on a GPU, beside the paper's
  namer-edge benchmark tables          the tables of docs/benchmarks.md, from the results of record
"""
SUB_VERBS = {
    "targets": "namer_edge_benchmarks.runtime_targets",
    "gpu": "namer_edge_benchmarks.gpu_page",
    "tables": "namer_edge_benchmarks.readme_tables",
}
RUNS = ("paper", "scaling", "accuracy")
"""Options that make it another run than that of models in rows."""
USED = {
    "models": {
        *("data", "model", "engine", "device", "threads", "batch", "limit", "one_look"),
        *("both_looks", "as_pictures", "only", "peer", "ink_peer", "plot", "compare"),
    },
    "paper": {
        *("data", "model", "device", "threads", "limit", "as_pictures", "compare"),
        *("teacher", "lengths", "beam"),
    },
    "scaling": {"threads", "plot"},
    "accuracy": {"model", "engine", "device", "threads", "one_look", "limit"},
}
"""Options that each run heeds."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("data", metavar="DATA", type=Path, nargs="?", help="what is read")
    parser.add_argument(
        "--model",
        metavar="M",
        action="append",
        help="a packaged model, a model file, or a checkpoint (.safetensors); may be repeated",
    )
    parser.add_argument("--engine", metavar="E", action="append", help="may be repeated")
    parser.add_argument("--device", metavar="D", action="append", help="may be repeated")
    parser.add_argument(
        "--threads", metavar="N", type=positive, action="append", help="may be repeated (1)"
    )
    parser.add_argument(
        "--batch", metavar="N", type=positive, action="append", help="may be repeated (1)"
    )
    parser.add_argument("--limit", metavar="N", type=positive, help="formulas, spread evenly")
    parser.add_argument(
        "--warm-up", metavar="N", type=positive, default=5, help="read before the clock runs (5)"
    )
    parser.add_argument(
        "--no-tta",
        "--one-look",
        dest="one_look",
        action="store_true",
        help="no test-time augmentation",
    )
    parser.add_argument(
        "--both-looks",
        action="store_true",
        help="each model as shipped, and again without test-time augmentation",
    )
    parser.add_argument(
        "--as-pictures", action="store_true", help="draw ink first and read it as a picture"
    )
    parser.add_argument(
        "--only", metavar="TOKENS", default="", help="formulas written with these tokens alone"
    )
    parser.add_argument(
        "--peer",
        metavar="NAME=ADAPTER",
        action="append",
        default=[],
        help="another recognizer on the same pictures: module:function, a command with {}, or one "
        "that stays and ends in -",
    )
    parser.add_argument(
        "--ink-peer",
        metavar="NAME=ADAPTER",
        action="append",
        default=[],
        help="the same, of strokes: it gets a JSON file",
    )
    parser.add_argument(
        "--accuracy",
        metavar="SET=DATA",
        action="append",
        default=[],
        help="tables 1 and 2: SET is 2014, 2016, 2019, HME100K or any other; DATA may also be what "
        "`evaluate --json` wrote",
    )
    parser.add_argument(
        "--paper",
        action="store_true",
        help="table 3: NAMER beside DWAP, TreeDecoder and CoMER, on torch, one picture at a time",
    )
    parser.add_argument(
        "--scaling",
        action="store_true",
        help="how the same four grow with tokens, picture size and nodes (no DATA, on the CPU)",
    )
    parser.add_argument(
        "--plot", metavar="OUT.png", help="accuracy against speed; with --scaling, its curves"
    )
    parser.add_argument(
        "--teacher",
        metavar="NAME=WEIGHTS",
        action="append",
        default=[],
        help="with --paper: trained weights of dwap, tree-decoder, comer or namer on DenseNet",
    )
    parser.add_argument(
        "--lengths",
        metavar="NAME=WEIGHTS",
        action="append",
        default=[],
        help="with --paper: dwap, tree-decoder or comer trained on another encoder, which says how "
        "long its formulas are",
    )
    parser.add_argument(
        "--beam",
        metavar="N",
        type=positive,
        action="append",
        help="with --paper: hypotheses kept (1 and 10); may be repeated",
    )
    parser.add_argument(
        "--compare",
        metavar="BASELINE",
        type=Path,
        help="what --json kept of such a run: its ratios must still hold",
    )
    parser.add_argument(
        "--tolerance",
        metavar="PART",
        type=float,
        default=0.15,
        help="by which a ratio may be worse (0.15)",
    )
    parser.add_argument("--json", metavar="OUT", help="all figures; - is standard output")
    parser.add_argument("--markdown", metavar="OUT", help="the page that is printed, as a file")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 where a row has no figures, an input was not read or a ratio of the baseline does
    not hold. Raises `UsageError` where there is nothing to read, `DataError` for what is no
    baseline, and the typed errors of weights with `--paper`."""
    for target in (arguments.json, arguments.markdown, arguments.plot):
        check_writable(target)
    kind = _kind(arguments)
    kept = None
    if arguments.compare:
        from .baseline import load_baseline

        kept = load_baseline(arguments.compare)
    from . import commands as runs

    measured: runs.Run = getattr(runs, kind)(arguments)
    text, worse = measured.text, False
    if kept is not None:
        from .baseline import change_page, changes

        found = changes(kept, measured.value, arguments.tolerance)
        text, worse = f"{text}\n\n{change_page(found)}", any(change.worse for change in found)
    _give(arguments, measured.value, text)
    return int(worse or not measured.complete)


def _kind(arguments: argparse.Namespace) -> str:
    """Which run is asked for; raises `UsageError` for options that do not go together."""
    from namer_edge_runtime.errors import UsageError

    kinds = [name for name in RUNS if getattr(arguments, name)]
    if len(kinds) > 1:
        raise UsageError(f"{as_written(kinds)} are runs of their own: give one of them")
    kind = kinds[0] if kinds else "models"
    known = set().union(*USED.values())
    useless = [name for name in sorted(known - USED[kind]) if getattr(arguments, name)]
    if useless:
        names = as_written(useless).replace("--data", "DATA")
        run = as_written(kinds) or "a run of models"
        raise UsageError(f"{names}: of no use to {run}; leave out one or the other")
    return kind


def _give(arguments: argparse.Namespace, value: dict[str, Any], text: str) -> None:
    """Writes the figures and the page to where they were asked for."""
    if arguments.json:
        write_text(arguments.json, json.dumps(value, ensure_ascii=False, indent=1) + "\n")
    if arguments.markdown:
        write_text(arguments.markdown, text + "\n")
    print(text, file=sys.stderr if arguments.json == STANDARD_OUTPUT else sys.stdout)
