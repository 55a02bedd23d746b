"""Fixtures shared by all tests."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def shared_data_folder() -> Path | None:
    """The folder of real data sets, which the project may read but not ship."""
    given = os.environ.get("NAMER_EDGE_DATA")
    folder = Path(given) if given else Path(__file__).parents[2] / "shared" / "data"
    return folder if (folder / "crohme").is_dir() else None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with `crohme/`, `hme100k/` …; skips the test where it is not at hand."""
    folder = shared_data_folder()
    if folder is None:
        pytest.skip("real data not found: set NAMER_EDGE_DATA to a folder that holds crohme/")
    return folder


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
    """Debian's Chromium, driven by the one Playwright that a process can have."""
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
