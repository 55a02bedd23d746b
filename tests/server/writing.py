"""Hands that write on the page in a browser, and what they find there."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.ink.inkml import Ink, read_inkml
from namer_edge_runtime.ink.strokes import bounds

EXAMPLES = Path(__file__).parents[2] / "examples"
SQUARE = (EXAMPLES / "square.png").read_bytes()
CLICK = """() => {
  window.clicked = false;
  addEventListener("click", () => (window.clicked = true), { capture: true, once: true });
}"""
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


class Pen:
    """Writes as a pen does on a screen that tells it from fingers."""

    def __init__(self, page: Any) -> None:
        self.screen = page.context.new_cdp_session(page)

    def write(self, points: list[list[float]]) -> None:
        for number, point in enumerate(points):
            self._pen("mouseMoved" if number else "mousePressed", point)
        self._pen("mouseReleased", points[-1])

    def _pen(self, kind: str, point: list[float]) -> None:
        event = {"type": kind, "x": point[0], "y": point[1], "button": "left", "clickCount": 1}
        self.screen.send("Input.dispatchMouseEvent", {**event, "pointerType": "pen", "force": 0.5})


Hand = Mouse | Finger | Pen


def draw(page: Any, ink: Ink, hand: type[Hand] = Mouse) -> None:
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


def tap(page: Any, hand: type[Hand], selector: str) -> None:
    """In the middle of the first element; under load Chromium may make no click of a touch."""
    page.evaluate(CLICK)
    for _ in range(3):
        box = page.locator(selector).first.bounding_box()
        hand(page).write([[box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]])
        for _ in range(50):
            if page.evaluate("() => window.clicked"):
                return
            page.wait_for_timeout(20)
    pytest.fail(f"no tap of {selector} became a click")


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


class Line:
    """The page's WebSocket, whose answers wait until they are let go."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.answers: list[str] = []
        self.open = False
        page.route_web_socket("**/pen", self._routed)
        page.reload()
        page.wait_for_selector("#state[data-state=ready]")

    def _routed(self, line: Any) -> None:
        self._line = line
        line.connect_to_server().on_message(self._answered)

    def _answered(self, answer: str) -> None:
        if self.open:
            self._line.send(answer)
        else:
            self.answers.append(answer)

    def wait(self, count: int) -> None:
        """Until so many answers wait."""
        for _ in range(1000):
            if len(self.answers) >= count:
                return
            self.page.wait_for_timeout(20)
        pytest.fail(f"{len(self.answers)} of {count} answers came")

    def let_go(self, *order: int) -> None:
        """Lets answers go, in the order that they came or another, and waits for their effect."""
        for place in order or range(len(self.answers)):
            self._line.send(self.answers[place])
        self.page.evaluate("new Promise(done => setTimeout(done, 100))")

    def say(self, answer: dict[str, Any]) -> None:
        self._line.send(json.dumps(answer))

    def close(self, code: int) -> None:
        self._line.close(code=code)


class Upload:
    """Hands a picture over whose reading waits until it is let go."""

    def __init__(self, page: Any, data: bytes = SQUARE) -> None:
        self.page = page
        self._held: list[Any] = []
        page.route("**/recognize*", self._hold, times=1)
        hand_over(page, data, "image/png")
        while not self._held:
            page.wait_for_timeout(20)

    def _hold(self, route: Any) -> None:
        self._held.append(route)

    def let_go(self) -> None:
        """Waits for the effect as well."""
        with self.page.expect_response("**/recognize*"):
            self._held.pop().continue_()
        self.page.evaluate("new Promise(done => setTimeout(done, 300))")
