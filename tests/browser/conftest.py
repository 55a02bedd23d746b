"""Pages made without a runtime, for what needs none, and with it, served as files."""

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from namer_edge_runtime.browser.folder import make_page
from namer_edge_runtime.browser.onnxruntime_web import MODULE, WASM, runtime_files
from namer_edge_runtime.errors import EngineError
from namer_edge_runtime.model_file import ModelFile

RUNTIME = "NAMER_EDGE_ONNXRUNTIME_WEB"
"""Environment variable: a folder or package of onnxruntime-web, in the place of npm's."""


class Site:
    """A folder on a plain web server, which counts what it sends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        site = self
        self.sent: list[tuple[str, int]] = []

        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, *_: Any) -> None: ...

            def copyfile(self, source: Any, outputfile: Any) -> None:
                data = source.read()
                site.sent.append((self.path, len(data)))
                outputfile.write(data)

        handler = partial(Handler, directory=str(folder))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="session")
def hollow_runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like onnxruntime-web."""
    folder = tmp_path_factory.mktemp("runtime")
    for name in (MODULE, WASM):
        (folder / name).write_bytes(name.encode())
    return folder


@pytest.fixture(scope="session")
def module(tmp_path_factory: pytest.TempPathFactory, hollow_runtime: Path) -> Path:
    """A page of the packaged model whose module is whole, and whose runtime is not."""
    folder = tmp_path_factory.mktemp("module") / "page"
    make_page(folder, ModelFile.open(), hollow_runtime)
    return folder


@pytest.fixture(scope="session")
def onnxruntime_web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get(RUNTIME)
    if given:
        return Path(given)
    folder = tmp_path_factory.mktemp("onnxruntime-web")
    try:
        files = runtime_files()
    except EngineError as error:
        pytest.skip(f"{error}; or name it in {RUNTIME}")
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Of an empty folder, `folder`."""
    served = Site(tmp_path)
    yield served
    served.stop()
