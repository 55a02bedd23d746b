"""The four runs of `namer-edge benchmark`: models, table 3, scaling, accuracy."""

import argparse
import itertools
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from namer_edge_runtime.errors import UsageError

T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """A finished run: figures for programs, a page for people, and whether it is complete."""

    value: dict[str, Any]
    text: str
    complete: bool


def models(arguments: argparse.Namespace) -> Run:
    """Rows of models, and of peers on the same formulas."""
    from namer_edge_runtime.model_file import CHECKPOINT

    from . import peers
    from .configuration import Configuration
    from .formulas import find
    from .machine import Machine
    from .pareto import front_page, points
    from .report import page
    from .worker import in_own_process

    if arguments.plot:  # before anything is measured, as matplotlib may be missing
        from namer_edge.figures import save

        from .charts import draw_front

    data, only = find(arguments.data), tuple(arguments.only.split())
    others = [
        peers.Peer(name, adapter, str(data), arguments.limit, only, ink)
        for ink, given in ((False, arguments.peer), (True, arguments.ink_peer))
        for name, adapter in _named(given, "--ink-peer" if ink else "--peer").items()
    ]
    machine = Machine.here()
    combinations = itertools.product(
        arguments.model or [None],
        arguments.engine or [None],
        arguments.device or [None],
        arguments.threads or [1],
        arguments.batch or [1],
        (False, True) if arguments.both_looks else (arguments.one_look,),
    )
    trials = [
        Configuration(
            str(data),
            model,
            engine,
            device,
            threads,
            batch,
            arguments.limit,
            arguments.warm_up,
            one_look or str(model).endswith(CHECKPOINT),  # which is read once in any case
            arguments.as_pictures or bool(others),
            only,
            loose=bool(others),
        )
        for model, engine, device, threads, batch, one_look in combinations
    ]
    rows = []
    for trial in dict.fromkeys(trials):
        print(f"measuring {trial}", file=sys.stderr)
        rows.append(in_own_process(trial))
    value = {"machine": machine.to_json(), "rows": [row.to_json() for row in rows]}
    text = page(machine, rows)
    complete = all(row.measured is not None and not row.measured.failed for row in rows)
    found = []
    for peer in others:
        print(f"measuring {peer.name}", file=sys.stderr)
        found.append(peers.in_own_process(peer))
    if others:
        value["peers"] = [{**asdict(row), "fps": row.fps} for row in found]
        text += f"\n\n{peers.peer_page(found)}"
        complete = complete and not any(row.error or row.failed for row in found)
    drawn = points(rows, found)
    if arguments.plot:
        if not drawn:
            raise UsageError("nothing to draw: no formula brought a label, or nothing was measured")
        save(Path(arguments.plot), draw_front(drawn))
        text += f"\n\n{front_page(drawn)}"
    return Run(value, text, complete)


def paper(arguments: argparse.Namespace) -> Run:
    """Table 3."""
    import torch
    from tqdm import tqdm

    from .baselines import baselines
    from .end_to_end import open_whole
    from .formulas import find, samples
    from .machine import Machine
    from .table3 import compare
    from .table3_report import paper_json, paper_page

    chosen = samples(find(arguments.data), arguments.limit, arguments.as_pictures)
    given, lengths = (
        {name: Path(path) for name, path in _named(values, option).items()}
        for values, option in ((arguments.teacher, "--teacher"), (arguments.lengths, "--lengths"))
    )
    taking_part = baselines(given, lengths=lengths)
    threads = _one(arguments.threads, "--threads") or 1
    wholes = open_whole(_one(arguments.model, "--model"), threads)
    machine = Machine.here()
    torch.set_num_threads(threads)
    device = _one(arguments.device, "--device") or "cpu"
    beams = arguments.beam or [1, 10]
    with tqdm(total=len(chosen), unit="formula", disable=None) as bar:
        found = compare(taking_part, chosen, beams, device, bar.update, wholes)
    return Run(paper_json(machine, found), paper_page(machine, found), not found.failed)


def scaling(arguments: argparse.Namespace) -> Run:
    """Growth of time with tokens, picture size and nodes."""
    import torch

    from .baselines import baselines
    from .machine import Machine
    from .scaling import chart_page
    from .scaling import scaling as measured

    if arguments.plot:
        from namer_edge.figures import save

        from .charts import draw_curves

    machine = Machine.here()
    torch.set_num_threads(_one(arguments.threads, "--threads") or 1)
    found = measured(baselines({}))
    if arguments.plot:
        save(Path(arguments.plot), draw_curves(found))
    value = {"machine": machine.to_json(), "charts": [asdict(chart) for chart in found]}
    return Run(value, f"{machine.text()}\n\n{chart_page(found)}", True)


def accuracy(arguments: argparse.Namespace) -> Run:
    """Tables 1 and 2."""
    from .accuracy import Scored, accuracy_page, score
    from .machine import Machine

    machine = Machine.here()
    found: list[Scored] = []
    for model in arguments.model or [None]:
        for name, data in _named(arguments.accuracy, "--accuracy").items():
            print(f"reading {name}", file=sys.stderr)
            found.append(
                score(
                    name,
                    Path(data),
                    model,
                    engine=_one(arguments.engine, "--engine"),
                    device=_one(arguments.device, "--device"),
                    threads=_one(arguments.threads, "--threads"),
                    one_look=arguments.one_look,
                    limit=arguments.limit,
                )
            )
    value = {"machine": machine.to_json(), "sets": [asdict(scored) for scored in found]}
    text = f"{machine.text()}\n\n{accuracy_page(found)}"
    return Run(value, text, not any(scored.failed for scored in found))


def _named(given: Sequence[str], option: str) -> dict[str, str]:
    """NAME=VALUE of an option; raises `UsageError` for what is none."""
    values = {}
    for text in given:
        name, _, value = text.partition("=")
        if not name or not value:
            raise UsageError(f"{option} {text!r}: write NAME=VALUE")
        values[name] = value
    return values


def _one(given: list[T] | None, option: str) -> T | None:
    if given and len(given) > 1:
        raise UsageError(f"this measures in one run: give {option} once")
    return given[0] if given else None
