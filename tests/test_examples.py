"""The examples that ship: made by their script, read back as what they say they are."""

import sys
from pathlib import Path

import numpy as np
import pytest

from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.ink.inkml import read_inkml
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.picture.load import load
from namer_edge_runtime.picture.prepare import prepare
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer

FOLDER = Path(__file__).parents[1] / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.inkml"))


def test_every_example_is_there_as_ink_and_as_picture() -> None:
    assert len(NAMES) >= 5
    assert sorted(path.stem for path in FOLDER.glob("*.png")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_ink_says_what_it_is_symbol_by_symbol(name: str) -> None:
    ink = read_inkml(FOLDER / f"{name}.inkml")
    assert ink.truth is not None
    written = [token for token in normalize(ink.truth) if token not in "{}^_"]
    assert sorted(symbol.label for symbol in ink.symbols) == sorted(written)
    grouped = sorted(stroke for symbol in ink.symbols for stroke in symbol.strokes)
    assert grouped == list(range(len(ink.strokes)))


@pytest.mark.parametrize("name", NAMES)
def test_picture_and_ink_come_to_the_same_look(name: str) -> None:
    preprocessing = Preprocessing()
    drawn = render(read_inkml(FOLDER / f"{name}.inkml").strokes, preprocessing).image
    photographed = prepare(load(FOLDER / f"{name}.png"), preprocessing).image
    extent = [np.ptp(np.argwhere(image > 127), axis=0) for image in (drawn, photographed)]
    # Pictures come at sizes from a ladder, half a rung off at most, their blobs are other than the
    # strokes that heights of ink are taken from, and their lines may be a tenth of a pen thinner.
    assert extent[1] == pytest.approx(extent[0], rel=0.2, abs=4)


def test_the_script_writes_these_very_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    import make_examples  # type: ignore[import-not-found]

    monkeypatch.setattr(make_examples, "__file__", str(tmp_path / "make_examples.py"))
    make_examples.main()
    sys.modules.pop("make_examples")
    for name in NAMES:
        ink = [read_inkml(folder / f"{name}.inkml") for folder in (FOLDER, tmp_path)]
        assert ink[0].truth == ink[1].truth
        for shipped, made in zip(ink[0].strokes, ink[1].strokes, strict=True):
            np.testing.assert_allclose(made, shipped, atol=0.11)


@pytest.mark.parametrize("kind", ["inkml", "png"])
@pytest.mark.parametrize("name", NAMES)
def test_the_packaged_model_reads_the_examples(name: str, kind: str) -> None:
    truth = read_inkml(FOLDER / f"{name}.inkml").truth
    assert truth is not None
    read = Recognizer.from_pretrained(threads=1)(FOLDER / f"{name}.{kind}")
    assert read.canonical.split() == normalize(truth)
