"""`namer-edge benchmark`: speed, memory and cost on this machine, beside accuracy."""

import argparse
from pathlib import Path

from namer_edge_runtime.verbs.options import STANDARD_OUTPUT, check_writable, positive

SUMMARY = "measure speed, memory and cost on this machine, beside accuracy"

EPILOG = """\
DATA is a pack (.npz), or a folder or zip of pictures or InkML (default: runs/data/test2014.npz).
Options that may be given several times are combined, and each combination is measured in a process
of its own. What cannot run here is a row that says why.

  namer-edge benchmark --limit 100 --threads 1 --threads 4
  namer-edge benchmark scans/ --model MODEL-fp32 --model MODEL-int8 --engine onnxruntime
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
    parser.add_argument("--json", metavar="OUT", help="all figures; - is standard output")
    parser.add_argument("--markdown", metavar="OUT", help="the page that is printed, as a file")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 where a row has no figures or an input was not read. Raises `UsageError` where
    there is nothing to read."""
    import itertools
    import json
    import sys

    from namer_edge_runtime.atomic import atomic_file

    from .formulas import find
    from .machine import Machine
    from .pages import page
    from .trial import Trial
    from .worker import in_own_process

    for target in (arguments.json, arguments.markdown):
        check_writable(target)
    data = find(arguments.data)
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
            arguments.as_pictures,
        )
        print(f"measuring {trial}", file=sys.stderr)
        rows.append(in_own_process(trial))
    text = page(machine, rows)
    if arguments.json:
        value = {"machine": machine.to_json(), "rows": [row.to_json() for row in rows]}
        content = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
        if arguments.json == STANDARD_OUTPUT:
            print(content, end="")
        else:
            with atomic_file(Path(arguments.json), "w") as file:
                file.write(content)
    if arguments.markdown:
        with atomic_file(Path(arguments.markdown), "w") as file:
            file.write(text + "\n")
    print(text, file=sys.stderr if arguments.json == STANDARD_OUTPUT else sys.stdout)
    return int(any(row.measured is None or row.measured.failed for row in rows))
