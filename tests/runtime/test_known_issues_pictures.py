"""Pictures as people have them: T3, T4 and T5 of `test_users_troubles.py`.

`tests/picture/` has the same with the packaged model, and each step of preparation by itself.
"""

import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from namer_edge_runtime.recognizer import Recognizer

from .drawing import Gray, picture

FORMULA = "1 - 1 ^ 1 -"
PLAIN = picture(FORMULA, 3.2, 4.0)
"""At 100 %: symbols 64 pixels high."""
CELL = 8 * 3.2
"""Pixels here of a cell of the model, for which the same symbols are 20 high."""


@pytest.mark.parametrize("percent", [25, 50, 200, 400])
def test_t3_at_any_size_it_reads_the_same(recognizer: Recognizer, percent: int) -> None:
    resized = picture(FORMULA, 3.2 * percent / 100, 4.0 * percent / 100)
    assert recognizer(resized).canonical == recognizer(PLAIN).canonical == "1 - 1 ^ { 1 - }"


@pytest.mark.parametrize("pen", range(1, 9))
def test_t3_with_any_pen_it_reads_the_same(recognizer: Recognizer, pen: int) -> None:
    assert recognizer(picture(FORMULA, 3.2, pen)).canonical == "1 - 1 ^ { 1 - }"


def saved(image: Any, format_: str, **options: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, format_, **options)
    return file.getvalue()


def clear(ink: int) -> Gray:
    """Ink of this level on nothing: [H, W, 4]."""
    return np.dstack([np.full_like(PLAIN, ink)] * 3 + [255 - PLAIN])


def turned() -> bytes:
    """Stored on its side, with the note that says so."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return saved(np.rot90(PLAIN), "JPEG", exif=exif, quality=95)


def moving(format_: str) -> bytes:
    other = Image.fromarray(255 - PLAIN[::-1])
    return saved(PLAIN, format_, save_all=True, append_images=[other])


def cmyk() -> bytes:
    file = io.BytesIO()
    Image.fromarray(PLAIN).convert("CMYK").save(file, "JPEG", quality=95)
    return file.getvalue()


def palette() -> bytes:
    file = io.BytesIO()
    Image.fromarray(PLAIN).convert("P").save(file, "PNG")
    return file.getvalue()


KINDS: dict[str, Callable[[], Any]] = {
    "dark ground": lambda: 255 - PLAIN,
    "clear, black ink": lambda: saved(clear(0), "PNG"),
    "clear, white ink": lambda: saved(clear(255), "PNG"),
    "turned by EXIF": turned,
    "1-bit": lambda: saved(PLAIN > 127, "PNG"),
    "16-bit": lambda: saved(PLAIN.astype(np.uint16) * 257, "PNG"),
    "gray and alpha": lambda: saved(np.dstack([PLAIN, np.full_like(PLAIN, 255)]), "PNG"),
    "RGB": lambda: saved(np.dstack([PLAIN] * 3), "PNG"),
    "blue ink": lambda: saved(np.dstack([PLAIN, PLAIN, np.full_like(PLAIN, 255)]), "PNG"),
    "palette": palette,
    "CMYK JPEG": cmyk,
    "BMP": lambda: saved(PLAIN, "BMP"),
    "TIFF": lambda: saved(PLAIN, "TIFF"),
    "WebP": lambda: saved(PLAIN, "WEBP"),
    "moving GIF": lambda: moving("GIF"),
    "moving WebP": lambda: moving("WEBP"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_t4_of_any_kind_it_reads_as_the_plain_picture(recognizer: Recognizer, kind: str) -> None:
    plain, read = recognizer(PLAIN), recognizer(KINDS[kind]())
    assert read.canonical == plain.canonical == "1 - 1 ^ { 1 - }"
    for one, other in zip(plain.tokens, read.tokens, strict=True):
        # At most a cell away, and neither on its head nor on its side.
        assert abs(one.x - other.x) < CELL
        assert abs(one.y - other.y) < CELL


@pytest.mark.parametrize(
    "page",
    [
        np.full((200, 300), 255, np.uint8),
        np.zeros((200, 300), np.uint8),
        np.full((1, 1), 255, np.uint8),
        np.full((20, 3000), 255, np.uint8),
        np.full((3000, 20), 255, np.uint8),
        np.full((8000, 8000), 255, np.uint8),
    ],
    ids=["blank", "black", "1 x 1", "3000 x 20", "20 x 3000", "8k x 8k"],
)
def test_t5_nothing_on_a_page_of_any_size_is_an_empty_result(
    recognizer: Recognizer, page: Gray
) -> None:
    result = recognizer(page)
    assert (result.latex, result.score, result.tokens) == ("", 0.0, ())


def test_t5_a_formula_on_a_huge_page_takes_no_longer_than_its_pixels(
    recognizer: Recognizer,
) -> None:
    """Memory is bounded in `tests/picture/test_limits.py`."""
    seconds = []
    for side in (2000, 8000):
        page = np.full((side, side), 255, np.uint8)
        height, width = PLAIN.shape
        page[side // 2 : side // 2 + height, 100 : 100 + width] = PLAIN
        before = time.process_time()
        assert recognizer(page).canonical == "1 - 1 ^ { 1 - }"
        seconds.append(time.process_time() - before)
    assert seconds[1] < 2 * 16 * seconds[0]
