"""Hands that write on the page in a browser, and what they find there."""

import base64
from pathlib import Path
from typing import Any

import numpy as np

from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.ink.inkml import Ink, read_inkml
from namer_edge_runtime.ink.strokes import bounds

EXAMPLES = Path(__file__).parents[2] / "examples"
POINTS = 16
"""Of a stroke, that the mouse stops at: each is a message to the browser and back."""
PASTE = """([data, type, event]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], "picture", { type }));
  const init = { bubbles: true, cancelable: true };
  document.body.dispatchEvent(event === "paste"
    ? new ClipboardEvent("paste", { ...init, clipboardData: transfer })
    : new DragEvent("drop", { ...init, dataTransfer: transfer }));
}"""


class Mouse:
    """Writes as a mouse does."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def write(self, points: list[list[float]]) -> None:
        self.page.mouse.move(*points[0])
        self.page.mouse.down()
        for point in points[1:]:
            self.page.mouse.move(*point)
        self.page.mouse.up()


class Finger:
    """Writes as a finger does on a screen that feels it."""

    def __init__(self, page: Any) -> None:
        self.screen = page.context.new_cdp_session(page)

    def write(self, points: list[list[float]]) -> None:
        for number, (x, y) in enumerate(points):
            self._touch("touchMove" if number else "touchStart", [{"x": x, "y": y}])
        self._touch("touchEnd", [])

    def _touch(self, kind: str, places: list[dict[str, float]]) -> None:
        self.screen.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})


def draw(page: Any, ink: Ink, hand: type[Mouse] | type[Finger] = Mouse) -> None:
    """Writes every stroke, scaled into the middle of the canvas."""
    writer = hand(page)
    box = page.locator("#canvas").bounding_box()
    x0, y0, x1, y1 = bounds(ink.strokes)
    scale = min(0.7 * box["width"] / max(x1 - x0, 1e-6), 0.6 * box["height"] / max(y1 - y0, 1e-6))
    scale = min(scale, 110 / max(1e-6, np.median([np.ptp(s[:, 1]) for s in ink.strokes])))
    left = box["x"] + (box["width"] - scale * (x1 - x0)) / 2
    top = box["y"] + (box["height"] - scale * (y1 - y0)) / 2
    for stroke in ink.strokes:
        points = (stroke - (x0, y0)) * scale + (left, top)
        points = points[np.unique(np.linspace(0, len(points) - 1, POINTS).round().astype(int))]
        writer.write(points.tolist())


def latex(page: Any, expected: str | None = None) -> str:
    """What stands in the field once the last stroke has been read."""
    if expected is not None:
        wanted = "x => document.getElementById('latex').textContent === x"
        page.wait_for_function(wanted, arg=expected)
    page.wait_for_selector("#state[data-state=ready]")
    return str(page.text_content("#latex"))


def hand_over(page: Any, data: bytes, kind: str, event: str = "paste") -> None:
    page.evaluate(PASTE, [base64.b64encode(data).decode(), kind, event])


def canonical(text: str) -> list[str]:
    return normalize(text) if text else []


def example(name: str) -> tuple[Ink, list[str]]:
    ink = read_inkml(EXAMPLES / f"{name}.inkml")
    assert ink.truth is not None
    return ink, normalize(ink.truth)
