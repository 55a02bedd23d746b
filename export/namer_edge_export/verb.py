"""`namer-edge export`: from a checkpoint to a model file, or from an ONNX one to OpenVINO."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .formats import table

SUMMARY = "write the model file of a checkpoint, or an ONNX one for OpenVINO"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "checkpoint",
        metavar="CHECKPOINT",
        type=Path,
        help="NAME.safetensors with NAME.json beside it; or an ONNX model, packaged or by path, "
        "which --format openvino converts without PyTorch",
    )
    parser.add_argument("--format", default="onnx", help="see below (default: onnx)")
    parser.add_argument("--precision", help="see below (default: the format's first)")
    parser.add_argument("-o", "--output", metavar="MODEL", type=Path, required=True)
    parser.add_argument(
        "--calibration", metavar="DATA", type=Path, help="int8: formulas to take scales from"
    )
    parser.add_argument(
        "--eval", metavar="DATA", type=Path, help="int8: labeled formulas to measure accuracy on"
    )
    parser.add_argument(
        "--max-drop",
        metavar="POINTS",
        type=float,
        help="int8: refuse to write where ExpRate falls by more (default: 0.5)",
    )
    parser.add_argument(
        "--profile",
        metavar="P",
        help="int8: x86 (default) or arm64, where it is quickest; it reads the same on both",
    )
    parser.add_argument(
        "--explain",
        metavar="JSON",
        type=Path,
        help="int8: what each layer costs where it is rounded alone, as a table and in this file",
    )
    parser.add_argument(
        "--explain-worst",
        metavar="N",
        type=int,
        help="with --explain: measure ExpRate of the N costliest layers, a reading of DATA each",
    )
    parser.add_argument(
        "--verify",
        metavar="DATA",
        type=Path,
        help="fp32: refuse to write unless these formulas are read as the checkpoint reads them",
    )
    parser.add_argument(
        "--tta-scales",
        "--second-looks",
        dest="second_looks",
        metavar="SIZE",
        type=float,
        nargs="*",
        help="test-time augmentation: sizes (relative, e.g. 0.88 1.15) at which is read again what "
        "scores under --confidence-threshold; none: read once (default: the checkpoint's)",
    )
    parser.add_argument(
        "--confidence-threshold",
        "--sure",
        dest="sure",
        metavar="SCORE",
        type=float,
        help="score from which the first reading stands (default: what the checkpoint says, or 1)",
    )
    parser.add_argument("--name", help="name of the model (default: that of MODEL)")
    parser.add_argument("--force", action="store_true", help="replace the model that is there")
    parser.epilog = "formats and precisions:\n" + table()


def run(arguments: argparse.Namespace) -> int:
    import sys

    from .convert import convert, is_model_file

    write: Callable[..., Any] = convert
    options = {
        "second_looks": arguments.second_looks,
        "sure": arguments.sure,
        "calibration": arguments.calibration,
        "verify": arguments.verify,
        "profile": arguments.profile,
        "explain": arguments.explain,
        "explain_worst": arguments.explain_worst,
    }
    if not is_model_file(arguments.checkpoint):
        from .export import export

        write = export
        options["verification"] = options.pop("verify")
    model = write(
        str(arguments.checkpoint),
        arguments.output,
        arguments.format,
        arguments.precision,
        arguments.name,
        **options,
        evaluation=arguments.eval,
        max_drop=arguments.max_drop,
        force=arguments.force,
        show=print,
        progress=lambda step: print(f"{step} …", file=sys.stderr, flush=True),
    )
    size = sum(part.bytes for part in model.parts.values())
    print(f"{model.path}: {model.engine_format} {model.precision}, {size / 1e6:.1f} MB")
    return 0
