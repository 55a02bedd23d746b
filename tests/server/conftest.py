"""A server for all tests of a folder's file, and a browser where Chromium is installed."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from namer_edge_runtime.model_file import ModelFile

from ..runtime.tiny_model import write_tiny_model
from .server import Server
from .writing import Line


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """With the packaged model."""
    with Server() as started:
        yield started


@pytest.fixture
def page(chromium: Any, server: Server) -> Iterator[Any]:
    """The demo's page, connected; whatever it asks elsewhere for, or complains of, is a fault."""
    context = chromium.new_context(viewport={"width": 1180, "height": 760})
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.url)
    opened = context.new_page()
    opened.set_default_timeout(20_000)
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    own = (server.url, "blob:")
    opened.on("request", lambda r: None if r.url.startswith(own) else faults.append(r.url))
    opened.goto(server.url)
    opened.wait_for_selector("#state[data-state=ready]")
    yield opened
    context.close()
    assert not faults


@pytest.fixture
def line(page: Any) -> Line:
    """The page, whose answers of the server wait until a test lets them go."""
    return Line(page)


@pytest.fixture
def screenshot(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[Any, str], None]:
    """Keeps a picture of a page, in NAMER_EDGE_SCREENSHOTS where that is set."""
    folder = Path(os.environ.get("NAMER_EDGE_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return lambda page, name: page.screenshot(path=folder / f"{name}.png")
