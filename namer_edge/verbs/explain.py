"""`namer-edge explain`: the stages of a recognition as one picture."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from namer_edge_runtime.outputs import check_outputs
from namer_edge_runtime.verbs.options import add_recognizer_options, open_recognizer

if TYPE_CHECKING:
    from ..model.namer import Namer

SUMMARY = "show how a formula was read: tokens, corrections, graph and path, as one picture"

EPILOG = """\
The picture shows, from above: what was read; the tokens of VAT and, below them, what PGD made of
them, corrections in red; VAT's map; the corrections in place; the graph with edge scores and the
chosen path. With a checkpoint (--model X.safetensors), which torch runs, it also shows the
cross-attention of self-correction for a corrected token. All of it is of the first pass.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("picture", metavar="PICTURE", help="a picture or an InkML file")
    parser.add_argument(
        "-o", "--output", metavar="OUT.png", type=Path, help="default: PICTURE-explained.png here"
    )
    add_recognizer_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Raises the typed errors of input, model and engine."""
    from namer_edge_runtime.model_file import CHECKPOINT

    from ..explanation.sheet import save
    from ..explanation.stages import trace_recognition

    target = arguments.output or Path(f"{Path(arguments.picture).stem}-explained.png")
    check_outputs([str(target)], [arguments.picture])
    namer: Namer | None = None
    recognizer: Any
    if str(arguments.model or "").endswith(CHECKPOINT):
        from ..checkpoints.open import open_checkpoint

        opened = open_checkpoint(Path(arguments.model), arguments.device, arguments.as_picture)
        namer, recognizer = opened.namer, opened.recognizer
    else:
        recognizer = open_recognizer(arguments)
    insight = trace_recognition(recognizer, arguments.picture, namer)
    save(insight, target)
    for node in insight.visual:
        if insight.changed(node):
            after = insight.after(node) or "deleted"
            print(f"{insight.before(node)} -> {after} ({insight.confidence[node]:.2f})")
    print(f"{insight.canonical}\n{target}")
    return 0
