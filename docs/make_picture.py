"""Writes `page.png`: the demo's page in a real browser, reading a formula of `examples/`.

    python docs/make_picture.py [examples/root.inkml]

Needs `namer-edge[dev]` and Chromium.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from namer_edge_runtime.ink.inkml import read_inkml
from namer_edge_runtime.ink.strokes import bounds

HERE = Path(__file__).parent
SIZE = {"width": 1180, "height": 640}
SYMBOL = 80
"""Pixels that the formula's height is written in for each of its levels."""


def write(page: Page, ink: Path) -> None:
    """Writes every stroke with the mouse, in the middle of the canvas."""
    strokes = read_inkml(ink).strokes
    box = page.locator("#canvas").bounding_box()
    assert box is not None
    x0, y0, x1, y1 = bounds(strokes)
    scale = min(0.8 * box["width"] / (x1 - x0), 3 * SYMBOL / (y1 - y0))
    left = box["x"] + (box["width"] - scale * (x1 - x0)) / 2
    top = box["y"] + (box["height"] - scale * (y1 - y0)) / 2
    for stroke in strokes:
        points = ((stroke - (x0, y0)) * scale + (left, top)).tolist()
        page.mouse.move(*points[0])
        page.mouse.down()
        for point in points[1:]:
            page.mouse.move(*point)
        page.mouse.up()


def main(ink: Path) -> None:
    command = [sys.executable, "-m", "namer_edge_runtime.command", "demo", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            address = re.search(r"http://\S+", server.stderr.readline())
            assert address is not None, "the server did not start"
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                )
                page = browser.new_page(viewport=SIZE)
                page.goto(address[0])
                page.wait_for_selector("#state[data-state=ready]")
                write(page, ink)
                page.wait_for_selector("#formula [data-token]")
                page.wait_for_selector("#state[data-state=ready]")
                page.screenshot(path=HERE / "page.png")
                browser.close()
        finally:
            server.terminate()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "examples" / "root.inkml")
