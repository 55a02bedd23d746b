"""The folder of a page that reads in the browser, without a server that reads."""

import gzip
import hashlib
import json
import re
from importlib import resources
from pathlib import Path

from ..atomic import atomic_folder, writing
from ..errors import UsageError
from ..model_file import META, ModelFile
from .onnxruntime_web import LICENSE, MODULE, WASM, runtime_files
from .tables import tables_js

LISTING = "page.json"
"""Names the files of a page; a folder that holds others is not replaced."""
SERVER_ONLY = ("docs.html", "docs.js", "manifest.json", "socket.js")
POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' blob: data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'"
)
"""Content security policy of the page: nothing is loaded from elsewhere."""
_EDITS = (
    (r'="/page/', '="page/'),
    (r'\n *<a href="/docs">.*?</a>', ""),
    (r"this machine’s server", "this device"),
    (r">connecting<", ">loading, once<"),
    (r'<option value="(?:typst|sympy|omml|svg)">.*?</option>', ""),  # the package writes those
    (
        r'<meta charset="utf-8">',
        f'\\g<0>\n<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<link rel="manifest" href="manifest.json">',
    ),
)
"""Differences from the server's page: pattern → replacement."""


def make_page(folder: Path, model: ModelFile, runtime: Path | None = None) -> int:
    """Makes `folder`, whole or not at all, in the place of an earlier page or of nothing.

    `runtime` is where onnxruntime-web lies (`runtime_files`; None: it is fetched). Returns the
    number of bytes that a browser fetches. Raises `UsageError` for a model that it cannot read and
    for a folder that holds anything else, and as `runtime_files`.
    """
    _check_model(model)
    _check_replaceable(folder)
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(folder) as part:
        files = page_files(model, runtime_files(runtime))
        for name, data in files.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            (part / name).write_bytes(data)
    return sum(len(files[name]) for name in _cached(files))


def page_files(model: ModelFile, runtime: dict[str, bytes]) -> dict[str, bytes]:
    """Content of each file of the page, by its path in the folder."""
    own = resources.files(__package__)
    server = resources.files(__package__.rpartition(".")[0]) / "server" / "page"
    files = {
        "namer-edge/tables.js": tables_js(model).encode(),
        f"onnxruntime-web/{MODULE.replace('.mjs', '.js')}": runtime[MODULE],
        f"onnxruntime-web/{WASM}.gz": gzip.compress(runtime[WASM], 9, mtime=0),
        f"onnxruntime-web/{LICENSE}": runtime[LICENSE],
        f"model/{META}": json.dumps(dict(model.meta), ensure_ascii=False).encode(),
        "manifest.json": (own / "page" / "manifest.json").read_bytes(),
    }
    for role, part in model.parts.items():
        files[f"model/{part.file}.gz"] = gzip.compress(model.read(role), 9, mtime=0)
    licence = model.path / LICENSE
    files[f"model/{LICENSE}"] = (
        licence.read_bytes() if licence.is_file() else str(model.meta.get("licence", "")).encode()
    )
    for place, item in [
        *(("namer-edge", item) for item in (own / "module").iterdir()),
        *(("page", item) for item in server.iterdir() if item.name not in SERVER_ONLY),
        *(("page", own / "page" / name) for name in ("socket.js", "reader.js")),
    ]:
        files[f"{place}/{item.name}"] = item.read_bytes()
    files["index.html"] = _index(files.pop("page/index.html").decode()).encode()
    files["service_worker.js"] = _service_worker(files)
    files[LISTING] = json.dumps({"files": sorted(files)}, indent=1).encode()
    return files


def _index(page: str) -> str:
    """The server's page with its transport's words and addresses changed."""
    page = re.sub(r'\n *<link rel="manifest".*?>', "", page)
    for pattern, replacement in _EDITS:
        page, count = re.subn(pattern, replacement, page)
        if not count:
            raise AssertionError(f"the server's page has no {pattern!r} any more")
    return page


def _service_worker(files: dict[str, bytes]) -> bytes:
    """Its script with the files that it keeps, and a version that any change of them changes."""
    script = (resources.files(__package__) / "page" / "service_worker.js").read_bytes()
    digest = hashlib.sha256(script)
    for name in sorted(files):
        digest.update(hashlib.sha256(files[name]).digest())
    kept = ["./" if name == "index.html" else name for name in _cached(files)]
    head = f'const VERSION = "{digest.hexdigest()[:16]}";\nconst FILES = {json.dumps(kept)};\n'
    return head.encode() + script


def _cached(files: dict[str, bytes]) -> list[str]:
    """The files that a browser fetches."""
    return sorted(n for n in files if not n.endswith((LICENSE, LISTING, "service_worker.js")))


def _check_model(model: ModelFile) -> None:
    if model.engine_format != "onnx":
        raise UsageError(f"{model.path} is {model.engine_format}: a page reads onnx models")


def _check_replaceable(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file: give a folder for the page")
    try:
        own = {*json.loads((folder / LISTING).read_bytes())["files"], LISTING}
    except (OSError, ValueError, KeyError, TypeError):
        own = set()
    inside = (p for p in folder.rglob("*") if not p.is_dir())
    others = sorted(n for p in inside if (n := p.relative_to(folder).as_posix()) not in own)
    if others:
        raise UsageError(
            f"{folder} holds other files ({', '.join(others[:3])}): a page is a folder of its own, "
            f"give one that is not there yet, as {folder / 'page'}"
        )
