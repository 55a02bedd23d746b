"""`namer-edge evaluate`: how well a model reads a labeled set of ink or pictures."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from namer_edge_runtime.outputs import STANDARD_OUTPUT, check_outputs, write_text
from namer_edge_runtime.verbs.options import (
    add_recognizer_options,
    as_written,
    open_recognizer,
    positive,
    whole,
)

if TYPE_CHECKING:
    from namer_edge_runtime.recognizer import Recognizer

SUMMARY = "read a labeled set and say how much of it is right"
SUB_VERBS = {
    "corrections": "namer_edge.evaluation.corrections",
    "robustness": "namer_edge.evaluation.robustness",
    "unknown-signs": "namer_edge.evaluation.out_of_distribution",
    "new-signs": "namer_edge.evaluation.new_signs",
    "reliability": "namer_edge.evaluation.reliability",
}

EPILOG = """\
DATA is a folder or zip of InkML or of pictures, a single file, or a pack (.npz). A label file has
lines NAME TAB LABEL, NAME with or without the file's ending; with a heading line (first column
`name`) its third column says yes or no: whether the label is within the vocabulary. Every labeled
file counts: one that cannot be read, or is not there, is wrong and is named.

With --field SEED the ink of DATA (runs/data/test2013.npz) that is read right clean is read again
under field conditions: as people's pictures and programs' ink, drawn from written ranges.

