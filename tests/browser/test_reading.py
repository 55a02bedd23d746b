"""A page without a server that reads, in a real browser."""

import gzip
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from namer_edge_runtime.browser.folder import make_page
from namer_edge_runtime.ink.inkml import read_inkml
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

from ..server.writing import EXAMPLES, SQUARE, canonical, draw, example, hand_over, latex
from .conftest import Site

ON_THE_WIRE = 11_000_000
PLACE = "notes/formula"
"""Where the page lies on its server."""
READ = """async ([folder, inks]) => {
  const { Recognizer, PenSession } = await import(new URL("namer-edge/recognizer.js", folder));
  const recognizer = await Recognizer.from_pretrained();
  const results = [];
  for (const ink of inks) results.push(await recognizer.recognize(ink, { alternatives: 2 }));
  const session = new PenSession(recognizer);
  for (const stroke of inks[0]) session.add(stroke);
  const { latex } = await session.result();
  const blank = (await recognizer.recognize([])).latex;
  return { session: latex, blank, results: results.map((result) => ({
    ...result, latex: result.latex, mathml: result.mathml, strokes: result.token_strokes,
    alternatives: result.alternatives.map((other) => other.latex),
  })) };
}"""


FROM_CANVAS = """async ([folder, inks]) => {
  const { Recognizer } = await import(new URL("namer-edge/recognizer.js", folder));
  const recognizer = await Recognizer.from_pretrained();
  const canvas = new OffscreenCanvas(900, 300);
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const found = [];
  for (const strokes of inks) {
    const [xs, ys] = [0, 1].map((axis) => strokes.flat().map((point) => point[axis]));
    const [x, y] = [Math.min(...xs), Math.min(...ys)];
    const scale = Math.min(800 / (Math.max(...xs) - x), 120 / (Math.max(...ys) - y));
    pen.fillStyle = "#203040";
    pen.fillRect(0, 0, 900, 300);
    pen.setTransform(scale, 0, 0, scale, 50 - scale * x, 90 - scale * y);
    const look = { strokeStyle: "#ffd", lineWidth: 4 / scale, lineCap: "round", lineJoin: "round" };
    Object.assign(pen, look);
    for (const stroke of strokes) {
      pen.beginPath();
      for (const point of stroke) pen.lineTo(...point);
      pen.stroke();
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    found.push((await recognizer.recognize(pen.getImageData(0, 0, 900, 300))).latex);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, onnxruntime_web: Path
) -> Iterator[tuple[Site, str]]:
    """A server of files with the page in a sub-path, and the page's address."""
    root = tmp_path_factory.mktemp("site")
    make_page(root / PLACE, ModelFile.open(), onnxruntime_web)
    (root / "embedding.html").write_text(f'<iframe src="{PLACE}/" width="900" height="700">')
    site = Site(root)
    yield site, f"{site.url}{PLACE}/"
    site.stop()


@pytest.fixture
def context(chromium: Any, served: tuple[Site, str]) -> Iterator[Any]:
    """A browser without a past; whatever a page asks elsewhere for, or complains of, is a fault."""
    faults: list[str] = []
    opened = chromium.new_context(viewport={"width": 1180, "height": 760})
    opened.set_default_timeout(60_000)
    own = (served[0].url, "blob:")
    opened.on("request", lambda r: None if r.url.startswith(own) else faults.append(r.url))
    opened.on("weberror", lambda error: faults.append(str(error.error)))
    yield opened
    opened.close()
    assert not faults


def opened(context: Any, address: str) -> Any:
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#state[data-state=ready]")
    return page


def test_it_reads_and_goes_on_without_a_network(context: Any, served: tuple[Site, str]) -> None:
    site, address = served
    site.sent.clear()
    page = opened(context, address)
    ink, truth = example("half")
    draw(page, ink)
    page.wait_for_selector("#formula mfrac")
    assert canonical(latex(page)) == truth
    assert "onnxruntime-web on WASM, int8" in page.text_content("#facts")
    page.click("#undo")
    page.wait_for_function("x => document.getElementById('latex').textContent !== x", arg=truth)
    page.click("#clear")
    assert latex(page, "") == ""
    assert 6e6 < sum(size for _, size in site.sent) <= ON_THE_WIRE
    large = [path for path, size in site.sent if size > 1e6]
    assert len(large) == len({*large}) == 3  # each once
    site.sent.clear()
    context.set_offline(True)
    page = opened(context, address)
    ink, truth = example("square")
    draw(page, ink)
    page.wait_for_selector("#formula msup")
    assert canonical(latex(page)) == truth
    assert not site.sent


