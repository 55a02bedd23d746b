"""Writing on the page, in a real browser."""

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from namer_edge_runtime.ink.inkml import Ink, read_inkml
from namer_edge_runtime.recognizer import Recognizer

from .writing import EXAMPLES, Finger, canonical, draw, example, hand_over, latex

Shot = Callable[[Any, str], None]
SYMBOLS = "document.querySelectorAll('#formula [data-token]').length"


def test_a_formula_is_written_and_set(page: Any, screenshot: Shot) -> None:
    screenshot(page, "blank")
    ink, truth = example("half")
    draw(page, ink)
    page.wait_for_selector("#formula mfrac")
    assert canonical(latex(page)) == truth
    size = page.locator("#formula mfrac").bounding_box()
    inner = page.locator("#formula mfrac > :first-child").bounding_box()
    assert size["height"] > 1.8 * inner["height"]  # the browser really set one above the other
    assert "onnxruntime on CPU, int8" in page.text_content("#facts")
    page.click("#copy")
    assert canonical(page.evaluate("navigator.clipboard.readText()")) == truth
    screenshot(page, "written")


def test_a_finger_writes_and_the_page_stays_where_it_is(page: Any, screenshot: Shot) -> None:
    page.set_viewport_size({"width": 390, "height": 700})
    ink, truth = example("square")
    draw(page, ink, Finger)
    page.wait_for_selector("#formula msup")
    assert canonical(latex(page)) == truth
    assert page.evaluate("[scrollX, scrollY]") == [0, 0]
    screenshot(page, "finger")


def test_a_camera_is_held_over_a_formula(page: Any, screenshot: Shot) -> None:
    page.context.grant_permissions(["camera"])
    page.click("#camera")
    page.wait_for_function("() => document.getElementById('video').videoWidth > 0")
    screenshot(page, "camera")
    page.click("#finder button[value=cancel]")
    assert page.is_visible("#hint")
    page.click("#camera")
    page.click("#finder button[value=take]")  # cannot be pressed before there is a picture
    page.wait_for_selector("#formula msup")
    assert canonical(latex(page)) == example("square")[1]
    assert page.evaluate("document.getElementById('video').srcObject") is None
    screenshot(page, "photographed")


def test_strokes_are_undone_redone_erased_and_cleared(page: Any) -> None:
    ink, _ = example("sum")
    draw(page, ink)
    page.wait_for_function(f"() => {SYMBOLS} > 2")
    whole = latex(page)
    page.keyboard.press("Control+z")
    page.wait_for_function("x => document.getElementById('latex').textContent !== x", arg=whole)
    page.keyboard.press("Control+Shift+z")
    assert latex(page, whole) == whole
    page.click("#clear")
    assert latex(page, "") == ""
    assert page.is_visible("#hint")
    page.click("#undo")
    assert latex(page, whole) == whole
    page.click("#eraser")
    draw(page, ink)  # rubs over all of it
    assert latex(page, "") == ""
    assert page.is_disabled("#clear")


def test_symbols_are_found_on_the_canvas_and_in_the_formula(page: Any, screenshot: Shot) -> None:
    ink, _ = example("root")
    draw(page, ink)
    page.wait_for_selector("#formula msqrt [data-token]")
    latex(page)

    def picture() -> str:
        return str(page.evaluate("document.getElementById('canvas').toDataURL()"))

    plain = picture()
    page.hover("#formula msqrt [data-token]")
    assert picture() != plain
    assert "%" in page.text_content("#symbol")
    screenshot(page, "pointed")
    page.mouse.move(5, 5)
    assert picture() == plain
    page.focus("#formula")  # and by keyboard
    page.keyboard.press("ArrowRight")
    assert picture() != plain
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Delete")
    page.wait_for_function(f"() => {SYMBOLS} === 1")


def test_another_reading_is_taken(page: Any, screenshot: Shot) -> None:
    draw(page, example("root")[0])
    page.wait_for_selector("#others:not([hidden]) button:nth-child(2)")
    first = latex(page)
    page.click("#others button:nth-child(2)")
    assert latex(page) != first
    screenshot(page, "other")
    page.click("#others button:nth-child(1)")
    assert latex(page) == first


@pytest.mark.parametrize("event", ["paste", "drop"])
def test_a_picture_is_handed_over(page: Any, event: str, screenshot: Shot) -> None:
    truth = example("square")[1]
    hand_over(page, (EXAMPLES / "square.png").read_bytes(), "image/png", event)
    page.wait_for_selector("#formula msup")
    assert canonical(latex(page)) == truth
    page.hover("#formula [data-token]")
    screenshot(page, "picture")
    page.click("#undo")
    assert page.is_visible("#hint")


def test_what_is_no_picture_is_refused_with_a_message(page: Any, screenshot: Shot) -> None:
    draw(page, example("square")[0])
    page.wait_for_selector("#formula msup")
    before = latex(page)
    page.set_input_files(
        "#file", {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"buy milk"}
    )
    page.wait_for_selector("#message:not([hidden])")
    assert "not a picture" in page.text_content("#message")
    assert latex(page) == before
    screenshot(page, "refused")


def test_in_the_dark_and_on_a_phone(page: Any, screenshot: Shot) -> None:
    page.emulate_media(color_scheme="dark")
    draw(page, example("sum")[0])
    page.wait_for_selector("#formula mo")
    latex(page)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, ground.removeprefix("rgb(").removesuffix(")").split(","))) < 60
    screenshot(page, "dark")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    latex(page)
    screenshot(page, "phone-dark")
    page.emulate_media(color_scheme="light")
    screenshot(page, "phone")
    small = page.evaluate(
        "[...document.querySelectorAll('.tools button:not([hidden])')]"
        ".filter(b => b.clientWidth < 36 || b.clientHeight < 36).length"
    )
    assert small == 0


def test_everything_to_press_has_a_name(page: Any) -> None:
    names = page.evaluate(
        "[...document.querySelectorAll('button')].filter(b => b.offsetParent)"
        ".map(b => b.getAttribute('aria-label') || b.innerText.trim())"
    )
    assert len(names) >= 7
    assert all(names)
    page.goto(page.url + "docs")
    page.wait_for_selector("article h2 code")
    assert "/recognize" in page.text_content("#operations")


def test_formulas_of_crohme_are_read_as_written(
    page: Any, shared_data: Path, screenshot: Shot
) -> None:
    for number, (ink, truth) in enumerate(clear_ones(shared_data, 3)):
        if page.is_enabled("#clear"):
            page.click("#clear")
            latex(page, "")
        draw(page, ink)
        page.wait_for_function(f"() => {SYMBOLS} > 0")
        assert canonical(latex(page)) == truth
        assert page.locator("#formula math").bounding_box()["width"] > 30
        screenshot(page, f"crohme-{number}")


def clear_ones(shared_data: Path, count: int) -> Iterator[tuple[Ink, list[str]]]:
    """Formulas of few strokes that are read rightly and surely without a browser: here the mouse
    goes in steps of pixels, which may change one that is unsure."""
    recognizer = Recognizer.from_pretrained(threads=1)
    with zipfile.ZipFile(shared_data / "crohme" / "test2013.zip") as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".inkml"))
        for name in names:
            ink = read_inkml(archive.read(name), name)
            truth = canonical(ink.truth or "") if 4 <= len(ink.strokes) <= 10 else []
            result = recognizer.strokes(ink.strokes) if truth else None
            if result and result.score > 0.85 and result.canonical.split() == truth:
                yield ink, truth
                count -= 1
            if not count:
                return
