"""What makes the page pleasant: nothing is lost, hidden or told by color alone."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from .writing import Finger, Line, Mouse, Upload, canonical, draw, example, latex, tap

Shot = Callable[[Any, str], None]
DASH = [[260.0, 360.0], [340.0, 360.0]]
SYMBOLS = "document.querySelectorAll('#formula [data-token]').length"
FITS = "({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth"
FONT = "element => parseFloat(getComputedStyle(element).fontSize)"


def written(line: Line, **changes: Any) -> None:
    """Writes a stroke whose answer says something else than the server's."""
    awaited = len(line.answers) + 1
    Mouse(line.page).write(DASH)
    line.wait(awaited)
    line.say({**json.loads(line.answers[-1]), **changes})
    latex(line.page)


def reading(symbols: int, score: float) -> dict[str, Any]:
    marks = "".join(f'<mi data-token="{place}">M</mi>' for place in range(symbols))
    mathml = f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{marks}</mrow></math>'
    tokens = [{"text": "M", "score": score, "x": 9 * place, "y": 9} for place in range(symbols)]
    return {"latex": symbols * "M", "mathml": mathml, "score": score, "tokens": tokens}


def test_ink_outlives_a_reload(page: Any) -> None:
    ink, truth = example("square")
    draw(page, ink)
    page.wait_for_selector("#formula msup")
    assert canonical(latex(page)) == truth
    page.reload()
    page.wait_for_selector("#formula msup")
    assert canonical(latex(page)) == truth
    assert page.is_disabled("#undo")
    whole = latex(page)
    Mouse(page).write([[70.0, 250.0], [70.0, 450.0]])  # under an id that no other has
    page.wait_for_function("x => document.getElementById('latex').textContent !== x", arg=whole)
    assert page.is_hidden("#message")
    page.click("#clear")
    assert latex(page, "") == ""
    page.reload()
    page.wait_for_selector("#state[data-state=ready]")
    assert page.is_visible("#hint")


def test_a_tap_marks_a_symbol_which_may_be_deleted(page: Any, screenshot: Shot) -> None:
    page.set_viewport_size({"width": 390, "height": 780})
    draw(page, example("sum")[0], Finger)
    page.wait_for_function(f"() => {SYMBOLS} > 2")
    latex(page)
    before = page.evaluate(SYMBOLS)

    assert page.is_hidden("#remove")
    tap(page, Finger, "#formula mi[data-token]")
    page.wait_for_selector("#formula .lit")
    assert page.text_content("#symbol")
    screenshot(page, "tapped")
    tap(page, Finger, "#remove")
    page.wait_for_function(f"() => {SYMBOLS} < {before}")
    assert page.text_content("#symbol") == ""
    assert page.is_hidden("#remove")


def test_a_click_marks_a_symbol_until_something_else_is_done(page: Any) -> None:
    draw(page, example("square")[0])
    page.wait_for_selector("#formula msup")
    latex(page)
    page.click("#formula mi[data-token]")
    page.mouse.move(5, 5)
    assert page.locator("#formula .lit").count() == 1
    assert page.is_visible("#remove")
    Mouse(page).write([[60.0, 300.0], [110.0, 300.0]])
    latex(page)
    assert page.locator("#formula .lit").count() == 0
    assert page.is_hidden("#remove")


