"""Composes formulas: labels set by rules in the ink of single symbols, as a pack.

    namer-edge data compose LABELS.tsv … --hands HANDS.npz … -o COMPOSED.npz

For calibrating, scoring and comparing models without a formula that people wrote.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from namer_edge_runtime.errors import DataError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.verbs.options import positive

from .labels import canonical
from .pack import Pack, load_pack, save_pack, source_hash
from .report import Report
from .synthesis import Synthesis, SynthesisOptions

SUMMARY = "labels and symbols → a pack of formulas set by rules"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("labels", type=Path, nargs="+", metavar="LABELS.tsv")
    parser.add_argument(
        "--hands", type=Path, nargs="+", required=True, metavar="PACK", help="of `data symbols`"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="COMPOSED.npz")
    parser.add_argument("--vocabulary", default="everyday", metavar="NAME")
    parser.add_argument("--count", type=positive, default=500, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")


def run(arguments: argparse.Namespace) -> int:
    """Raises `DataError` if no label can be set in these symbols."""
    vocabulary = Vocabulary.load(arguments.vocabulary)
    packs = [load_pack(path) for path in arguments.hands]
    synthesis = Synthesis(
        (),
        vocabulary,
        SynthesisOptions(typeset=1.0, vary=0.0),
        [formula for pack in packs for formula in pack.formulas],
        [label for path in arguments.labels for label in canonical(path, vocabulary)],
    )
    if not any(map(synthesis.typesetter.knows, synthesis.sample_label.others)):
        raise DataError("no label can be set in these symbols: nothing was written")
    rng = np.random.default_rng(arguments.seed)
    formulas = [
        replace(synthesis.typeset(rng), name=f"composed{number}")
        for number in range(arguments.count)
    ]
    sources = {name: digest for pack in packs for name, digest in pack.sources.items()}
    sources |= {path.name: source_hash(path) for path in arguments.labels}
    save_pack(arguments.output, Pack(formulas, Report(len(formulas)), sources))
    print(f"{arguments.output}: {len(formulas)} formulas")
    return 0