def test_a_damaged_file_is_fetched_anew(context: Any, served: tuple[Site, str]) -> None:
    site, address = served
    graph = site.folder / PLACE / "model" / "vat.onnx.gz"
    whole, then = graph.read_bytes(), time.time()
    try:
        graph.write_bytes(gzip.compress(b"damaged"))
        os.utime(graph, (then, then))
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("#state[data-state=away]")
        assert "vat.onnx is not the file" in page.text_content("#message")
    finally:
        graph.write_bytes(whole)
    os.utime(graph, (then, then))  # HTTP takes what is of one second for one file
    page.wait_for_selector("#state[data-state=ready]")
    context.set_offline(True)
    opened(context, address)


def test_it_reads_as_the_package_does(context: Any, served: tuple[Site, str]) -> None:
    site, address = served
    inks = [
        [stroke.tolist() for stroke in read_inkml(path.read_bytes(), path.name).strokes]
        for path in sorted(EXAMPLES.glob("*.inkml"))
    ]
    recognizer = Recognizer.from_pretrained(threads=1)
    expected = [recognizer.strokes(ink, alternatives=2) for ink in inks]
    page = context.new_page()
    page.goto(f"{site.url}embedding.html")
    told = page.evaluate(READ, [address, inks])
    assert len(inks) > 5
    for found, result in zip(told["results"], expected, strict=True):
        assert found["latex"] == result.latex
        assert found["mathml"] == result.mathml
        assert found["score"] == pytest.approx(result.score, rel=1e-3)
        assert [other.latex for other in result.alternatives] == found["alternatives"]
        assert [[*own] for own in result.token_strokes or ()] == found["strokes"]
        places = [(token["x"], token["y"]) for token in found["tokens"]]
        assert places == [pytest.approx((token.x, token.y)) for token in result.tokens]
    assert told["session"] == expected[0].latex
    assert told["blank"] == ""


def test_pictures_of_a_canvas_are_read(context: Any, served: tuple[Site, str]) -> None:
    page = opened(context, served[1])
    hand_over(page, SQUARE, "image/png")
    page.wait_for_selector("#formula msup")
    assert canonical(latex(page)) == example("square")[1]
    names = ["bracket", "half", "line", "root", "square", "sum"]
    inks = [[stroke.tolist() for stroke in example(name)[0].strokes] for name in names]
    told = page.evaluate(FROM_CANVAS, [served[1], inks])
    right = [canonical(found) == example(name)[1] for name, found in zip(names, told, strict=True)]
    assert sum(right) >= len(right) - 1, told
    page.close()


def test_it_is_embedded(context: Any, served: tuple[Site, str]) -> None:
    site, _ = served
    page = context.new_page()
    page.goto(f"{site.url}embedding.html")
    frame = page.frame_locator("iframe")
    frame.locator("#state[data-state=ready]").wait_for()
    box = frame.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 104, box["y"] + 160, steps=5)
    page.mouse.up()
    frame.locator("#formula math").wait_for()
    assert frame.locator("#latex").text_content()


def test_the_canvas_of_the_examples_reads(context: Any, served: tuple[Site, str]) -> None:
    site, address = served
    shutil.copy(EXAMPLES / "canvas.html", site.folder / PLACE)
    page = context.new_page()
    page.goto(f"{address}canvas.html")
    says = "x => document.querySelector('output').value === x"
    page.wait_for_function(says, arg="Write a formula.")
    ink, _ = example("half")
    draw(page, ink)
    page.wait_for_function(says, arg="\\frac{1}{2}")
    page.click("button")
    page.wait_for_function(says, arg="")
    draw(page, example("root")[0])
    page.wait_for_function(says, arg="\\sqrt{x}")
