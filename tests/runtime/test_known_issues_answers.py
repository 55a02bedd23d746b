"""What answers and accuracies are worth: T13 and T14 of `test_users_troubles.py`."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from namer_edge.data.labels import Label, read_labels
from namer_edge.evaluation.calibration import Confidence
from namer_edge.evaluation.pairing import Answer, reading
from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.ink.inkml import read_inkml
from namer_edge_runtime.recognizer import Recognizer

from .drawing import Gray

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.inkml"))


def cat() -> Gray:
    page = np.full((300, 300), 255, np.uint8)
    cv2.ellipse(page, (150, 170), (90, 75), 0, 0, 360, 0, 4)
    for side in (-1, 1):
        ear = [(150 + side * 80, 135), (150 + side * 85, 40), (150 + side * 30, 100)]
        cv2.polylines(page, [np.array(ear, np.int32)], False, 0, 4)
        cv2.circle(page, (150 + side * 35, 155), 10, 0, -1)
        for rise in (-10, 0, 10):
            ends = (150 + side * 30, 190 + rise // 2), (150 + side * 120, 185 + 2 * rise)
            cv2.line(page, *ends, 0, 3)
    cv2.polylines(page, [np.array([(140, 185), (160, 185), (150, 197)], np.int32)], True, 0, 3)
    return page


def stars() -> Gray:
    """A sign that is in no vocabulary, three times."""
    page = np.full((200, 500), 255, np.uint8)
    angle = np.pi / 2 + np.arange(6) * 4 * np.pi / 5
    for x in (80, 240, 400):
        star = np.stack([x + 60 * np.cos(angle), 100 - 60 * np.sin(angle)], 1)
        cv2.polylines(page, [star.astype(np.int32)], False, 0, 4)
    return page


def in_two_lines(first: Gray, second: Gray) -> Gray:
    width = max(first.shape[1], second.shape[1])
    return np.vstack(
        [
            np.pad(page, ((20, 20), (0, width - page.shape[1])), constant_values=255)
            for page in (first, second)
        ]
    )


def test_t13_scores_tell_right_readings_from_what_is_no_single_formula() -> None:
    recognizer = Recognizer.from_pretrained(threads=1)
    pages = [cv2.imread(str(path.with_suffix(".png")), cv2.IMREAD_GRAYSCALE) for path in EXAMPLES]
    labels = [" ".join(normalize(read_inkml(path).truth or "")) for path in EXAMPLES]
    scores, right = [], []
    for page, label in zip(pages, labels, strict=True):
        result = recognizer(page)
        scores.append(result.score)
        right.append(result.canonical == label)
    strange = [cat(), stars(), *map(in_two_lines, pages[::2], pages[1::2])]
    others = [recognizer(page).score for page in strange]
    found = Confidence.of([*scores, *others], [*right, *[False] * len(others)])
    print(found.text())
    assert max(others[:2]) < 0.5 < np.median(scores)
    assert found.auroc is not None
    assert found.auroc > 0.75


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x^2", "x ^ { 2 }"),
        ("\\sum\\limits_{i}^n i", "\\sum \\limits _ { i } ^ { n } i"),
        ("\\left( a \\right)", "( a )"),
        ("a \\lt b", "a < b"),
        ("x_1^2", "x^2_1"),
        ("\\frac12", "\\frac { 1 } { 2 }"),
    ],
)
def test_t14_equal_as_formulas_and_different_as_strings(one: str, other: str) -> None:
    assert normalize(one) == normalize(other)
    label, answer = Label("a", one), Answer("a.png", other)
    assert reading(label, answer, loose=True).errors == 0
    strict = reading(label, answer, loose=False)
    assert strict.label != strict.read


def test_t14_labels_of_ink_files_and_of_caption_files_both_load(tmp_path: Path) -> None:
    square = next(path for path in EXAMPLES if path.stem == "square")
    truth = " ".join(normalize(read_inkml(square).truth or ""))
    (tmp_path / "caption.txt").write_text(f"square\t{truth}\n", "utf-8")
    (label,) = read_labels(tmp_path / "caption.txt")
    assert (label.name, label.latex) == ("square", truth)
    assert "^ { 2 }" in truth