Further evaluations, each with --help:

  namer-edge evaluate corrections PACK           how many corrections put misread ink right
  namer-edge evaluate robustness PACK            size, pen width and rotation
  namer-edge evaluate unknown-signs PACK …       scores of out-of-distribution ink
  namer-edge evaluate new-signs PACK …           signs and structures beyond CROHME's
  namer-edge evaluate reliability REPORT.json …  reliability diagrams of reports
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "data", type=Path, nargs="?", metavar="DATA", help="InkML, pictures or a pack"
    )
    parser.add_argument(
        "--labels", type=Path, metavar="TSV", help="default: the truth inside InkML or pack"
    )
    add_recognizer_options(parser)
    parser.add_argument(
        "--beam",
        type=positive,
        default=1,
        metavar="N",
        help="for weights (.safetensors) of an autoregressive recognizer: hypotheses kept (1)",
    )
    parser.add_argument(
        "--loose",
        action="store_true",
        help="normalize label and answer first: for labels without a published form (photos)",
    )
    parser.add_argument(
        "--all-rows", action="store_true", help="count labels beyond the vocabulary too"
    )
    parser.add_argument("--json", metavar="OUT", help="the whole report; - is standard output")
    parser.add_argument("--jsonl", metavar="OUT", help="each file's answer; - is standard output")
    field = parser.add_argument_group("field bench")
    field.add_argument(
        "--field", type=whole, metavar="SEED", help="read formulas again under field conditions"
    )
    field.add_argument(
        "--half",
        choices=("tune", "report"),
        help="of each range: to tune on (default), or for figures that are reported",
    )
    field.add_argument("--formulas", type=positive, metavar="N", help="a condition (200)")
    field.add_argument(
        "--condition",
        action="append",
        metavar="NAME",
        help="only those with this in their name, or of this kind (picture, ink); repeatable",
    )
    field.add_argument(
        "--failures", type=Path, metavar="FOLDER", help="for a picture of each that is read wrong"
    )


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 if some labeled files had no answer, or none was counted.

    Raises the typed errors of model, engine, labels and data.
    """
    import json
    import sys
    from collections.abc import Iterable
    from time import perf_counter

    from tqdm import tqdm

    from namer_edge_runtime.bulk.input_files import count
    from namer_edge_runtime.engine.int8_sums import SATURATED, WITHOUT, arithmetic
    from namer_edge_runtime.errors import UsageError
    from namer_edge_runtime.model_file import CHECKPOINT, ModelFile

    from ..data.labels import read_labels
    from ..data.pack import source_hash
    from ..evaluation.answers import answer_all, paired_with, paired_with_own, scored
    from ..evaluation.calibration import Confidence
    from ..evaluation.report import Report
    from ..evaluation.samples import Sample, file_samples, pack_samples

    inputs = (arguments.data, arguments.labels)
    check_outputs((arguments.json, arguments.jsonl), inputs)
    weights = str(arguments.model or "").endswith(CHECKPOINT)
    if weights:
        _check_for_weights(arguments)
    if arguments.field is not None:
        from ..evaluation.field import run_field

        useless = [name for name in ("loose", "all_rows", "jsonl") if getattr(arguments, name)]
        if useless:
            raise UsageError(f"{as_written(useless)}: not for the field bench")
        return run_field(arguments, _reader if weights else open_recognizer)
    if arguments.data is None:
        raise UsageError("give DATA, the labeled set that is to be read")
    useless = [n for n in ("half", "formulas", "condition", "failures") if getattr(arguments, n)]
    if useless:
        raise UsageError(f"{as_written(useless)}: for the field bench; give --field SEED")
    labels = read_labels(arguments.labels) if arguments.labels else None
    packed = arguments.data.suffix.lower() == ".npz"
    samples: Iterable[Sample]
    if packed:
        samples = pack_samples(arguments.data)
        total = len(samples)
    else:
        samples = file_samples(arguments.data, own_labels=labels is None)
        total = count([arguments.data])
    if labels is None:
        samples = list(samples)
        if all(sample.label is None for sample in samples):
            raise UsageError(f"no file of {arguments.data} carries its label: give --labels")
    recognizer = _reader(arguments) if weights else open_recognizer(arguments)
    started = perf_counter()
    # Without a terminal to draw on, tqdm keeps silent.
    with tqdm(total=total, unit="file", disable=None) as bar:
        answers = answer_all(recognizer, samples, arguments.batch_size, bar.update)
    seconds = perf_counter() - started
    if labels is None:
        whose = "the pack's" if packed else "the InkML truth, normalized"
        paired = paired_with_own(answers, whose, loose=arguments.loose)
    else:
        paired = paired_with(labels, answers, loose=arguments.loose, all_rows=arguments.all_rows)
    report = Report.of(paired.readings, paired.protocol)
    confidence = Confidence.of(*scored(answers, paired))
    engine = recognizer.engine
    about: dict[str, Any] = {
        "model": arguments.model if weights else ModelFile.open(arguments.model).name,
        "engine": engine.name,
        "device": engine.device,
        "precision": engine.precision,
        "arithmetic": arithmetic(engine),
        "as_picture": arguments.as_picture,
        "seconds": round(seconds, 2),
        "confidence": confidence.to_json(),
        "unlabeled": list(paired.unlabeled),
        "repeated": list(paired.repeated),
        "sources": {
            str(path): source_hash(path) for path in inputs if path is not None and path.is_file()
        },
    }
    if arguments.json:
        whole = json.dumps({**report.to_json(), **about}, ensure_ascii=False, indent=1)
        write_text(arguments.json, whole + "\n")
    if arguments.jsonl:
        objects = (a.to_json(paired.by_source.get(a.outcome.source)) for a in answers)
        lines = (json.dumps(o, ensure_ascii=False) + "\n" for o in objects)
        write_text(arguments.jsonl, "".join(lines))
    # JSON on standard output is not mixed with text.
    text = sys.stderr if STANDARD_OUTPUT in (arguments.json, arguments.jsonl) else sys.stdout
    print("{model} on {engine}, {device}, {precision}, {seconds} s".format(**about), file=text)
    sums: dict[str, str] = about["arithmetic"]
    print(", ".join(f"{key}: {value}" for key, value in sums.items()), file=text)
    if sums["int8 sums"] == SATURATED:
        print(f"note: {WITHOUT}", file=sys.stderr)
    print(report.text(), file=text)
    print(f"\n{confidence.text()}", file=text)
    for note in paired.notes():
        print(f"note: {note}", file=sys.stderr)
    return 1 if report.unreadable or not report.overall.total else 0


def _check_for_weights(arguments: argparse.Namespace) -> None:
    """Raises `UsageError` for options that only model files have."""
    from namer_edge_runtime.errors import UsageError

    useless = [name for name in ("fallback", "cache_dir") if getattr(arguments, name)]
    if arguments.engine not in (None, "torch"):
        useless.append("engine")
    if useless:
        raise UsageError(
            f"{as_written(useless)}: for model files; weights are read with torch as they are"
        )


def _reader(arguments: argparse.Namespace) -> "Recognizer":
    """A recognizer that runs weights in torch; raises `CheckpointError` for another file."""
    import torch

    from ..checkpoints.open import open_reader

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    weights = Path(arguments.model)
    reader = open_reader(weights, arguments.device, arguments.beam, arguments.as_picture)
    return cast("Recognizer", reader)
