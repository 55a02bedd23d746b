"""`namer-edge symbols`: what a model can read."""

import argparse

SUMMARY = "list the symbols and relations that a model reads"

EPILOG = """\
Prints `token TAB LaTeX`, a line for each class and each environment of rows and cells: the token as
labels and `--format spaced` have it, and how it is written in LaTeX; `…` stands for what a relation
takes. What is not in the list gets the reading of something that is.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--model", metavar="M", help="name of a packaged model, or the path of one")


def run(arguments: argparse.Namespace) -> int:
    """Raises `ModelFileError` for a model that cannot be read."""
    from ..formula.latex import compact
    from ..formula.nodes import to_tokens
    from ..formula.vocabulary import END
    from ..model_file import ModelFile

    vocabulary = ModelFile.open(arguments.model).vocabulary
    for token in (*vocabulary.tokens, *sorted(vocabulary.opens_rows - {*vocabulary.relations})):
        takes = vocabulary.takes(token)
        path = [token, *(part for _ in takes for part in ("…", END))]
        written = compact(to_tokens(path, vocabulary), vocabulary)
        print(f"{token}\t{written.replace(chr(92) + 'text{…}', '…')}")
    return 0
