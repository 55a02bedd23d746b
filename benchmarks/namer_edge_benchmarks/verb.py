"""`namer-edge benchmark`: speed, memory and cost on this machine, beside accuracy."""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from namer_edge_runtime.verbs.options import STANDARD_OUTPUT, check_writable, positive, write_text

T = TypeVar("T")

SUMMARY = "measure speed, memory and cost on this machine, beside accuracy"

EPILOG = """\
DATA is a pack (.npz), or a folder or zip of pictures or InkML (default: runs/data/test2014.npz).
Options that may be given several times are combined, and each combination is measured in a process
of its own. What cannot run here is a row that says why.

  namer-edge benchmark --limit 100 --threads 1 --threads 4
  namer-edge benchmark scans/ --model MODEL-fp32 --model MODEL-int8 --engine onnxruntime
  namer-edge benchmark --paper --limit 20 --teacher dwap=runs/paper-dwap/best.safetensors
  namer-edge benchmark --scaling --plot scaling.png
"""


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
    parser.add_argument("--one-look", action="store_true", help="read nothing again at other sizes")
    parser.add_argument(
        "--as-pictures", action="store_true", help="draw ink first and read it as a picture"
    )
    parser.add_argument(
        "--peer",
        metavar="NAME=ADAPTER",
        action="append",
        default=[],
        help="another recogniser on the same pictures: module:function, or a command with {}",
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
    parser.add_argument("--plot", metavar="OUT.png", help="with --scaling: its curves")
    parser.add_argument(
        "--teacher",
        metavar="NAME=WEIGHTS",
        action="append",
        default=[],
        help="with --paper: trained weights of dwap, tree-decoder, comer or namer on DenseNet",
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
    _check(arguments)
    kept = None
    if arguments.compare:
        from .baseline import load_baseline

        kept = load_baseline(arguments.compare)
    measure = _paper if arguments.paper else _scaling if arguments.scaling else _models
    measured = measure(arguments)
    text, worse = measured.text, False
    if kept is not None:
        from .baseline import change_page, changes

        found = changes(kept, measured.value, arguments.tolerance)
        text, worse = f"{text}\n\n{change_page(found)}", any(change.worse for change in found)
    _give(arguments, measured.value, text)
    return int(worse or not measured.complete)


@dataclass(frozen=True)
class _Run:
    """What was measured: for programs, for people, and whether all that was asked for."""

    value: dict[str, Any]
    text: str
    complete: bool


def _models(arguments: argparse.Namespace) -> _Run:
    import itertools
    from dataclasses import asdict

    from . import peers
    from .formulas import find
    from .machine import Machine
    from .pages import page
    from .trial import Trial
    from .worker import in_own_process

    data = find(arguments.data)
    others = [
        peers.Peer(name, adapter, str(data), arguments.limit)
        for name, adapter in _named(arguments.peer, "--peer").items()
    ]
    machine = Machine.here()
    combinations = itertools.product(
        arguments.model or [None],
        arguments.engine or [None],
        arguments.device or [None],
        arguments.threads or [1],
        arguments.batch or [1],
    )
    rows = []
    for model, engine, device, threads, batch in combinations:
        trial = Trial(
            str(data),
            model,
            engine,
            device,
            threads,
            batch,
            arguments.limit,
            arguments.warm_up,
            arguments.one_look,
            arguments.as_pictures or bool(others),
        )
        print(f"measuring {trial}", file=sys.stderr)
        rows.append(in_own_process(trial))
    value = {"machine": machine.to_json(), "rows": [row.to_json() for row in rows]}
    text = page(machine, rows)
    complete = all(row.measured is not None and not row.measured.failed for row in rows)
    if others:
        found = [peers.in_own_process(peer) for peer in others]
        value["peers"] = [asdict(row) for row in found]
        text += f"\n\n{peers.peer_page(found)}"
        complete = complete and not any(row.error or row.failed for row in found)
    return _Run(value, text, complete)


def _paper(arguments: argparse.Namespace) -> _Run:
    import torch
    from tqdm import tqdm

    from .comparison import compare
    from .entrants import entrants
    from .formulas import find, samples
    from .machine import Machine
    from .paper_page import paper_json, paper_page

    chosen = samples(find(arguments.data), arguments.limit, arguments.as_pictures)
    given = _named(arguments.teacher, "--teacher")
    taking_part = entrants({name: Path(path) for name, path in given.items()})
    machine = Machine.here()
    torch.set_num_threads(_one(arguments.threads, "--threads") or 1)
    device = _one(arguments.device, "--device") or "cpu"
    with tqdm(total=len(chosen), unit="formula", disable=None) as bar:
        found = compare(taking_part, chosen, arguments.beam or [1, 10], device, bar.update)
    return _Run(paper_json(machine, found), paper_page(machine, found), not found.failed)


def _scaling(arguments: argparse.Namespace) -> _Run:
    from dataclasses import asdict

    import torch

    from namer_edge_runtime.picture.save import save_picture

    from .charts import chart_page, draw
    from .entrants import entrants
    from .machine import Machine
    from .scaling import scaling

    machine = Machine.here()
    torch.set_num_threads(_one(arguments.threads, "--threads") or 1)
    charts = scaling(entrants({}))
    if arguments.plot:
        save_picture(Path(arguments.plot), draw(charts))
    value = {"machine": machine.to_json(), "charts": [asdict(chart) for chart in charts]}
    return _Run(value, f"{machine.text()}\n\n{chart_page(charts)}", True)


def _check(arguments: argparse.Namespace) -> None:
    """Raises `UsageError` for options that do not go together."""
    from namer_edge_runtime.errors import UsageError

    if arguments.paper and arguments.scaling:
        raise UsageError("--paper and --scaling are runs of their own: give one of them")
    if arguments.scaling and (arguments.compare or arguments.data or arguments.teacher):
        raise UsageError("--scaling takes no DATA, --teacher or --compare: it makes its own input")
    if arguments.peer and (arguments.paper or arguments.scaling):
        raise UsageError("--peer stands beside models: not with --paper or --scaling")
    if arguments.plot and not arguments.scaling:
        raise UsageError("--plot draws the curves of --scaling: give that too")


def _named(given: list[str], option: str) -> dict[str, str]:
    """NAME=VALUE of an option; raises `UsageError` for what is none."""
    from namer_edge_runtime.errors import UsageError

    values = {}
    for text in given:
        name, _, value = text.partition("=")
        if not name or not value:
            raise UsageError(f"{option} {text!r}: write NAME=VALUE")
        values[name] = value
    return values


def _one(given: list[T] | None, option: str) -> T | None:
    from namer_edge_runtime.errors import UsageError

    if given and len(given) > 1:
        raise UsageError(f"--paper measures in one run: give {option} once")
    return given[0] if given else None


def _give(arguments: argparse.Namespace, value: dict[str, Any], text: str) -> None:
    """Writes the figures and the page to where they were asked for."""
    if arguments.json:
        write_text(arguments.json, json.dumps(value, ensure_ascii=False, indent=1) + "\n")
    if arguments.markdown:
        write_text(arguments.markdown, text + "\n")
    print(text, file=sys.stderr if arguments.json == STANDARD_OUTPUT else sys.stdout)
