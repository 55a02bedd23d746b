"""`namer-edge symbols`: what a model can read."""

import argparse

SUMMARY = "list the symbols and relations that a model reads"

EPILOG = """\
Prints `token TAB LaTeX`, a line for each class and each environment of rows and cells: the token as
labels and `--format spaced` have it, and how it is written in LaTeX; `…` stands for what a relation
takes. What is not in the list gets the reading of something that is. --sheet draws all of them.
"""
SHEET = """\
<!doctype html>
<meta charset="utf-8">
<title>Symbols of {name}</title>
<style>
  body {{ display: grid; grid-template-columns: repeat(auto-fill, 9em); font-family: sans-serif }}
  figure {{ margin: 0.5em; display: flex; flex-direction: column; align-items: center }}
  math {{ font-size: 2em; height: 1.8em; display: inline math }}
</style>
{cells}
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--model", metavar="M", help="name of a packaged model, or the path of one")
    parser.add_argument(
        "--sheet", metavar="HTML", help="a page that shows each sign, for a browser"
    )


def run(arguments: argparse.Namespace) -> int:
    """Raises `ModelFileError` for a model that cannot be read, `UsageError` for a page that cannot
    be written."""
    from html import escape

    from ..formula.expression import Expression
    from ..formula.nodes import to_tokens
    from ..formula.vocabulary import END
    from ..model_file import ModelFile
    from ..outputs import check_writable, write_text

    if arguments.sheet:
        check_writable(arguments.sheet)
    model = ModelFile.open(arguments.model)
    vocabulary = model.vocabulary
    cells = []
    for token in (*vocabulary.tokens, *sorted(vocabulary.opens_rows - {*vocabulary.relations})):
        takes = vocabulary.takes(token)
        path = [token, *(part for _ in takes for part in ("…", END))]
        shown = Expression(tuple(to_tokens(path, vocabulary)), vocabulary)
        print(f"{token}\t{shown.latex.replace(chr(92) + 'text{…}', '…')}")
        cells.append(f"<figure>{shown.mathml()}<code>{escape(token)}</code></figure>")
    if arguments.sheet:
        write_text(arguments.sheet, SHEET.format(name=escape(model.name), cells="\n".join(cells)))
    return 0
