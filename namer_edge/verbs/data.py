"""`namer-edge data`: make data sets ready for training."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from namer_edge_runtime.outputs import check_other
from namer_edge_runtime.verbs.options import positive

if TYPE_CHECKING:
    from namer_edge_runtime.formula.vocabulary import Vocabulary

    from ..data.formula_set import FormulaSet
    from ..training.config import TrainConfig

SUMMARY = "make data sets ready: pack, check, stats, show, symbols, vocabulary, school"
SUB_VERBS = {
    "school": "namer_edge.data.school",
    "everyday": "namer_edge.data.everyday",
    "compose": "namer_edge.data.compose",
    "mathematics": "namer_edge.data.mathematics",
    "brackets": "namer_edge.data.brackets",
}
FORMS = ("crohme", "hme100k", "mathwriting")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "`namer-edge data school` draws further labels from a grammar: see its --help."
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    pack = actions.add_parser(
        "pack",
        help="ink or pictures, and labels → one .npz file that training reads",
        description="Read InkML, find the place of every token of the label in the ink, write one "
        "file that training opens in about a second, and report on the files there is something "
        "to say about; `data check --fates` names all. Exit code 1 where a file could not be read, "
        "save one that was published empty. Pictures, and ink whose symbols nobody marked, are "
        "packed without places.",
    )
    pack.add_argument(
        "ink", metavar="DATA", type=Path, help="a folder or zip of InkML or pictures, or one file"
    )
    _add_form_options(pack)
    _add_pack_options(pack)
    pack.set_defaults(act=_pack)
    check = actions.add_parser(
        "check",
        help="every file's fate, and whether labels agree",
        description="Say of every file what became of it: of a pack, after its checksums were "
        "verified, or of a data set, without packing it. With --labels, a pack's labels are "
        "compared with those of the file.",
    )
    check.add_argument(
        "data", metavar="DATA", type=Path, help="a pack (.npz), or what `pack` takes"
    )
    _add_form_options(check)
    check.add_argument("--fates", metavar="TSV", type=Path, help="write name, fate, reason of all")
    check.set_defaults(act=_check)
    stats = actions.add_parser(
        "stats",
        help="what a pack is made of",
        description="Count formulas, symbols and sizes.",
    )
    _add_view_options(stats)
    stats.add_argument("--json", action="store_true", help="all numbers, as JSON")
    stats.add_argument("--plots", metavar="PNG", type=Path, help="histograms as one picture")
    stats.set_defaults(act=_stats)
    show = actions.add_parser(
        "show",
        help="training samples as one picture, with VAT's targets drawn in",
        description="Draw samples as training would: augmented and synthesized as the "
        "configuration says. Red: the cell that a token is estimated to stand in; pale: the window "
        "in which matching may move it. Pictures have cells where teacher=WEIGHTS gives them.",
    )
    _add_view_options(show)
    show.add_argument("-o", "--output", metavar="PNG", type=Path, required=True)
    show.add_argument("--count", metavar="N", type=positive, default=12, help="samples (12)")
    show.add_argument("--name", metavar="NAME", action="append", help="a formula to be shown")
    show.add_argument("--seed", metavar="N", type=int, default=0, help="other draws (0)")
    show.set_defaults(act=_show)
    symbols = actions.add_parser(
        "symbols",
        help="tables of single symbols → one .npz file, a symbol bank",
        description="Read tables of single symbols as pen strokes (columns token, size, strokes) "
        "and write those that the vocabulary has as one pack, for `symbol_bank` of a training "
        "configuration.",
    )
    symbols.add_argument("tables", metavar="TABLE", type=Path, nargs="+", help=".tsv or .tsv.gz")
    symbols.add_argument(
        "--hold-out",
        metavar="N",
        type=positive,
        default=0,
        help="leave one of N samples out, chosen by a hash of its strokes (0: none)",
    )
    symbols.add_argument(
        "--no-oov",
        "--no-strangers",
        action="store_true",
        help="leave out signs that the vocabulary lacks",
    )
    _add_pack_options(symbols)
    _add_vocabulary_option(symbols, "crohme")
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
    vocabulary.add_argument(
        "--base",
        metavar="NAME",
        help="keep all classes of this vocabulary and add what is new in the labels",
    )
    vocabulary.set_defaults(act=_vocabulary)


def _add_form_options(parser: argparse.ArgumentParser) -> None:
    """Options of the form of a data set."""
    parser.add_argument("--labels", metavar="TSV", type=Path, help="name, tab, canonical tokens")
    parser.add_argument(
        "--form",
        choices=FORMS,
        default="crohme",
        help="crohme: InkML with MathML (default); hme100k: pictures, also your own; mathwriting: "
        "InkML with its label as an annotation",
    )
    _add_vocabulary_option(parser, "that of the form")


def _add_pack_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="OUT.npz", type=Path, required=True)


def _add_vocabulary_option(parser: argparse.ArgumentParser, default: str) -> None:
    """The option of the vocabulary of a data set."""
    parser.add_argument(
        "--vocabulary", metavar="NAME", help=f"a packaged one or a .json file (default: {default})"
    )


def _add_view_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pack", metavar="PACK", type=Path, help="an .npz of `data pack`")
    parser.add_argument(
        "settings",
        metavar="key=value",
        nargs="*",
        help="settings of a training run: symbol_height, vocabulary, scale …",
    )
    parser.add_argument(
        "--config", metavar="CONFIG", default="edge", help="whose settings they change (edge)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Raises `UsageError` for an output that would overwrite an input, and what the action
    raises."""
    names = ("ink", "data", "pack", "labels", "tables")
    given = [getattr(arguments, name, None) for name in names]
    inputs = [path for value in given for path in (value if isinstance(value, list) else [value])]
    for target in ("output", "fates", "plots"):
        check_other(getattr(arguments, target, None), inputs)
    return int(arguments.act(arguments))


