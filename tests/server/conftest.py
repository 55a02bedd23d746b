"""A server for all tests of a folder's file, and a browser where Chromium is installed."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from namer_edge_runtime.model_file import ModelFile

from ..runtime.tiny_model import write_tiny_model
from .server import Server
from .writing import Line

EXAMPLES = Path(__file__).parents[2] / "examples"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """With the packaged model."""
    with Server() as started:
        yield started


@pytest.fixture(scope="session")
def camera(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a camera sees that is held over a formula: an uncompressed film of one picture."""
    gray = cv2.imread(str(EXAMPLES / "square.png"), cv2.IMREAD_GRAYSCALE)
    assert gray is not None
    page = np.full((480, 640), 235, np.uint8)
    height, width = gray.shape
    zoom = min(420 / width, 300 / height)
    small = cv2.resize(gray, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_AREA)
    height, width = small.shape
    page[90 : 90 + height, 110 : 110 + width] = np.minimum(small, 235)
    colors = np.full(640 * 480 // 2, 128, np.uint8).tobytes()
    path = tmp_path_factory.mktemp("camera") / "formula.y4m"
    frame = b"FRAME\n" + page.tobytes() + colors
    path.write_bytes(b"YUV4MPEG2 W640 H480 F10:1 Ip A1:1 C420jpeg\n" + 10 * frame)
    return path


@pytest.fixture(scope="session")
def chromium(camera: Path) -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        pytest.skip(f"no {' or '.join(CHROMIUM)} is installed")
    with playwright.sync_playwright() as running:
        film = [
            "--use-fake-ui-for-media-stream",
            "--use-fake-device-for-media-stream",
            f"--use-file-for-fake-video-capture={camera}",
        ]
        browser = running.chromium.launch(executable_path=found, args=["--no-sandbox", *film])
        yield browser
        browser.close()


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
