"""ReadResponses that come late, in any order: they never take the place of what is shown since."""

import json
from itertools import permutations
from typing import Any

import pytest

from .writing import SQUARE, Line, Mouse, Upload, canonical, draw, example, hand_over, latex

STROKES = ([[150.0, 300.0], [150.0, 420.0]], [[260.0, 360.0], [340.0, 360.0]])


def write(line: Line, *strokes: list[list[float]]) -> None:
    """Writes strokes one by one, each answered by the server before the next."""
    for stroke in strokes:
        awaited = len(line.answers) + 1
        Mouse(line.page).write(stroke)
        line.wait(awaited)


def shown(page: Any) -> list[str | None]:
    return [page.text_content(f"#{name}") for name in ("latex", "facts", "formula", "others")]


def picture(page: Any) -> str:
    hand_over(page, SQUARE, "image/png")
    page.wait_for_selector("#formula msup")
    assert canonical(latex(page)) == example("square")[1]
    return str(page.text_content("#facts"))


def test_a_picture_after_ink_keeps_its_reading(line: Line) -> None:
    page = line.page
    write(line, STROKES[0])
    line.let_go()
    assert latex(page)
    facts = picture(page)
    line.wait(2)  # the one to the strokes that went
    before = shown(page)
    line.let_go(1)
    assert shown(page) == before
    assert page.text_content("#facts") == facts
    assert page.is_enabled("#copy")
    page.click("#copy")
    assert canonical(page.evaluate("navigator.clipboard.readText()")) == example("square")[1]


def test_undo_and_redo_between_a_picture_and_ink(line: Line) -> None:
    page = line.page
    picture(page)
    of_picture = shown(page)
    write(line, STROKES[0])
    line.let_go()
    stroke = latex(page)
    assert stroke != of_picture[0]
    for _ in range(2):
        page.click("#undo")
        line.wait(2)
        line.let_go(1)
        assert shown(page) == of_picture
        line.answers.clear()
        page.click("#redo")
        line.wait(1)
        line.let_go()
        assert latex(page, stroke) == stroke
    page.click("#undo")
    page.click("#undo")  # and back to the blank page, whose reading is wanted
    line.wait(3)
    line.let_go()
    assert latex(page, "") == ""


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_answers_to_what_is_gone_leave_a_picture_alone(line: Line, order: tuple[int, ...]) -> None:
    page = line.page
    write(line, *STROKES)
    picture(page)
    line.wait(3)
    before = shown(page)
    line.let_go(*order)
    assert shown(page) == before
    page.click("#undo")
    line.wait(4)
    line.let_go(*(place + 1 for place in order), 0)
    assert latex(page) == json.loads(line.answers[3])["latex"]


def test_a_picture_gives_way_to_what_is_done_while_it_is_read(page: Any) -> None:
    for change in (lambda: Mouse(page).write(STROKES[0]), lambda: page.click("#undo")):
        upload = Upload(page)
        change()
        before = latex(page)
        upload.let_go()
        assert latex(page) == before
        assert page.locator("#formula msup").count() == 0
    assert page.is_visible("#hint")


def test_what_was_wrong_with_a_picture_that_gave_way_is_not_told(page: Any) -> None:
    upload = Upload(page, b"buy milk")
    Mouse(page).write(STROKES[0])
    latex(page)
    upload.let_go()
    assert page.is_hidden("#message")


def test_a_picture_waits_while_the_pen_is_down(page: Any) -> None:
    upload = Upload(page)
    (x, y), end = STROKES[1]
    page.mouse.move(x, y)
    page.mouse.down()
    upload.let_go()
    page.mouse.move(*end)
    page.mouse.up()
    assert latex(page) == "-"
    page.click("#undo")
    assert latex(page, "") == ""
    assert page.is_disabled("#undo")  # the picture has never been there


def test_a_refused_change_is_told_and_takes_nothing_away(line: Line) -> None:
    page = line.page
    facts = picture(page)
    line.say({"revision": 0, "error": {"type": "InkError", "message": "more than 1000 strokes"}})
    page.wait_for_selector("#message:not([hidden])")
    assert "more than 1000" in page.text_content("#message")
    assert page.text_content("#facts") == facts
    assert canonical(latex(page)) == example("square")[1]


def test_another_reading_stays_when_the_connection_comes_back(line: Line) -> None:
    page = line.page
    line.open = True
    draw(page, example("root")[0])
    page.wait_for_selector("#others:not([hidden]) button:nth-child(2)")
    latex(page)
    page.click("#others button:nth-child(2)")
    chosen = shown(page)
    line.open = False
    line.answers.clear()
    line.close(1001)
    page.wait_for_selector("#state[data-state=away]")
    line.wait(1)
    line.let_go()
    assert shown(page) == chosen
    page.wait_for_selector("#state[data-state=ready]")


def test_an_idle_page_comes_back_with_the_next_stroke(line: Line) -> None:
    page = line.page
    line.open = True
    Mouse(page).write(STROKES[0])
    page.wait_for_selector("#formula math")
    one = latex(page)
    line.close(4408)
    page.wait_for_selector("#state[data-state=idle]")
    page.evaluate("new Promise(done => setTimeout(done, 1000))")
    assert page.get_attribute("#state", "data-state") == "idle"
    Mouse(page).write(STROKES[1])
    page.wait_for_function("x => document.getElementById('latex').textContent !== x", arg=one)
    latex(page)
    assert page.evaluate("document.querySelectorAll('#formula [data-token]').length") == 2
