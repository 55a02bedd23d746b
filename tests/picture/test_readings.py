"""The packaged model reads the examples however they are handed over."""

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.ink.inkml import read_inkml
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.ink.strokes import symbol_height
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.preprocessing import turned as points_turned
from namer_edge_runtime.recognizer import Recognizer

from ..handwriting import written
from .paper import Gray, in_shadow, on_paper

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.inkml"))
MOST = 2 / 3
"""Share of the examples that stays readable through what spoils a picture."""


@cache
def recognizer() -> Recognizer:
    return Recognizer.from_pretrained(threads=1)


@cache
def pages(height: float = 64, pen: float = 4) -> tuple[Gray, ...]:
    preprocessing = Preprocessing(height, pen, 24, 10_000, 10_000)
    return tuple(255 - render(read_inkml(path).strokes, preprocessing).image for path in EXAMPLES)


@cache
def labels() -> tuple[str, ...]:
    return tuple(" ".join(normalize(read_inkml(path).truth or "")) for path in EXAMPLES)


def share(values: list[object]) -> float:
    read = recognizer()(values, batch_size=1)
    return sum(a.canonical == label for a, label in zip(read, labels(), strict=True)) / len(read)


def turned(page: Gray, degrees: float) -> Gray:
    page = np.pad(page, 30, constant_values=255)
    height, width = page.shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    return np.asarray(cv2.warpAffine(page, matrix, (width, height), borderValue=255), np.uint8)


def saved(image: Image.Image, format_: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, format_, **options)
    return file.getvalue()


@pytest.mark.parametrize("height", [16, 32, 128, 256])
def test_any_size(height: int) -> None:
    assert share(list(pages(height, height / 16))) >= MOST


@pytest.mark.parametrize("pen", [1, 8])
def test_any_pen(pen: int) -> None:
    assert share(list(pages(pen=pen))) >= MOST


@pytest.mark.parametrize(
    "spoil",
    [
        lambda page: on_paper(page, squared=False),
        lambda page: on_paper(page, squared=True),
        lambda page: on_paper(page, squared=True, slope=-0.03, level=120),
        in_shadow,
        lambda page: in_shadow(on_paper(page, squared=False)),
        lambda page: turned(page, 3),
        lambda page: turned(page, -3),
    ],
    ids=["ruled", "squared", "dark squares", "shadow", "ruled in shadow", "left up", "right up"],
)
def test_paper_light_and_skew(spoil: Callable[[Gray], Gray]) -> None:
    assert share([spoil(page) for page in pages()]) >= MOST


def transparent(page: Gray, ink: int) -> Gray:
    return np.dstack([np.full_like(page, ink)] * 3 + [255 - page])


@pytest.mark.parametrize(
    "convert",
    [
        lambda page: 255 - page,
        lambda page: transparent(page, 0),
        lambda page: transparent(page, 255),
        lambda page: page > 127,
        lambda page: page.astype(np.uint16) * 257,
        lambda page: saved(Image.fromarray(page).convert("CMYK"), "JPEG", quality=95),
        lambda page: saved(
            Image.fromarray(page), "GIF", save_all=True, append_images=[Image.fromarray(page[::-1])]
        ),
    ],
    ids=[
        "white on black",
        "clear, dark ink",
        "clear, light ink",
        "1-bit",
        "16-bit",
        "CMYK",
        "moving",
    ],
)
def test_kinds_of_pictures_are_read_as_the_plain_one(convert: Callable[[Gray], object]) -> None:
    assert share([convert(page) for page in pages()]) >= share(list(pages())) - 1 / len(EXAMPLES)


@pytest.mark.parametrize("degrees", [-25, 25])
def test_lines_on_a_slope_are_read_level(degrees: float) -> None:
    for number in (2, 4):  # a + b = 3, y = 2 x + 5
        formula = written(number)
        sloping = [points_turned(stroke, np.radians(degrees)) for stroke in formula.strokes]
        result = recognizer()(sloping)
        assert result.canonical == " ".join(formula.tokens)
        assert result.prepared is not None
        assert np.degrees(result.prepared.turn) == pytest.approx(-degrees, abs=6)
        # Places and strokes of the symbols are those of the input, which slopes.
        wanted = points_turned(formula.positions, np.radians(degrees))
        found = np.array([(token.x, token.y) for token in result.tokens])
        assert np.abs(found - wanted).max() < 0.5 * symbol_height(formula.strokes)
        level = recognizer()(formula.strokes)
        assert result.token_strokes == level.token_strokes
        height, width, _ = result.draw().shape
        assert (height, width) == tuple(4 * side for side in result.prepared.image.shape)


def test_a_line_that_is_read_surely_as_it_stands_is_not_turned() -> None:
    level = recognizer()(written(4).strokes)
    assert level.prepared is not None
    assert level.prepared.turn == 0
