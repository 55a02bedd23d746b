"""onnxruntime-web, the runtime that computes a model in the browser: from npm, or from a folder."""

import hashlib
import io
import os
import tarfile
import urllib.error
import urllib.request
from pathlib import Path

from ..errors import EngineError, UsageError

NAME = "onnxruntime-web"
VERSION = "1.30.0"
SHA256 = "d2228df7e4616bc3348bf504ee888f3bec43789a273f0a63f3e68d203ce3bf71"
"""SHA-256 of the package on npm."""
LARGEST = 1 << 27
"""Largest package that is accepted, in bytes."""
MODULE, WASM, LICENSE = "ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm", "LICENSE"
MIT = Path(__file__).with_name("onnxruntime-web.LICENSE")
"""The licence that the package names and does not enclose."""
REGISTRY = "https://registry.npmjs.org/"
TIMEOUT = 60


def runtime_files(source: Path | None = None) -> dict[str, bytes]:
    """Content of the module, the WebAssembly and the licence, by name.

    `source` is the unpacked package, its `dist`, a folder with it in `node_modules`, or the package
    itself (.tgz); None fetches it, of `VERSION` and `SHA256`. Raises `EngineError` where it cannot
    be fetched, `UsageError` where `source` has not what is needed.
    """
    if source is not None and source.is_dir():
        return _in_folder(source)
    if source is None:
        return _unpacked(_fetched(), f"{NAME} {VERSION}")
    try:
        return _unpacked(source.read_bytes(), str(source))
    except OSError as error:
        raise UsageError(
            f"{source}: no folder with {NAME}, and no package of it ({error})"
        ) from None


def _in_folder(source: Path) -> dict[str, bytes]:
    inside = (".", "dist", "package/dist", f"node_modules/{NAME}/dist")
    places = [source / place for place in inside]
    folder = next((place for place in places if (place / MODULE).is_file()), None)
    if folder is None or not (folder / WASM).is_file():
        raise UsageError(
            f"{source} has no {MODULE} and {WASM}: give a folder with them, as `npm install "
            f"{NAME}@{VERSION}` makes it"
        )
    found = {name: (folder / name).read_bytes() for name in (MODULE, WASM)}
    own = (place / LICENSE for place in (folder, folder.parent))
    return found | {LICENSE: next((p for p in own if p.is_file()), MIT).read_bytes()}


def _fetched() -> bytes:
    registry = os.environ.get("npm_config_registry") or REGISTRY  # noqa: SIM112 (npm's own)
    address = f"{registry.rstrip('/')}/{NAME}/-/{NAME}-{VERSION}.tgz"
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as response:
            data: bytes = response.read(LARGEST)
    except (OSError, ValueError, urllib.error.URLError) as error:
        raise EngineError(
            f"{address} cannot be fetched ({error}): fetch it where there is a network, and "
            "give it with --runtime"
        ) from error
    return data


def _unpacked(package: bytes, name: str) -> dict[str, bytes]:
    if hashlib.sha256(package).hexdigest() != SHA256:
        raise EngineError(
            f"{name} is not {NAME} {VERSION} as it was when this was made (wrong SHA-256): do not "
            "trust it; of another version, unpack it and give the folder with --runtime"
        )
    found = {LICENSE: MIT.read_bytes()}
    with tarfile.open(fileobj=io.BytesIO(package), mode="r:gz") as archive:
        for file in (MODULE, WASM):
            member = archive.extractfile(f"package/dist/{file}")
            assert member is not None  # of this SHA-256, it is there
            found[file] = member.read()
    return found
