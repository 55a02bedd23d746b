"""`namer-edge teacher-report`: distances of a teacher's positions from the ink's."""

import argparse
from pathlib import Path

from namer_edge_runtime.outputs import STANDARD_OUTPUT, check_writable, write_text
from namer_edge_runtime.verbs.options import positive

SUMMARY = "compare the positions that a teacher's attention gives with those of the ink"

EPILOG = """\
TEACHER is the weights of an autoregressive recognizer (`namer-edge train dwap`), or of a NAMER,
which reads; PACK a pack whose ink is segmented. Distances are in cells of the H/8 grid, that is 8
pixels of the model's input: the larger of rows and columns, as the matching window counts them.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("teacher", metavar="TEACHER", type=Path, help="weights (.safetensors)")
    parser.add_argument("pack", metavar="PACK", type=Path, help="made by `namer-edge data pack`")
    parser.add_argument("-o", "--output", metavar="OUT.png", type=Path, help="draw it as well")
    parser.add_argument("--json", metavar="OUT", help="the whole report; - is standard output")
    parser.add_argument(
        "--limit", type=positive, metavar="N", help="about as many formulas, spread over the pack"
    )
    parser.add_argument(
        "--symbol-height",
        type=float,
        metavar="PX",
        help="count cells as a model of this symbol height would (default: the teacher's own)",
    )
    parser.add_argument("--device", metavar="D", help="cpu, cuda …")
    parser.add_argument("--threads", type=positive, metavar="N")


def run(arguments: argparse.Namespace) -> int:
    """Raises `CheckpointError` for other files than weights, `DataError` for a pack without
    positions."""
    import json
    import sys
    from dataclasses import asdict, replace

    import torch

    from namer_edge_runtime.errors import DataError
    from namer_edge_runtime.picture.save import save_picture

    from ..checkpoints.weights import load_model
    from ..data.pack import load_pack
    from ..explanation.teacher_picture import teacher_picture
    from ..explanation.teacher_report import teacher_report
    from ..training.positions import teacher_positions

    for target in (arguments.json, arguments.output):
        check_writable(None if target is None else str(target))
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    model, preprocessing, record = load_model(arguments.teacher)
    formulas = [formula for formula in load_pack(arguments.pack).formulas if formula.placed]
    if not formulas:
        raise DataError(f"{arguments.pack}: no formula has positions from ink to compare with")
    if arguments.limit:
        formulas = formulas[:: max(1, len(formulas) // arguments.limit)]
    seen = replace(
        preprocessing, symbol_height=arguments.symbol_height or preprocessing.symbol_height
    )
    taught = teacher_positions(arguments.teacher, formulas, arguments.device or "cpu")
    report = teacher_report(formulas, taught, seen, model.vocabulary)
    if arguments.json:
        value = {
            "teacher": arguments.teacher.name,
            "teacher_sha256": record["sha256"],
            "model": getattr(model.architecture, "model", "namer"),
            "pack": arguments.pack.name,
            "symbol_height": seen.symbol_height,
            "formulas": len(report.formulas),
            "left_out": report.left_out,
            "groups": {name: asdict(spread) for name, spread in report.groups.items()},
            "classes": {name: asdict(spread) for name, spread in report.classes.items()},
        }
        write_text(arguments.json, json.dumps(value, indent=1) + "\n")
    text = sys.stderr if arguments.json == STANDARD_OUTPUT else sys.stdout
    print("\n".join(report.lines()), file=text)
    if arguments.output:
        save_picture(arguments.output, teacher_picture(report)[:, :, ::-1])
    return 0