@pytest.mark.parametrize(("width", "height"), [(800, 1100), (1000, 1400), (880, 600)])
def test_narrow_and_upright_screens_stack(
    page: Any, width: int, height: int, screenshot: Shot
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    paper = page.locator("#paper").bounding_box()
    assert paper["width"] > 0.9 * width
    assert page.locator("#formula").bounding_box()["y"] > paper["y"] + paper["height"]
    screenshot(page, f"stacked-{width}")


def test_low_screens_do_not_stack(page: Any) -> None:
    page.set_viewport_size({"width": 844, "height": 390})
    paper = page.locator("#paper").bounding_box()
    assert page.locator("#formula").bounding_box()["x"] > paper["x"] + paper["width"]


def test_a_long_formula_shrinks_and_then_scrolls(line: Line, screenshot: Shot) -> None:
    formula = line.page.locator("#formula")
    written(line, **reading(2, 0.9))
    whole = formula.evaluate(FONT)
    written(line, **reading(14, 0.9))
    assert formula.evaluate(FITS)
    assert 0.45 * whole < formula.evaluate(FONT) < whole
    screenshot(line.page, "long")
    line.page.set_viewport_size({"width": 700, "height": 760})  # and is fitted anew
    assert formula.evaluate(FITS)
    line.page.set_viewport_size({"width": 1180, "height": 760})
    written(line, **reading(200, 0.9))
    assert not formula.evaluate(FITS)
    assert formula.evaluate(FONT) == pytest.approx(0.45 * whole, rel=0.01)
    assert formula.evaluate("element => getComputedStyle(element).overflowX") == "auto"
    written(line, **reading(2, 0.9))
    assert formula.evaluate(FONT) == whole


def test_no_share_of_nothing_is_told(line: Line) -> None:
    page = line.page
    others = [reading(3, 0.3), reading(4, 0.001)]
    written(line, **reading(2, 0.9), alternatives=others)
    labels = [one.get_attribute("aria-label") for one in page.locator("#others button").all()]
    assert labels == ["MM, 90 %", "MMM, 30 %", "MMMM"]
    assert page.locator("#others small").all_text_contents() == ["90 %", "30 %", ""]
    written(line, **reading(2, 0.001))
    assert page.text_content("#spoken") == "MM"


def test_doubt_is_underlined(line: Line, screenshot: Shot) -> None:
    sure, unsure = reading(2, 0.99), reading(2, 0.2)
    written(line, **{**sure, "tokens": [sure["tokens"][0], unsure["tokens"][1]]})
    under = "element => getComputedStyle(element).textDecorationLine"
    first, second = line.page.locator("#formula [data-token]").all()
    assert first.evaluate(under) == "none"
    assert second.evaluate(under) == "underline"
    screenshot(line.page, "doubt")


def test_keys_are_listed(page: Any, screenshot: Shot) -> None:
    page.keyboard.press("?")
    assert page.is_visible("#help")
    screenshot(page, "keys")
    page.keyboard.press("e")
    page.keyboard.press("Escape")
    assert page.is_hidden("#help")
    assert page.get_attribute("#pen", "aria-checked") == "true"
    page.click("#keys")
    assert "Ctrl+Z" in page.text_content("#help")
    page.click("#help button")
    assert page.is_hidden("#help")


def test_mathml_is_copied_as_well(page: Any) -> None:
    draw(page, example("square")[0])
    page.wait_for_selector("#formula msup")
    latex(page)
    for name, begins in (("svg", "<svg"), ("latex", "x"), ("mathml", "<math")):
        page.select_option("#format", name)  # which copies at once
        page.wait_for_function(
            "begins => navigator.clipboard.readText().then(text => text.startsWith(begins))",
            arg=begins,
        )
    page.evaluate("navigator.clipboard.writeText('')")
    page.click("#copy")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "<msup>" in copied
    assert "data-token" not in copied
    # Where the browser offers no clipboard, as on pages without TLS.
    page.evaluate("navigator.clipboard.writeText('')")
    page.evaluate("() => { navigator.clipboard.writeText = async () => { throw Error('no'); }; }")
    page.click("#copy")
    assert page.evaluate("navigator.clipboard.readText()") == copied


def test_a_picture_on_its_way_is_told_at_once(page: Any, screenshot: Shot) -> None:
    assert page.is_hidden("#wait")
    upload = Upload(page)
    assert page.is_visible("#wait")
    screenshot(page, "waiting")
    upload.let_go()
    page.wait_for_selector("#formula msup")
    assert page.is_hidden("#wait")
    Upload(page, b"buy milk").let_go()
    page.wait_for_selector("#message:not([hidden])")
    assert page.is_hidden("#wait")


def test_who_writes_on_a_picture_is_told_how_to_get_it_back(page: Any) -> None:
    Upload(page).let_go()
    page.wait_for_selector("#formula msup")
    of_picture = latex(page)
    Mouse(page).write(DASH)
    assert "Undo" in page.text_content("#message")
    assert latex(page, "-") == "-"
    page.click("#undo")
    assert latex(page, of_picture) == of_picture
    assert page.is_hidden("#message")


def test_the_description_reads_well(page: Any, screenshot: Shot) -> None:
    page.goto(page.url + "docs")
    page.wait_for_selector("article h2 code")
    told = page.text_content("#operations")
    assert "Are workers up? " in told
    assert "?." not in told
    assert "Read a formula, or lines of them. A picture" in told
    style = "getComputedStyle(document.querySelector('input'), '::file-selector-button')"
    assert page.evaluate(f"{style}.borderRadius") != "0px"
    screenshot(page, "docs")