def _vocabulary_of(arguments: argparse.Namespace) -> "Vocabulary":
    from namer_edge_runtime.formula.vocabulary import Vocabulary

    return Vocabulary.load(arguments.vocabulary or arguments.form)


def _loaded(data: Path, arguments: argparse.Namespace) -> "FormulaSet":
    from namer_edge_runtime.errors import UsageError

    vocabulary = _vocabulary_of(arguments)
    if arguments.form == "hme100k":
        from ..data.pictures import load_pictures

        if arguments.labels is None:
            raise UsageError("pictures bring no labels along: give --labels")
        return load_pictures(data, arguments.labels, vocabulary, progress=True)
    if arguments.form == "mathwriting":
        from ..data.mathwriting import load_mathwriting

        return load_mathwriting(data, arguments.labels, vocabulary, progress=True)
    from ..data.crohme import load_crohme

    return load_crohme(data, arguments.labels, vocabulary, progress=True)


def _pack(arguments: argparse.Namespace) -> int:
    """Exit code 1 if files could not be read (empty ones apart): the pack holds the rest."""
    from namer_edge_runtime.errors import DataError

    from ..data.pack import Pack, save_pack, source_hash

    loaded = _loaded(arguments.ink, arguments)
    sources = {p.name: source_hash(p) for p in (arguments.ink, arguments.labels) if p is not None}
    for line in loaded.report.lines():
        print(line)
    if not loaded.formulas:
        raise DataError(f"{arguments.ink}: no formula to pack; nothing was written")
    save_pack(arguments.output, Pack(loaded.formulas, loaded.report, sources))
    print(f"{arguments.output}: {len(loaded.formulas)} formulas")
    return 1 if loaded.report.failed else 0


def _check(arguments: argparse.Namespace) -> int:
    """Exit code 1 if files could not be read (empty ones apart) or labels differ."""
    from namer_edge_runtime.atomic import atomic_file

    from ..data.formula_set import FormulaSet
    from ..data.labels import bare, read_labels
    from ..data.pack import load_pack
    from ..data.report import shortened

    differing = []
    if arguments.data.suffix == ".npz":
        pack = load_pack(arguments.data)
        loaded = FormulaSet(pack.formulas, pack.report)
        for name, digest in pack.sources.items():
            print(f"made from {name}, SHA-256 {digest}")
        if arguments.labels is not None:
            labels = read_labels(arguments.labels)
            published = {bare(label.name): label.latex.split() for label in labels}
            differing = [
                f for f in loaded.formulas if list(f.tokens) != published.get(bare(f.name))
            ]
            print(f"{len(differing)} labels are not those of {arguments.labels}")
            now = [" ".join(published.get(bare(formula.name), ["(none)"])) for formula in differing]
            pairs = zip(differing, now, strict=True)
            rows = [f"  {f.name}: {' '.join(f.tokens)} | {label}" for f, label in pairs]
            print(*shortened(rows, "comparing label files"), sep="\n", end="\n" if rows else "")
    else:
        loaded = _loaded(arguments.data, arguments)
    for line in loaded.report.lines():
        print(line)
    print(f"{sum(formula.placed for formula in loaded.formulas)} have a place for every token")
    if arguments.fates is not None:
        with atomic_file(arguments.fates, "w") as file:
            for status in loaded.report.statuses(formula.name for formula in loaded.formulas):
                file.write(f"{status.name}\t{status.kind}\t{status.reason}\n")
    return 1 if loaded.report.failed or differing else 0


def _settings(arguments: argparse.Namespace) -> "TrainConfig":
    from ..training.config import load_config

    return load_config(arguments.config, arguments.settings)


