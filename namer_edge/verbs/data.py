"""`namer-edge data`: make data sets ready for training."""

import argparse
import json
import sys
from pathlib import Path

SUMMARY = "make data sets ready: pack ink or symbols, scan a vocabulary"


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
    _add_pack_options(pack)
    pack.set_defaults(act=_pack)
    symbols = actions.add_parser(
        "symbols",
        help="tables of single symbols → one .npz file of further hands",
        description="Read tables of single symbols as pen strokes (columns token, size, strokes) "
        "and write those that the vocabulary has as one pack, for the `hands` of a training "
        "configuration.",
    )
    symbols.add_argument("tables", metavar="TABLE", type=Path, nargs="+", help=".tsv or .tsv.gz")
    _add_pack_options(symbols)
    symbols.set_defaults(act=_symbols)
    vocabulary = actions.add_parser(
        "vocabulary",
        help="labels → their classes and relation table",
        description="Scan a label file for its symbols, its relations and how many arguments each "
        "takes, write them as JSON, and name every label that does not fit them.",
    )
    vocabulary.add_argument(
        "labels", metavar="LABELS", type=Path, help="lines of name, tab, canonical tokens"
    )
    vocabulary.add_argument(
        "-o", "--output", metavar="OUT.json", type=Path, help="default: standard output"
    )
    vocabulary.add_argument("--name", metavar="N", help="default: that of the label file")
    vocabulary.set_defaults(act=_vocabulary)


def _add_pack_options(parser: argparse.ArgumentParser) -> None:
    """Where a pack goes, and whose classes it holds."""
    parser.add_argument("-o", "--output", metavar="OUT.npz", type=Path, required=True)
    parser.add_argument(
        "--vocabulary",
        metavar="NAME",
        default="crohme",
        help="a packaged one or a .json file (default: crohme)",
    )


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


def _symbols(arguments: argparse.Namespace) -> int:
    from namer_edge_runtime.errors import DataError
    from namer_edge_runtime.formula.vocabulary import Vocabulary

    from ..data.pack import Pack, save_pack, source_hash
    from ..data.report import Report
    from ..data.symbols import load_symbols

    loaded = load_symbols(arguments.tables, Vocabulary.load(arguments.vocabulary))
    print(f"{loaded.foreign} samples of other signs and {loaded.coarse} coarse ones left out")
    if not loaded.formulas:
        raise DataError("no sample of a symbol of the vocabulary: nothing was written")
    sources = {table.name: source_hash(table) for table in arguments.tables}
    save_pack(arguments.output, Pack(loaded.formulas, Report(len(loaded.formulas)), sources))
    print(f"{arguments.output}: {len(loaded.formulas)} symbols")
    return 0


def _vocabulary(arguments: argparse.Namespace) -> int:
    """Labels that do not fit are no failure: the vocabulary holds what the others say."""
    from namer_edge_runtime.atomic import atomic_file
    from namer_edge_runtime.errors import LatexError
    from namer_edge_runtime.formula.nodes import to_nodes
    from namer_edge_runtime.formula.vocabulary import Vocabulary

    from ..data.labels import read_labels

    labels = read_labels(arguments.labels)
    name = arguments.name or arguments.labels.stem
    vocabulary = Vocabulary.scan((label.latex for label in labels), name)
    for label in labels:
        try:
            to_nodes(label.latex.split(), vocabulary)
        except LatexError as error:
            print(f"{label.name}: {error}", file=sys.stderr)
    table = (f"{relation} {len(takes)}" for relation, takes in vocabulary.relations.items())
    print(
        f"{name}: {vocabulary.size} classes from {len(labels)} labels; endings: {', '.join(table)}",
        file=sys.stderr,
    )
    content = json.dumps(vocabulary.to_json(), indent=1, ensure_ascii=False)
    if arguments.output is None:
        print(content)
    else:
        with atomic_file(arguments.output, "w") as file:
            file.write(content + "\n")
    return 0
