"""`namer-edge page`: a folder with a page that reads in the browser."""

import argparse
from pathlib import Path

SUMMARY = "make a folder with a page that reads in the browser, without a server"

EPILOG = """\
Put FOLDER on any web server, at any address, or try it here:

  python -m http.server --directory FOLDER --bind 127.0.0.1 8000

The page fetches what lies in FOLDER once and nothing from elsewhere; from then on it works without
a network. onnxruntime-web, which computes the model in the browser, is fetched from npm when
FOLDER is made, at one version and SHA-256, unless --runtime names it.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="new, or an earlier page")
    parser.add_argument("--model", metavar="M", help="name of a packaged model, or the path of one")
    parser.add_argument(
        "--runtime",
        type=Path,
        metavar="PATH",
        help="onnxruntime-web: a folder that holds it, or npm's package of it (.tgz)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Raises `ModelFileError` for a model that cannot be read, and as `make_page`."""
    from ..browser.folder import make_page
    from ..model_file import ModelFile

    size = make_page(arguments.folder, ModelFile.open(arguments.model), arguments.runtime)
    print(f"{arguments.folder}: {size / 1e6:.1f} MB, which a browser fetches once")
    return 0