def _stats(arguments: argparse.Namespace) -> int:
    from namer_edge_runtime.formula.vocabulary import Vocabulary

    from ..data.pack import load_pack
    from ..data.statistics import Statistics

    config = _settings(arguments)
    formulas = load_pack(arguments.pack).formulas
    statistics = Statistics.of(formulas, Vocabulary.load(config.vocabulary), config.preprocessing)
    if arguments.json:
        print(json.dumps(statistics.to_json(), ensure_ascii=False))
    else:
        print(*statistics.lines(), sep="\n")
    if arguments.plots is not None:
        from ..data.plots import plots
        from ..figures import save

        save(arguments.plots, plots(statistics))
    return 0


def _show(arguments: argparse.Namespace) -> int:
    import numpy as np

    from namer_edge_runtime.errors import DataError, UsageError
    from namer_edge_runtime.formula.vocabulary import Vocabulary
    from namer_edge_runtime.picture.save import save_picture

    from ..data.batches import TrainingSet
    from ..data.contact_sheet import contact_sheet
    from ..data.labels import canonical
    from ..data.pack import load_pack
    from ..training.positions import with_positions
    from ..training.training_data import trainable

    if arguments.seed < 0:
        raise UsageError(f"--seed is {arguments.seed}: it must be 0 or more")
    config = _settings(arguments)
    vocabulary = Vocabulary.load(config.vocabulary)
    packed = load_pack(arguments.pack).formulas
    taught = with_positions(packed, arguments.pack, config.teacher, unsegmented=True)
    formulas = [formula for formula in taught if trainable(formula, vocabulary)]
    names = [formula.name for formula in formulas]
    wanted = arguments.name or []
    unknown = sorted(set(wanted) - set(names))
    if unknown or not formulas:
        what = ", ".join(unknown) or "a formula that can be trained on"
        raise DataError(f"{arguments.pack}: not in it: {what}; `namer-edge data check` tells why")
    numbers = [names.index(name) for name in wanted]
    if not numbers:
        rng = np.random.default_rng(arguments.seed)
        numbers = rng.permutation(len(formulas))[: arguments.count].tolist()
    segmented = all(formula.placed or formula.picture for formula in packed)
    symbol_bank = [f for path in config.hands for f in load_pack(path).formulas if f.placed]
    ink = TrainingSet(
        formulas,
        vocabulary,
        config.preprocessing,
        config.augmentation,
        config.synthesis if segmented else None,  # needs segmented ink
        symbol_bank,
        [tokens for path in config.labels for tokens in canonical(path, vocabulary)],
    )
    sheet = contact_sheet(ink, numbers, arguments.seed, config.window)
    save_picture(arguments.output, sheet)
    print(f"{arguments.output}: {len(numbers)} samples")
    return 0


def _symbols(arguments: argparse.Namespace) -> int:
    from namer_edge_runtime.errors import DataError
    from namer_edge_runtime.formula.vocabulary import Vocabulary

    from ..data.pack import Pack, save_pack, source_hash
    from ..data.report import Report
    from ..data.symbols import load_symbols

    vocabulary = Vocabulary.load(arguments.vocabulary or "crohme")
    loaded = load_symbols(arguments.tables, vocabulary, arguments.hold_out, not arguments.no_oov)
    print(f"{loaded.foreign} samples of other signs and {loaded.coarse} coarse ones left out")
    if arguments.hold_out:
        print(f"{loaded.held} samples held out")
    if not loaded.formulas:
        raise DataError("no sample of a symbol of the vocabulary: nothing was written")
    sources = {table.name: source_hash(table) for table in arguments.tables}
    save_pack(arguments.output, Pack(loaded.formulas, Report(len(loaded.formulas)), sources))
    print(f"{arguments.output}: {len(loaded.formulas)} symbols")
    return 0


def _vocabulary(arguments: argparse.Namespace) -> int:
    """Labels that do not fit are reported and left out of the vocabulary."""
    from namer_edge_runtime.atomic import atomic_file
    from namer_edge_runtime.errors import DataError, LatexError
    from namer_edge_runtime.formula.nodes import to_nodes
    from namer_edge_runtime.formula.vocabulary import Vocabulary

    from ..data.labels import are_tokens, read_labels

    labels = read_labels(arguments.labels)
    raw = [label.name for label in labels if not are_tokens(label.latex.split())]
    if raw:
        raise DataError(
            f"{len(raw)} labels of {arguments.labels} are not tokens with spaces between them "
            f"({', '.join(raw[:3])} …): each would become a class; write `a + b`, not `a+b`"
        )
    name = arguments.name or arguments.labels.stem
    vocabulary = Vocabulary.scan((label.latex for label in labels), name)
    if arguments.base:
        vocabulary = Vocabulary.load(arguments.base).extended(vocabulary)
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
