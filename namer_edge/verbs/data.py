"""`namer-edge data`: make data sets ready for training."""

import argparse
from pathlib import Path

SUMMARY = "make data sets ready: pack ink with its labels, scan a vocabulary"


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    pack = actions.add_parser(
        "pack",
        help="ink and labels → one .npz file that training reads",
        description="Read InkML, find the place of every token of the label in the ink, write one "
        "file that training opens in about a second, and report on every file there is something "
        "to say about.",
    )
    pack.add_argument("ink", metavar="INK", type=Path, help="a folder or zip of InkML, or one file")
    pack.add_argument("--labels", metavar="TSV", type=Path, help="name, tab, canonical tokens")
    pack.add_argument("-o", "--output", metavar="OUT.npz", type=Path, required=True)
    pack.add_argument(
        "--vocabulary", metavar="NAME", default="crohme", help="a packaged one (default: crohme)"
    )
    pack.set_defaults(act=_pack)


def run(arguments: argparse.Namespace) -> int:
    return int(arguments.act(arguments))


def _pack(arguments: argparse.Namespace) -> int:
    """Exit code 1 where files could not be read: they are named, and the pack holds the rest."""
    from namer_edge_runtime.formula.vocabulary import Vocabulary

    from ..data.crohme import load_crohme
    from ..data.pack import Pack, save_pack, source_hash

    vocabulary = Vocabulary.load(arguments.vocabulary)
    loaded = load_crohme(arguments.ink, arguments.labels, vocabulary, progress=True)
    sources = {p.name: source_hash(p) for p in (arguments.ink, arguments.labels) if p is not None}
    save_pack(arguments.output, Pack(loaded.formulas, loaded.report, sources))
    for line in loaded.report.lines():
        print(line)
    print(f"{arguments.output}: {len(loaded.formulas)} formulas")
    return 1 if loaded.report.unreadable else 0
