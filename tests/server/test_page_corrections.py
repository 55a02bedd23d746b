"""Correcting on the page: with pen, finger, mouse and keys, on screens of three widths."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from .writing import Finger, Hand, Mouse, Pen, canonical, draw, example, latex, tap

Shot = Callable[[Any, str], None]
SCREENS = [(390, 780, Finger), (820, 1180, Pen), (1280, 800, Mouse)]
TEXT = "x => document.getElementById('latex').textContent !== x"


def tap_ink(page: Any, hand: type[Hand], stroke: int) -> None:
    """On the ink of the stroke written as the how many-th, from 0."""
    box = page.locator("#canvas").bounding_box()
    points = kept_strokes(page)[stroke]["points"]
    x, y = points[len(points) // 2]
    hand(page).write([[box["x"] + x, box["y"] + y]])


def kept_strokes(page: Any) -> list[Any]:
    return list(json.loads(page.evaluate("sessionStorage.getItem('namer-edge ink')"))["strokes"])


def changed(page: Any, before: str) -> str:
    page.wait_for_function(TEXT, arg=before)
    return latex(page)


def choose(page: Any, hand: type[Hand], text: str) -> str:
    before = latex(page)
    tap(page, hand, f"#menu [data-text={json.dumps(text)}]")
    return changed(page, before)


def written(page: Any, name: str, hand: type[Hand] = Mouse) -> str:
    ink, truth = example(name)
    draw(page, ink, hand)
    wanted = f"() => document.querySelectorAll('#formula [data-token]').length >= {len(truth) // 2}"
    page.wait_for_function(wanted)
    for _ in range(100):  # a reading of fewer strokes may stand there first
        if canonical(latex(page)) == truth:
            break
        page.wait_for_timeout(100)
    assert canonical(latex(page)) == truth
    return latex(page)


@pytest.mark.parametrize(("width", "height", "hand"), SCREENS)
def test_a_symbol_is_tapped_in_the_ink_and_put_right(
    page: Any, width: int, height: int, hand: type[Hand], screenshot: Shot
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    written(page, "sum", hand)
    tap_ink(page, hand, 0)
    page.wait_for_selector("#menu .class")
    assert page.text_content("#symbol").startswith("a ")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for button in page.locator("#menu button, .tools button:not([hidden])").all():
        box = button.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert min(box["width"], box["height"]) >= 36
    screenshot(page, f"menu-{width}")
    assert choose(page, hand, "\\alpha") == "\\alpha+b=3"
    assert page.is_hidden("#menu")
    tap(page, hand, "#formula [data-token]")  # and in the formula
    page.wait_for_selector("#menu .class")
    assert "as you said" in page.text_content("#symbol")
    assert page.locator("#formula .locked").count() == 1
    # What is written later does not undo it; undo does.
    paper = page.locator("#canvas").bounding_box()
    y = paper["y"] + 0.92 * paper["height"]
    hand(page).write([[paper["x"] + 30, y], [paper["x"] + 45, y], [paper["x"] + 60, y]])
    assert "\\alpha" in changed(page, "\\alpha+b=3")
    tap(page, hand, "#undo")
    assert latex(page, "\\alpha+b=3")
    tap(page, hand, "#undo")
    assert latex(page, "a+b=3")
    tap(page, hand, "#redo")
    assert latex(page, "\\alpha+b=3")
    page.reload()
    assert latex(page, "\\alpha+b=3")
    assert page.locator("#formula .locked").count() == 1
    tap_ink(page, hand, 0)
    tap(page, hand, "#menu .release")
    assert latex(page, "a+b=3")


def test_strokes_are_joined_and_split_by_tapping(page: Any, screenshot: Shot) -> None:
    written(page, "sum")
    tap_ink(page, Mouse, 4)  # the equals sign
    tap(page, Mouse, "#menu .split")
    page.wait_for_function("() => document.querySelectorAll('#formula .locked').length === 2")
    latex(page)
    tap_ink(page, Mouse, 4)
    tap(page, Mouse, "#menu .join")
    assert "Tap" in page.text_content("#message")
    screenshot(page, "joining")
    tap_ink(page, Mouse, 5)
    assert latex(page, "a+b=3") == "a+b=3"
    assert page.locator("#formula .locked").count() == 1
    tap_ink(page, Mouse, 0)  # called off, it means nothing
    tap(page, Mouse, "#menu .join")
    page.keyboard.press("Escape")
    tap_ink(page, Mouse, 3)
    assert page.text_content("#symbol").startswith("b ")
    assert latex(page) == "a+b=3"


def test_scripts_are_corrected(page: Any) -> None:
    assert written(page, "square") == "x^2+1"
    for name, becomes in (
        ("Subscript", "x_2+1"),
        ("On the line", "x2+1"),
        ("Superscript", "x^2+1"),
    ):
        tap_ink(page, Mouse, 2)
        page.click(f"#menu .script:has-text('{name}')")
        assert latex(page, becomes)
    tap_ink(page, Mouse, 0)
    assert page.locator("#menu .script").count() == 0  # nothing stands before it


def test_any_symbol_is_typed_and_what_is_none_is_refused(page: Any) -> None:
    written(page, "sum")
    tap_ink(page, Mouse, 0)
    page.fill("#another", "\\theta")
    page.keyboard.press("Enter")
    assert latex(page, "\\theta+b=3")
    tap_ink(page, Mouse, 0)
    page.fill("#another", "\\thteа")
    page.keyboard.press("Enter")
    page.wait_for_selector("#message:not([hidden])")
    assert "\\theta" in page.text_content("#message")
    assert latex(page, "\\theta+b=3")
    assert page.is_disabled("#redo")
    page.click("#undo")
    assert latex(page, "a+b=3")


def test_all_is_done_by_keys_and_said_aloud(page: Any) -> None:
    written(page, "sum")
    page.focus("#formula")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    first = page.evaluate("document.activeElement.dataset.text")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == f"It is {first}"
    page.keyboard.press("ArrowRight")
    second = page.evaluate("document.activeElement.dataset.text")
    assert second != first
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "formula"
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('#formula .locked').length === 1")
    assert latex(page) == f"{second}+b=3"
    assert latex(page) in page.text_content("#spoken")
    roles = page.locator("#menu").get_attribute("role"), page.locator("#symbol")
    assert roles[0] == "toolbar"
    assert roles[1].get_attribute("aria-live") == "polite"


@pytest.mark.parametrize("hand", [Mouse, Pen, Finger])
def test_ink_is_scratched_out_and_brought_back(page: Any, hand: type[Hand]) -> None:
    whole = written(page, "sum", hand)
    canvas = page.locator("#canvas").bounding_box()
    kept = kept_strokes(page)
    xs, ys = zip(*kept[3]["points"], strict=True)  # the b
    left, right = canvas["x"] + min(xs) - 8, canvas["x"] + max(xs) + 8
    top, bottom = canvas["y"] + min(ys), canvas["y"] + max(ys)
    corners = [[right if n % 2 else left, top + (bottom - top) * n / 8] for n in range(9)]
    scribble = [
        [a[0] + (b[0] - a[0]) * part / 4, a[1] + (b[1] - a[1]) * part / 4]
        for a, b in pairwise(corners)
        for part in range(4)
    ]
    hand(page).write(scribble)
    after = changed(page, whole)
    assert "b" not in after
    assert len(kept_strokes(page)) == 6
    page.click("#undo")
    assert latex(page, whole) == whole
    # Beside ink it is ink.
    shift = canvas["y"] + canvas["height"] - bottom - 10
    hand(page).write([[x, y + shift] for x, y in scribble])
    assert len(kept_strokes(page)) == 8


def test_no_formula_of_the_examples_scratches_itself_out(page: Any) -> None:
    for name in ("sum", "root", "half", "square"):
        ink, _ = example(name)
        strokes = [{"id": n, "points": s.tolist()} for n, s in enumerate(ink.strokes)]
        struck = page.evaluate(
            "async (strokes) => { const { struckOut } = await import('/page/scratch.js');"
            " return strokes.map((s, n) => struckOut(s.points, strokes.slice(0, n)).length); }",
            strokes,
        )
        assert not any(struck)


def test_the_last_ten_formulas_outlive_a_reload(page: Any, screenshot: Shot) -> None:
    for name in ("sum", "square"):
        written(page, name)
        page.click("#clear")
        latex(page, "")
    page.reload()
    page.wait_for_selector("#state[data-state=ready]")
    page.keyboard.press("h")
    names = [b.get_attribute("aria-label") for b in page.locator("#formulas > div button").all()]
    assert names == ["x^2+1", "a+b=3"]
    screenshot(page, "formulas")
    page.click("#formulas > div button:nth-child(2)")
    assert latex(page, "a+b=3")
    page.click("#undo")
    assert latex(page, "") == ""
    for number in range(12):
        page.evaluate(
            "async (n) => { const { keepFormula } = await import('/page/history.js');"
            " keepFormula({ latex: `${n}`, mathml: '<math/>', tokens: [], score: 1 },"
            " { strokes: new Map([[1, { id: 1, points: [[n, 0]] }]]), locks: [] }); }",
            number,
        )
    page.click("#last")
    names = [b.get_attribute("aria-label") for b in page.locator("#formulas > div button").all()]
    assert names == [str(number) for number in range(11, 1, -1)]
    page.click("#formulas button[value=forget]")
    page.click("#last")
    assert page.locator("#formulas > div button").count() == 0


def test_the_page_can_be_installed(page: Any) -> None:
    devtools = page.context.new_cdp_session(page)
    manifest = devtools.send("Page.getAppManifest")
    assert not manifest["errors"]
    told = json.loads(manifest["data"])
    assert told["display"] == "standalone"
    for icon in told["icons"]:
        natural = page.evaluate(
            "async (src) => { const i = new Image(); i.src = `/page/${src}`; await i.decode();"
            " return `${i.naturalWidth}x${i.naturalHeight}`; }",
            icon["src"],
        )
        assert icon["sizes"] in (natural, "any")
    found = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    # Playwright's contexts are private windows, which install nothing.
    assert {error["errorId"] for error in found} <= {"in-incognito"}
