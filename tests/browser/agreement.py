"""Reads inks in Chromium and with the package, and tells in how many both say the same.

`python -m tests.browser.agreement ZIP PAGE [COUNT [SEED]]`: COUNT of the InkML files in ZIP, drawn
at random, read by the page that `namer-edge page PAGE` made.
"""

import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from namer_edge_runtime.errors import InkError
from namer_edge_runtime.ink.inkml import read_inkml
from namer_edge_runtime.recognizer import Recognizer

from ..conftest import CHROMIUM
from .conftest import Site

OPEN = """async () => {
  const { Recognizer } = await import(new URL("namer-edge/recognizer.js", location));
  window.recognizer = await Recognizer.from_pretrained();
  const { engine } = recognizer;
  const vat = engine.vat.bind(engine);
  window.passes = 0;
  engine.vat = (...maps) => (passes++, vat(...maps));
}"""
READ = """async (strokes) => {
  const before = passes;
  const { canonical, milliseconds } = await recognizer.recognize(strokes);
  return [canonical, milliseconds.total / (passes - before)];
}"""


def main(source: str, page: str, count: int = 200, seed: int = 0) -> None:
    inks = []
    with zipfile.ZipFile(source) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".inkml"))
        for name in np.random.default_rng(seed).permutation(names):
            try:
                inks.append([s.tolist() for s in read_inkml(archive.read(name), name).strokes])
            except InkError as error:
                print(error)
            if len(inks) == count:
                break
    recognizer = Recognizer.from_pretrained(threads=1)
    expected = [recognizer.strokes(ink).canonical for ink in inks]
    path = next(filter(None, map(shutil.which, CHROMIUM)))
    site = Site(Path(page))
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto(f"{site.url}manifest.json")
        tab.evaluate(OPEN)
        answers = [tab.evaluate(READ, ink) for ink in inks]
        browser.close()
    site.stop()
    same = sum(found == wanted for (found, _), wanted in zip(answers, expected, strict=True))
    times = np.quantile([time for _, time in answers], [0.1, 0.5, 0.9])
    print(f"{same} of {len(inks)} alike; ms a pass: {times.round()} (10 %, 50 %, 90 %)")


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
